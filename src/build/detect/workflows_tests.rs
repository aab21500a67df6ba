use crate::build::detect::tests::{of, short};

fn proposals(workflow: &str, more: &[(&str, &str)]) -> Vec<String> {
    let files = [
        ("pyproject.toml", "[project]\nname = 'pantry'\n"),
        (".github/workflows/tests.yml", workflow),
    ];
    let detected = of(&[&files[..], more].concat(), "2024-06-01T00:00:00Z");
    let all = short(&detected);
    let of_two = ["-3.12-job-", "-3.11-job-"];
    let lines = all
        .lines()
        .filter(|line| of_two.iter().any(|name| line.contains(name)));
    lines.map(str::to_owned).collect()
}

#[test]
fn an_entry_is_added_to_the_forms_that_it_fits() {
    let workflow = "jobs:\n  test:\n    runs-on: ubuntu-latest\n    strategy:\n      matrix:\n        \
                    python-version: ['3.11', '3.12']\n        include:\n          - python-version: '3.12'\n            \
                    requirements: extra.txt\n          - requirements: plain.txt\n            python-version: '3.11'\n    \
                    steps:\n      - run: pip install -r ${{ matrix.requirements }} .\n      - run: pytest\n";
    let files = [("extra.txt", "six\n"), ("plain.txt", "mock\n")];
    assert_eq!(
        proposals(workflow, &files),
        [
            "detected-3.12-job-test: -r extra.txt | pytest | -e .",
            "detected-3.11-job-test: -r plain.txt | pytest | -e ."
        ]
    );
}

#[test]
fn what_is_excluded_is_no_form() {
    let workflow = "jobs:\n  test:\n    runs-on: ${{ matrix.os }}\n    strategy:\n      matrix:\n        \
                    os: [ubuntu-latest, windows-latest]\n        python-version: ['3.12']\n        \
                    deps: [min, all]\n        exclude:\n          - {os: ubuntu-latest, deps: min}\n    steps:\n      \
                    - run: pip install -e .[${{ matrix.deps }}]\n      - run: python -m pytest\n";
    assert_eq!(
        proposals(workflow, &[])[0],
        "detected-3.12-job-test: pytest | -e .[all]"
    );
    assert_eq!(proposals(workflow, &[]).len(), 2, "one for each interpreter");
}

#[test]
fn what_a_step_sees_is_what_the_workflow_the_job_and_the_step_set() {
    let workflow = "env:\n  EXTRAS: a\n  LEVEL: low\njobs:\n  test:\n    runs-on: ubuntu-latest\n    env:\n      EXTRAS: test\n    \
                    steps:\n      - env:\n          MORE: six\n        run: |\n          FLAGS='--no-cov'\n          \
                    pip install \".[$EXTRAS]\" ${MORE}\n      - run: pip install $MORE\n      - run: pytest $FLAGS\n";
    let found = proposals(workflow, &[]);
    assert_eq!(
        found[0],
        "detected-3.12-job-test: six | pytest | -e .[test] EXTRAS=test LEVEL=low MORE=six"
    );
}
