use proptest::prelude::*;

use super::super::tests::{of, short};
use super::*;

const SETUP: (&str, &str) = ("setup.py", "from setuptools import setup\nsetup(name='pantry')\n");
const DAY: &str = "2023-12-01T00:00:00Z";
const FULL: &str = "name: pantry-tests\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.10\n  - hdf5\n  - pytest\n  - matplotlib-base=3.5\n  - pip\n  - pip:\n    - larder>=1\n    - -r ../../more.txt\n";

#[test]
fn a_file_that_nothing_names_is_a_way_of_its_own() {
    let detected = of(
        &[
            SETUP,
            ("ci/requirements/environment.yml", FULL),
            ("more.txt", "shelf\n"),
            (
                "ci/requirements/bare-minimum.yml",
                "dependencies:\n- pytest\n- python=3.7\n",
            ),
            (
                "ci/requirements/doc.yml",
                "dependencies:\n- sphinx\n- python=3.12\n",
            ),
            ("ci/meta.yml", "dependencies: 3\n"),
        ],
        DAY,
    );
    assert_eq!(
        short(&detected).lines().next().unwrap(),
        "detected-3.10-conda-ci-requirements-environment.yml: pytest | matplotlib==3.5.* | larder>=1 | \
         -r more.txt | -e ."
    );
    assert!(!short(&detected).contains("sphinx"), "{}", short(&detected));
    let because = &detected.proposals[0].because;
    let place = |what: &str| {
        let origin = because.iter().find(|origin| origin.what == what).unwrap();
        origin.place.as_ref().unwrap().to_string()
    };
    assert_eq!(
        place("install matplotlib==3.5.*"),
        "ci/requirements/environment.yml:8"
    );
    assert_eq!(place("install larder>=1"), "ci/requirements/environment.yml:11");
    assert_eq!(place("python 3.10"), "ci/requirements/environment.yml:5");
    assert!(
        detected.notes.contains(
            &"ci/requirements/environment.yml:6: `hdf5` is left out: it is no distribution of the index"
                .to_owned()
        ),
        "{:?}",
        detected.notes
    );
    assert!(detected.proposals[0].optional.contains("matplotlib"));
}

#[test]
fn a_job_that_makes_its_environment_from_a_file_is_followed() {
    let workflow = "jobs:\n  test:\n    strategy:\n      matrix:\n        python-version: ['3.11']\n        env: ['']\n        include:\n          - env: bare-minimum\n            python-version: '3.9'\n    steps:\n      - run: |\n          if [[ \"${{ matrix.env }}\" != \"\" ]]; then\n            echo \"CONDA_ENV_FILE=ci/requirements/${{ matrix.env }}.yml\" >> $GITHUB_ENV\n          else\n            echo \"CONDA_ENV_FILE=ci/requirements/environment.yml\" >> \"$GITHUB_ENV\"\n            echo \"SHELVES=3\" >> \"$GITHUB_ENV\"\n          fi\n          echo \"made=1\" >> $GITHUB_OUTPUT\n      - uses: mamba-org/setup-micromamba@v1\n        with:\n          environment-file: ${{ env.CONDA_ENV_FILE }}\n          create-args: >-\n            python=${{ matrix.python-version }}\n            conda\n            pint\n      - run: python -m pip install --no-deps -e .\n      - run: python -m pytest\n";
    let files = [
        SETUP,
        ("ci/requirements/environment.yml", FULL),
        ("more.txt", "shelf\n"),
        (
            "ci/requirements/bare-minimum.yml",
            "dependencies:\n- numpy\n- pytest\n",
        ),
        (".github/workflows/ci.yml", workflow),
    ];
    let detected = of(&files, DAY);
    let short = short(&detected);
    let one = |python: &str| {
        let begin = format!("detected-{python}-job-test: ");
        let line = short.lines().find_map(|line| line.strip_prefix(&begin));
        line.unwrap_or_else(|| panic!("{short}")).to_owned()
    };
    assert_eq!(
        one("3.11"),
        "pytest | matplotlib==3.5.* | larder>=1 | -r more.txt | pint | -e . SHELVES=3"
    );
    assert!(
        !detected.notes.iter().any(|note| note.contains("echo")),
        "{:?}",
        detected.notes
    );
    assert_eq!(one("3.9"), "numpy | pytest | pint | -e .");
}

