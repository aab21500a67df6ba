use std::collections::BTreeSet;

use super::symptoms::every_pattern_compiles;
use super::*;
use crate::build::lock::{Lock, Pin};
use crate::recipe::model::EnvironmentRecipe;

fn lock(pins: &[(&str, &str)]) -> Lock {
    let pin = |version: &str| Pin {
        version: version.to_owned(),
        hashes: BTreeSet::new(),
    };
    Lock {
        pins: pins
            .iter()
            .map(|(name, version)| ((*name).to_owned(), pin(version)))
            .collect(),
    }
}

fn environment() -> EnvironmentRecipe {
    EnvironmentRecipe {
        install: vec!["-e .[tests]".into(), "pytest".into()],
        ..EnvironmentRecipe::default()
    }
}

/// What is changed for a text of failure: `trouble: change`, step by step until nothing more helps.
fn course(text: &str, lock: &Lock) -> Vec<String> {
    let own = BTreeSet::from(["pantry".to_owned(), "tests".to_owned()]);
    let mut environment = environment();
    let mut course = vec![];
    for _ in 0..5 {
        let case = Case {
            environment: &environment,
            lock: Some(lock),
            own_modules: &own,
            optional: &BTreeSet::new(),
        };
        let Some(remedy) = remedy(&case, &symptoms(text)) else {
            break;
        };
        course.push(format!("{}: {}", remedy.symptom.trouble.name(), remedy.change));
        environment = remedy.environment;
    }
    course
}

#[test]
fn the_table_reads() {
    assert!(every_pattern_compiles());
}

#[test]
fn a_pair_that_does_not_fit_is_kept_below_the_version_that_broke_it() {
    let text = "ImportError while loading conftest '/testbed/tests/conftest.py'.\n\
        tests/conftest.py:9: in <module>\n    from larder import serve\n\
        /quarry/deps/larder/core.py:3: in <module>\n    from shelf.urls import url_quote\n\
        E   ImportError: cannot import name 'url_quote' from 'shelf.urls' (/quarry/deps/shelf/urls.py)";
    assert_eq!(
        course(text, &lock(&[("larder", "0.10.1"), ("shelf", "3.0.1")])),
        ["incompatible-pair: constraint shelf<3"]
    );
    assert_eq!(
        course(text, &lock(&[("shelf", "0.24.2")])),
        ["incompatible-pair: constraint shelf<0.24"]
    );
    assert_eq!(
        course(text, &lock(&[("larder", "0.10.1")])),
        [""; 0],
        "it is not installed"
    );
    let own = text.replace("shelf", "pantry");
    assert_eq!(
        course(&own, &lock(&[("larder", "0.10.1")])),
        [""; 0],
        "the tree's own"
    );
}

#[test]
fn a_missing_module_or_fixture_is_brought_by_its_distribution() {
    let none = lock(&[("pytest", "8.0.0")]);
    let module = |name: &str| {
        course(
            &format!("E   ModuleNotFoundError: No module named '{name}'"),
            &none,
        )
    };
    assert_eq!(module("yaml"), ["missing-module: require pyyaml"]);
    assert_eq!(
        module("ruamel.yaml.main"),
        ["missing-module: require ruamel-yaml"]
    );
    assert_eq!(module("left_pad.core"), ["missing-module: require left-pad"]);
    assert_eq!(module("distutils.core"), ["missing-module: require setuptools"]);
    assert_eq!(module("pantry.fast"), [""; 0], "the tree's own");
    assert_eq!(module("tomllib"), [""; 0], "Python's own: another interpreter");
    assert_eq!(
        course("E  fixture 'mocker' not found\n", &none),
        ["missing-fixture: require pytest-mock"]
    );
    assert_eq!(course("fixture 'my_own' not found", &none), [""; 0]);
    assert_eq!(
        course(
            "No module named 'pkg_resources'",
            &lock(&[("setuptools", "82.0.0")])
        ),
        ["missing-module: constraint setuptools<82"]
    );
}

