use proptest::prelude::*;

use super::*;
use crate::domain::runner_files::is_test_module;

fn paths(names: &[&str]) -> BTreeSet<RepoPath> {
    names.iter().map(|name| RepoPath::from(*name)).collect()
}

fn chosen(touched: &[&str], tree: &[&str]) -> Vec<String> {
    let touched: Vec<RepoPath> = touched.iter().map(|name| RepoPath::from(*name)).collect();
    select(
        &touched,
        &paths(tree),
        &Verification::default(),
        &TestModules::default(),
    )
    .map(|selection| selection.paths)
    .unwrap_or_default()
}

const PYLINT: [&str; 6] = [
    "tests/functional/u/used.py",
    "tests/functional/u/used.txt",
    "tests/test_functional.py",
    "tests/test_self.py",
    "tests/lint/test_utils.py",
    "tests/lint/data/x.py",
];

#[test]
fn touched_modules_are_what_runs() {
    assert_eq!(chosen(&["tests/test_self.py"], &PYLINT), ["tests/test_self.py"]);
    assert_eq!(
        chosen(&["tests/test_gone.py"], &["tests/test_gone.py/x"]),
        [""; 0]
    );
}

#[test]
fn data_points_at_the_modules_that_read_it() {
    assert_eq!(
        chosen(&["tests/functional/u/used.txt"], &PYLINT),
        ["tests/test_functional.py"]
    );
    let both = chosen(&["tests/functional/u/used.txt", "tests/test_self.py"], &PYLINT);
    assert_eq!(both, ["tests/test_functional.py", "tests/test_self.py"]);
    assert_eq!(
        chosen(&["tests/lint/data/x.py"], &PYLINT),
        ["tests/lint/test_utils.py"]
    );
    // A module beside the data is touched too: it is the one.
    let tree = ["tests/certs/a.pem", "tests/test_a.py", "tests/test_b.py"];
    assert_eq!(
        chosen(&["tests/certs/a.pem", "tests/test_a.py"], &tree),
        ["tests/test_a.py"]
    );
    assert_eq!(
        chosen(&["tests/certs/a.pem"], &tree),
        ["tests/test_a.py", "tests/test_b.py"]
    );
    assert_eq!(chosen(&["other/data.json"], &tree), [""; 0]);
}

#[test]
fn a_conftest_alone_points_at_all_below_it() {
    assert_eq!(
        chosen(
            &["tests/conftest.py"],
            &[&PYLINT[..], &["tests/conftest.py"]].concat()
        ),
        ["tests"]
    );
    assert_eq!(
        chosen(
            &["conftest.py"],
            &["conftest.py", "a/test_a.py", "b/c/test_b.py", "test_c.py"]
        ),
        ["a", "b", "test_c.py"]
    );
    let with_module = chosen(&["tests/conftest.py", "tests/test_self.py"], &PYLINT);
    assert_eq!(with_module, ["tests/test_self.py"]);
}

#[test]
fn arguments_are_the_recipes_then_ours_then_the_selection() {
    let touched = [RepoPath::from("tests/test_self.py")];
    let pytest = select(
        &touched,
        &paths(&PYLINT),
        &Verification::default(),
        &TestModules::default(),
    )
    .unwrap();
    let expected = [
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=",
        "--continue-on-collection-errors",
        "tests/test_self.py",
    ];
    assert_eq!(pytest.args, expected);
    let suite = Verification {
        scope: Scope::Suite,
        ..Verification::default()
    };
    assert_eq!(
        select(&[], &paths(&[]), &suite, &TestModules::default())
            .unwrap()
            .args,
        expected[..5]
    );
    let unittest = Verification {
        runner: Runner::Unittest,
        args: vec!["-v".to_owned()],
        ..Verification::default()
    };
    assert_eq!(
        select(&touched, &paths(&PYLINT), &unittest, &TestModules::default())
            .unwrap()
            .args,
        ["-v", "tests.test_self"]
    );
    let unittest = Verification {
        scope: Scope::Suite,
        ..unittest
    };
    assert_eq!(
        select(&touched, &paths(&PYLINT), &unittest, &TestModules::default())
            .unwrap()
            .args,
        ["discover", "-v"]
    );
}