#[test]
fn commands_of_conda_are_followed() {
    let workflow = |run: &str| {
        format!(
            "jobs:\n  test:\n    steps:\n      - run: |\n          {run}\n          conda run -n x pytest\n"
        )
    };
    let line = |run: &str| {
        let workflow = workflow(run);
        let files = [
            SETUP,
            ("environment.yml", "dependencies:\n- plain\n- pytest\n"),
            ("ci/py311.yml", "dependencies:\n- [odd]\n- other\n- pytest\n"),
            (".github/workflows/ci.yml", workflow.as_str()),
        ];
        short(&of(&files, DAY)).lines().next().unwrap().to_owned()
    };
    assert_eq!(
        line("conda env create -n x --file ci/py311.yml"),
        "detected-3.12-job-test: other | pytest | -e ."
    );
    assert_eq!(
        line("micromamba create -yf $FILE"),
        "detected-3.12-job-test: plain | pytest | -e ."
    );
    assert_eq!(
        line("conda env update -f ${{ parameters.file }}"),
        "detected-3.12-job-test: plain | pytest | -e ."
    );
    assert_eq!(
        line("source activate pantry-tests"),
        "detected-3.12-job-test: plain | pytest | -e .",
        "it was made somewhere else"
    );
    assert_eq!(
        line("conda create -n x larder pytest\n          conda activate x"),
        "detected-3.12-job-test: larder | pytest | -e ."
    );
    assert_eq!(
        line("mamba env update"),
        "detected-3.12-job-test: plain | pytest | -e ."
    );
    assert_eq!(
        line("conda install -y -c conda-forge python=3.11 pytorch=2.1 compilers pytest"),
        "detected-3.12-job-test: torch==2.1.* | pytest | -e ."
    );
}

#[test]
fn the_fullest_file_for_an_interpreter_is_the_best() {
    let file = File::read("x.yml", &read_yaml(FULL).unwrap()).unwrap();
    let best = |paths: &[&str], python: Minor| {
        let conda = Conda {
            files: paths
                .iter()
                .map(|path| ((*path).to_owned(), file.clone()))
                .collect(),
            named: BTreeSet::new(),
        };
        conda.find("", python).unwrap().name
    };
    let older = [
        "ci/requirements/py36-bare-minimum.yml",
        "ci/requirements/py37.yml",
        "ci/requirements/py38-all-but-dask.yml",
        "ci/requirements/py38.yml",
        "doc/environment.yml",
    ];
    assert_eq!(best(&older, 8), "ci/requirements/py38.yml");
    assert_eq!(best(&older, 7), "ci/requirements/py37.yml");
    let newer = [
        ".binder/environment.yml",
        "ci/requirements/environment-windows.yml",
        "ci/requirements/environment.yml",
        "ci/requirements/min-all-deps.yml",
    ];
    assert_eq!(best(&newer, 8), "ci/requirements/environment.yml");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(dependencies:\n|- |  - |pip:\n|python=|a|=|>|::|-r |-e |\\.\\./|\\[|\\]|\"|é|1|\n){0,24}") {
        let paths = BTreeSet::from([crate::domain::path::RepoPath::from("ci/environment.yml")]);
        let bytes = |_: &str| Some(text.as_bytes().to_vec());
        let conda = Conda::read(&Tree { paths: &paths, read: &bytes }, &|_| false);
        for plan in conda.find("", 8).into_iter().chain(conda.plans(&Package::default(), 8)) {
            for step in plan.steps {
                if let Act::Install(line) = step.act {
                    prop_assert!(!line.contains('\n'), "{line}");
                }
            }
        }
        let words = super::super::shell::words(&text);
        let _ = acts(&words.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