#[test]
fn a_requirement_newer_than_the_cut_off_may_be_that_new_and_no_newer() {
    let text = "error: No solution found when resolving dependencies\n\
        hint: `pytest-httpbin` was filtered by `exclude-newer` to only include packages uploaded before \
        2021-06-01T10:00:00Z. The requested version, v2.0.0, was published at 2023-05-08T20:12:03.997Z. Consider using \
        `exclude-newer-package` to override the cutoff for this package.\n";
    let found = symptoms(text);
    let environment = environment();
    let case = Case {
        environment: &environment,
        lock: None,
        own_modules: &BTreeSet::new(),
        optional: &BTreeSet::new(),
    };
    let remedy = remedy(&case, &found).unwrap();
    assert_eq!(remedy.environment.newer[0].until, "2023-05-08T21:12:03.997Z");
    assert_eq!(remedy.environment.newer[0].distribution, "pytest-httpbin");
}

#[test]
fn of_several_newer_versions_the_first_is_let_in() {
    let text = |cause: &str, hint: &str| {
        format!("error: No solution found when resolving dependencies\n  cause: {cause}\n\n{hint}\n")
    };
    let hint = |which: &str, published: &str| {
        format!(
            "hint: `larder` was filtered by `exclude-newer` to only include packages uploaded before \
             2021-06-01T00:00:00Z. The {which}, published at {published}. Consider using `exclude-newer-package` to \
             override the cutoff for this package."
        )
    };
    let latest = text(
        "Because only larder<=1.0 is available and you require larder>=2.28.3, we can conclude that you require larder>=9.",
        &hint(
            "latest version satisfying the requirement is v9.1.0",
            "2024-09-18T15:35:56Z",
        ),
    );
    let exact = text(
        "Because there is no version of larder==2.28.3 and you require larder>=2.28.3, we can conclude that …",
        &hint("requested version, v2.28.3, was", "2023-05-08T20:12:03Z"),
    );
    let none = text(
        "Because there is no version of larder==2.28.3 and you require larder>=2.28.3, …",
        "",
    );
    let below = text(
        "Because only larder<=1.0 is available and you require larder>=2.28.3, …",
        &hint(
            "latest version satisfying the requirement is v2.29.0",
            "2023-08-01T00:00:00Z",
        ),
    );
    let steps = |texts: &[&str]| {
        let mut environment = environment();
        let mut course = vec![];
        for text in texts {
            let case = Case {
                environment: &environment,
                lock: None,
                own_modules: &BTreeSet::new(),
                optional: &BTreeSet::new(),
            };
            let remedy = remedy(&case, &symptoms(text)).unwrap();
            course.push(remedy.change);
            environment = remedy.environment;
        }
        assert!(
            environment.constraints.is_empty(),
            "{:?}",
            environment.constraints
        );
        course
    };
    assert_eq!(
        steps(&[&latest, &exact]),
        [
            "constraint larder<=2.28.3",
            "larder as new as 2023-05-08T21:12:03Z"
        ]
    );
    assert_eq!(
        steps(&[&latest, &none, &none, &below]),
        [
            "constraint larder<=2.28.3",
            "constraint larder<2.29",
            "constraint larder<2.30",
            "larder as new as 2023-08-01T01:00:00Z"
        ]
    );
    assert_eq!(
        steps(&[&latest, &none, &none, &none, &none]).last().unwrap(),
        "larder as new as 2024-09-18T16:35:56Z",
        "where none is near, the latest is all that is known"
    );
    let unbounded = latest
        .replace("larder>=2.28.3", "larder>2.28.3")
        .replace("require larder>=9.", "…");
    assert_eq!(steps(&[&unbounded]), ["larder as new as 2024-09-18T16:35:56Z"]);
}

#[test]
fn a_part_that_is_not_there_goes() {
    let text = "error: The dependency group `tests` was not found in the project: `pyproject.toml`";
    assert_eq!(course(text, &lock(&[])), ["no-such-part: without `-e .[tests]`"]);
}

#[test]
fn what_another_interpreter_or_machine_would_solve_has_no_remedy_here() {
    let cases = [
        (
            "  × Failed to build `lxml==4.2.0`\n  fatal error: libxml/xmlversion.h: No such file or directory",
            vec!["missing-system-library", "no-wheel"],
        ),
        (
            "Because the current Python version (3.12.1) does not satisfy Python>=3.8,<3.12 and …",
            vec!["wrong-interpreter"],
        ),
        (
            "         Traceback (most recent call last):\n         ModuleNotFoundError: No module named 'numpy'\n",
            vec!["missing-build-dependency"],
        ),
    ];
    for (text, troubles) in cases {
        let names: Vec<_> = symptoms(text)
            .iter()
            .map(|symptom| symptom.trouble.name())
            .collect();
        assert_eq!(names, troubles, "{text}");
        assert_eq!(course(text, &lock(&[])), [""; 0], "{text}");
    }
}