#[test]
fn only_new_modules_fall_out_to_the_suite() {
    let base = paths(&["src/a.py", "tests/test_old.py"]);
    let tree = paths(&["src/a.py", "tests/test_old.py", "tests/test_new.py"]);
    let widened = |touched: &[&str], base: &BTreeSet<RepoPath>, settings: &Verification| {
        let touched: Vec<RepoPath> = touched.iter().map(|name| RepoPath::from(*name)).collect();
        let narrow = select(&touched, &tree, settings, &TestModules::default()).unwrap();
        widen(&narrow, base, &tree, settings, &TestModules::default())
    };
    let pytest = Verification::default();
    let suite = widened(&["tests/test_new.py"], &base, &pytest).unwrap();
    assert_eq!(suite.args.last().unwrap(), "--continue-on-collection-errors");
    assert_eq!(suite.also, ["tests/test_new.py"]);
    assert_eq!(suite.scope, RanScope::Widened);
    let both = ["tests/test_new.py", "tests/test_old.py"];
    assert_eq!(widened(&both, &base, &pytest), None);
    assert_eq!(widened(&["tests/test_old.py"], &base, &pytest), None);
    let untested = paths(&["src/a.py"]);
    assert_eq!(widened(&["tests/test_new.py"], &untested, &pytest), None);
    let unittest = Verification {
        runner: Runner::Unittest,
        args: vec![],
        ..pytest
    };
    let suite = widened(&["tests/test_new.py"], &base, &unittest).unwrap();
    assert_eq!(suite.args, ["tests.test_new", "tests.test_old"]);
    assert_eq!(by_id(&unittest), [""; 0]);
}

#[test]
fn names_of_test_modules() {
    for name in ["test_a.py", "x/a_test.py", "a/tests.py", "a_tests.py", "test.py"] {
        assert!(is_test_module(name), "{name}");
    }
    for name in [
        "latest.py",
        "contest.py",
        "conftest.py",
        "test_a.txt",
        "tests/util.py",
        "mytests/a.py",
    ] {
        assert!(!is_test_module(name), "{name}");
    }
}

proptest! {
    #[test]
    fn what_is_chosen_is_in_the_tree(
        tree in proptest::collection::btree_set("([ab]/){0,2}(test_[ab]\\.py|[ab]\\.txt|conftest\\.py)", 0..12),
        touched in proptest::collection::vec("([ab]/){0,2}(test_[ab]\\.py|[ab]\\.txt|conftest\\.py)", 0..4),
    ) {
        let tree: BTreeSet<RepoPath> = tree.iter().map(|name| RepoPath::from(name.as_str())).collect();
        let touched: Vec<RepoPath> = touched.iter().map(|name| RepoPath::from(name.as_str())).collect();
        if let Some(selection) = select(&touched, &tree, &Verification::default(), &TestModules::default()) {
            for path in selection.paths {
                let within = |file: &RepoPath| file.to_str().is_some_and(|file| file == path || file.starts_with(&format!("{path}/")));
                prop_assert!(tree.iter().any(within), "{}", path);
            }
        }
    }
}

#[test]
fn what_is_for_discovery_is_not_for_names() {
    let settings = Verification {
        runner: Runner::Unittest,
        args: ["-s", "tests", "--pattern=*.py", "-b"]
            .map(str::to_owned)
            .to_vec(),
        ..Verification::default()
    };
    let suite = Verification {
        scope: Scope::Suite,
        ..settings.clone()
    };
    let tree = BTreeSet::from([RepoPath::from("tests/test_a.py")]);
    let touched = [RepoPath::from("tests/test_a.py")];
    let args = |settings| {
        select(&touched, &tree, settings, &TestModules::default())
            .unwrap()
            .args
    };
    assert_eq!(args(&settings), ["-b", "tests.test_a"]);
    assert_eq!(args(&suite), ["discover", "-s", "tests", "--pattern=*.py", "-b"]);
}

#[test]
fn a_script_takes_names_from_its_own_folder() {
    let of = |args: &[&str]| Verification {
        runner: Runner::Script,
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        ..Verification::default()
    };
    let tree = paths(&["tests/basic/tests.py", "contrib/test_a.py", "tests/runtests.py"]);
    let touched = [
        RepoPath::from("tests/basic/tests.py"),
        RepoPath::from("contrib/test_a.py"),
    ];
    let args = |settings: &Verification| {
        select(&touched, &tree, settings, &TestModules::default())
            .unwrap()
            .args
    };
    assert_eq!(
        args(&of(&["tests/runtests.py", "--parallel=1"])),
        [
            "tests/runtests.py",
            "--parallel=1",
            "contrib.test_a",
            "basic.tests"
        ]
    );
    assert_eq!(
        args(&of(&["manage.py", "test"])),
        ["manage.py", "test", "contrib.test_a", "tests.basic.tests"]
    );
    assert_eq!(
        args(&of(&["-m", "django", "test"])),
        ["-m", "django", "test", "contrib.test_a", "tests.basic.tests"]
    );
    let script = of(&["tests/runtests.py"]);
    assert_eq!(by_id(&script), ["tests/runtests.py"]);
    let suite = Verification {
        scope: Scope::Suite,
        ..script.clone()
    };
    assert_eq!(args(&suite), ["tests/runtests.py"]);
    let narrow = select(&touched[..1], &tree, &script, &TestModules::default()).unwrap();
    let old = paths(&["contrib/test_a.py", "tests/runtests.py"]);
    let wide = widen(&narrow, &old, &tree, &script, &TestModules::default()).unwrap();
    assert_eq!(
        (wide.args, wide.also),
        (vec!["tests/runtests.py".to_owned()], vec![])
    );
}