#[test]
fn what_only_the_tests_ask_for_and_cannot_be_built_is_left_out_at_the_end() {
    let text = "error: Failed to build `py_cache==1.6`\n  cause: The build backend returned an error\n\n         \
                fatal error: libcache/cache.h: No such file or directory\n";
    let found = symptoms(text);
    let none = BTreeSet::new();
    let optional = BTreeSet::from(["py-cache".to_owned()]);
    let environment = environment();
    let case = |environment, optional| Case {
        environment,
        lock: None,
        own_modules: &none,
        optional,
    };
    assert_eq!(
        remedy(&case(&environment, &optional), &found),
        None,
        "no remedy of the others"
    );
    assert_eq!(
        leave_out(&case(&environment, &none), &found),
        None,
        "the project's own"
    );
    let last = leave_out(&case(&environment, &optional), &found).unwrap();
    assert_eq!(last.change, "without py-cache");
    let left = last.environment.left_out.clone();
    assert_eq!(left[0].distribution, "py-cache");
    assert!(
        left[0]
            .reason
            .ends_with("fatal error: libcache/cache.h: No such file or directory")
    );
    let changed = last.environment;
    assert_eq!(leave_out(&case(&changed, &optional), &found), None, "once");
}

#[test]
fn what_leads_to_a_thing_that_cannot_be_had_is_left_out() {
    let none = BTreeSet::new();
    let optional = BTreeSet::from(["larder-kit".to_owned(), "shelf".to_owned()]);
    let environment = environment();
    let case = Case {
        environment: &environment,
        lock: None,
        own_modules: &none,
        optional: &optional,
    };
    let left = |remedy: Option<Remedy>| {
        let left = remedy?.environment.left_out.pop()?;
        Some((left.distribution, left.reason.split(": ").next()?.to_owned()))
    };
    let build = |chain: &str| {
        format!(
            "error: Failed to build `py_cache==1.6`\n  cause: The build backend returned an error\n\n{chain}"
        )
    };
    let chained = build(
        "hint: `py-cache` (v1.6) was included because `larder_kit[x]` (v3.2) depends on `spoon>=0.2` (v0.3) which depends \
         on `py-cache>=1`\n",
    );
    let found = symptoms(&chained);
    assert_eq!(
        remedy(&case, &found),
        None,
        "another interpreter may have a wheel"
    );
    assert_eq!(
        left(leave_out(&case, &found)),
        Some((
            "larder-kit".to_owned(),
            "the tests ask for it, and `py-cache`, which it needs, cannot be built here".to_owned()
        ))
    );
    let other = build("hint: `py-cache` (v1.6) was included because `pantry` (v1) depends on `py-cache`\n");
    assert_eq!(leave_out(&case, &symptoms(&other)), None, "the project's own");
    assert_eq!(
        leave_out(&case, &symptoms(&build(""))),
        None,
        "nothing tells what leads there"
    );

    let missing = "error: No solution found when resolving dependencies\n  cause: Because sugar was not found in the package \
        registry and spoon==1 depends on sugar>=2, we can conclude that spoon==1 cannot be used.\n         And because only \
        spoon==1 is available and shelf==1 depends on spoon, we can conclude that shelf==1 cannot be used.";
    assert_eq!(
        left(remedy(&case, &symptoms(missing))),
        Some((
            "shelf".to_owned(),
            "the tests ask for it, and the index does not have `sugar`, which it needs, under this name"
                .to_owned()
        ))
    );
    let itself =
        "  cause: Because shelf was not found in the package registry and you require shelf, we can conclude";
    assert_eq!(
        left(remedy(&case, &symptoms(itself))).unwrap().0,
        "shelf",
        "at once: no interpreter brings it"
    );
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(text in "(?s)(No module named '|`a` was included because |b==1 depends on a |a was not found in the package registry|cannot import name '|fixture '|published at |\n|é|[a-z.'<> ]){0,12}") {
        for symptom in symptoms(&text) {
            proptest::prop_assert!(symptom.evidence.chars().count() <= 200);
        }
    }
}
