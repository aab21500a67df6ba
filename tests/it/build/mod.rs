//! Environments, end to end: resolved as of a day from an index of the tests' own, installed, and used in both rooms.

mod after;
mod holes;
mod index;
mod pantry;
mod search;
mod site;

use std::path::Path;

use quarry::build::{BuildError, BuildOutcome, BuildRequest, BuildSettings, Builder};
use quarry::domain::attempt::AttemptOutcome;
use quarry::domain::environment::Constraint;
use quarry::domain::ids::CommitSha;
use quarry::recipe::model::EnvironmentRecipe;
use quarry::sandbox::{Mount, RoomKind, TESTBED};

use self::site::{Site, variables};

const BACKEND: &str = include_str!("backend.py");
const PYPROJECT: &str =
    "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['tools']\n";
const BOTH: [RoomKind; 2] = [RoomKind::Process, RoomKind::None];

fn request(number: u32, date: &str, tree: &Path, install: &[&str]) -> BuildRequest {
    BuildRequest {
        candidate: format!("quarry-bench/pantry#{number}").parse().unwrap(),
        base_commit: CommitSha::from_bytes([u8::try_from(number).unwrap(); 20]),
        base_date: date.parse().unwrap(),
        release: None,
        tree: tree.to_owned(),
        recipe: recipe(install),
        after: None,
        infra_tries: 1,
    }
}

fn recipe(install: &[&str]) -> EnvironmentRecipe {
    EnvironmentRecipe {
        name: "pantry".to_owned(),
        python: ">=3.8".to_owned(),
        install: install.iter().map(|line| (*line).to_owned()).collect(),
        ..EnvironmentRecipe::default()
    }
}

#[tokio::test]
async fn an_environment_is_of_its_day_and_works_in_either_room() {
    for kind in BOTH {
        let site = Site::new(kind);
        site.stock();
        let tree = site.project("tree", "leaves=src/built/left.txt\n");
        let wanted = request(
            1,
            "2020-06-01T12:00:00Z",
            &tree,
            &["-e .", "-r requirements/tests.txt"],
        );
        let built = site.built(&wanted).await;
        let lock = site.lock_of(&built);
        let names: Vec<&str> = lock.lines().filter(|line| !line.starts_with(' ')).collect();
        assert_eq!(names, ["alpha==1.0 \\", "beta==1.0 \\"], "{lock}");
        let place = site.folder.path().display().to_string();
        for private in [site.index.host(), "http", place.as_str(), "2020", "#"] {
            assert!(!lock.contains(private), "`{private}` is in the lock:\n{lock}");
        }
        let products: Vec<_> = built.products.iter().map(ToString::to_string).collect();
        assert_eq!(products, ["src/built/left.txt"]);
        assert!(!tree.join("src/built").exists(), "the exported tree is only read");

        let copy = site.project("copy", "leaves=src/built/left.txt\n");
        built.lay_products(&copy).unwrap();
        let script = "set -e
            pantry; alpha; cat src/built/left.txt
            \"$PYTHON\" -c 'import subprocess, sys, alpha, pantry
subprocess.run([sys.executable, \"-m\", \"timeit\", \"-n1\", \"-r1\", \"import pantry\"], check=True, stdout=subprocess.DEVNULL)
from importlib import metadata
found = [point for dist in metadata.distributions() for point in dist.entry_points if point.group == \"demo.plugins\"]
print([point.name for point in found], metadata.version(\"pantry\"))
print(open(sys.prefix + \"/share/beta/hello.txt\").read())
print(pantry.__file__)
'";
        let result = site.run(&built, &copy, script).await;
        let said = result.stdout.text();
        assert!(result.end.is_success(), "{kind:?}: {said}");
        let tree_inside = site.room.path(&[Mount::writable(&copy, TESTBED)], TESTBED);
        let expected = format!(
            "pantry with alpha 1.0\nalpha itself 1.0\nleft by the build\n['first'] 1.5\nhello from beta\n{}\n",
            tree_inside.join("src/pantry.py").display()
        );
        assert_eq!(said, expected, "{kind:?}");
    }
}

#[tokio::test]
async fn candidates_share_what_is_equal_and_a_second_call_costs_nothing() {
    let site = Site::new(RoomKind::Process);
    site.stock();
    let tree = site.project("tree", "");
    let first = site
        .built(&request(1, "2020-06-01T12:00:00Z", &tree, &["-e ."]))
        .await;
    let other = site.project("other", "leaves=x\n");
    let second = site
        .built(&request(2, "2020-07-01T00:00:00Z", &other, &["."]))
        .await;
    assert_eq!(first.environment.key, second.environment.key);
    assert_eq!(first.environment.lock, second.environment.lock);
    assert_ne!(first.environment.exclude_newer, second.environment.exclude_newer);
    let later = site
        .built(&request(3, "2021-06-01T00:00:00Z", &tree, &["-e ."]))
        .await;
    assert_ne!(first.environment.key, later.environment.key);
    assert!(site.lock_of(&later).starts_with("alpha==2.0"));

    let asked = site.index.asked();
    let again = site
        .built(&request(1, "2020-06-01T12:00:00Z", &tree, &["-e ."]))
        .await;
    assert_eq!(again.environment, first.environment);
    assert!(again.log.is_none());
    assert_eq!(site.index.asked(), asked);
    assert_eq!(site.attempts(1), [AttemptOutcome::Done]);

    // Layers that are gone come back from the lock: what an index has by now does not matter.
    std::fs::remove_dir_all(site.context.workspace.envs()).unwrap();
    site.index.wheel(
        &site.python,
        "alpha",
        "1.5",
        "2020-02-01T00:00:00Z",
        &[("alpha.py", "version = '1.5'\n")],
    );
    let rebuilt = site
        .built(&request(1, "2020-06-01T12:00:00Z", &tree, &["-e ."]))
        .await;
    assert_eq!(rebuilt.environment, first.environment);
    let result = site.run(&rebuilt, &tree, "pantry").await;
    assert_eq!(result.stdout.text(), "pantry with alpha 1.0\n");
}

#[tokio::test]
async fn of_many_at_once_one_builds_what_all_need() {
    let site = Site::new(RoomKind::Process);
    site.stock();
    let tree = site.project("tree", "");
    let wanted = |number| request(number, "2020-06-01T12:00:00Z", &tree, &["-e ."]);
    let requests = [wanted(1), wanted(2), wanted(3)];
    let [first, second, third] = &requests;
    let built = tokio::join!(site.built(first), site.built(second), site.built(third));
    assert_eq!(built.0.environment, built.1.environment);
    assert_eq!(built.0.environment, built.2.environment);
    let layers = |kind: &str| {
        std::fs::read_dir(site.context.workspace.envs().join(kind))
            .unwrap()
            .count()
    };
    assert_eq!((layers("dists"), layers("deps"), layers("projects")), (2, 1, 3));
    assert_eq!(site.index.fetched("alpha-1.0-py3-none-any.whl"), 1);
}

#[tokio::test]
async fn a_stop_leaves_no_attempt() {
    let site = Site::new(RoomKind::Process);
    site.stock();
    site.context.cancel.cancel();
    let tree = site.project("tree", "");
    let wanted = request(1, "2020-06-01T12:00:00Z", &tree, &["-e ."]);
    assert!(matches!(
        site.builder.build_for(&wanted).await.unwrap(),
        BuildOutcome::Cancelled
    ));
    assert_eq!(site.attempts(1), []);
}

#[tokio::test]
async fn constraints_bind_and_sources_are_built_in_the_room() {
    let site = Site::new(RoomKind::Process);
    site.stock();
    // The module says where it was built, and what it saw there.
    let tool = format!(
        "{BACKEND}\nimport os\nopen('module.py', 'w').write('seen = %r' % [os.getcwd(), os.environ.get('HOME')])\n"
    );
    let source = [
        ("pyproject.toml", PYPROJECT),
        ("tools/backend.py", tool.as_str()),
        ("package.txt", "name=gamma\nversion=1.0\n"),
        ("PKG-INFO", "Metadata-Version: 2.1\nName: gamma\nVersion: 1.0\n"),
        ("module.py", ""),
    ];
    site.index
        .source(&site.python, "gamma", "1.0", "2020-03-04T05:06:07Z", &source);
    let tree = site.project("tree", "");
    let mut wanted = request(1, "2021-06-20T00:00:00Z", &tree, &["-e .", "gamma"]);
    let reason = "the tests are about it".to_owned();
    wanted.recipe.constraints = vec![Constraint {
        requirement: "alpha<2".to_owned(),
        reason,
    }];
    let first = site.built(&wanted).await;
    assert!(site.lock_of(&first).starts_with("alpha==1.0"));
    assert_eq!(first.environment.constraints, wanted.recipe.constraints);
    let result = site
        .run(&first, &tree, "\"$PYTHON\" -c 'import gamma; print(gamma.seen)'")
        .await;
    let seen = result.stdout.text();
    assert!(
        seen.contains("/quarry/cache/") && seen.contains("/home/quarry"),
        "{seen}"
    );

    // Another day of the same month shares what was built; the next month does not.
    let mut same_month = request(2, "2021-06-02T00:00:00Z", &tree, &["-e .", "gamma"]);
    same_month
        .recipe
        .constraints
        .clone_from(&wanted.recipe.constraints);
    let same_month = site.built(&same_month).await;
    assert_eq!(same_month.environment.key, first.environment.key);
    let mut next_month = request(3, "2021-07-02T00:00:00Z", &tree, &["-e .", "gamma"]);
    next_month
        .recipe
        .constraints
        .clone_from(&wanted.recipe.constraints);
    let next_month = site.built(&next_month).await;
    assert_ne!(next_month.environment.key, first.environment.key);
    assert_eq!(next_month.environment.lock, first.environment.lock);
}

#[tokio::test]
async fn the_projects_faults_are_final() {
    let site = Site::new(RoomKind::Process);
    site.stock();
    let date = "2020-06-01T12:00:00Z";
    let dirty = site.project("dirty", "leaves=module.py\n");
    let failure = site.failure(&request(1, date, &dirty, &["-e ."])).await;
    assert_eq!(
        (failure.outcome, failure.reason.as_str()),
        (AttemptOutcome::Project, "build-dirtied-tree")
    );
    assert!(failure.detail.contains("`module.py`"), "{}", failure.detail);

    let tree = site.project("tree", "");
    let cases: [(&[&str], &str); 4] = [
        (&["-e .", "alpha>=2"], "resolve-failed"),
        (&["-e .", "delta"], "resolve-failed"),
        (&["-r requirements/none.txt"], "requirements-missing"),
        (
            &["delta @ https://example.org/delta.whl"],
            "unlockable-dependency",
        ),
    ];
    for (number, (install, reason)) in (2..).zip(cases) {
        let wanted = request(number, date, &tree, install);
        let failure = site.failure(&wanted).await;
        assert_eq!(
            (failure.outcome, failure.reason.as_str()),
            (AttemptOutcome::Project, reason),
            "{failure:?}"
        );
        assert!(!failure.detail.contains("example.org"), "{}", failure.detail);
        assert_eq!(
            site.failure(&wanted).await,
            failure,
            "a final answer is not asked for again"
        );
        assert_eq!(site.attempts(number), [AttemptOutcome::Project]);
    }

    let broken = site.tree(
        "broken",
        &[
            ("pyproject.toml", PYPROJECT),
            ("tools/backend.py", "raise SystemExit('no')"),
        ],
    );
    let failure = site.failure(&request(9, date, &broken, &["."])).await;
    assert_eq!(failure.reason, "metadata-failed");
    assert!(
        site.log(&failure).contains("SystemExit") || site.log(&failure).contains("no"),
        "{}",
        site.log(&failure)
    );
}

#[tokio::test]
async fn an_index_that_fails_is_the_outsides_fault_and_is_tried_again() {
    let site = Site::new(RoomKind::Process);
    site.stock();
    site.index.go_down();
    let tree = site.project("tree", "");
    let mut wanted = request(1, "2020-06-01T12:00:00Z", &tree, &["-e ."]);
    wanted.infra_tries = 2;
    let failure = site.failure(&wanted).await;
    assert_eq!(
        (failure.outcome, failure.reason.as_str()),
        (AttemptOutcome::Infra, "index-unreachable")
    );
    assert!(!failure.detail.contains(site.index.host()), "{}", failure.detail);
    assert!(!site.log(&failure).contains(site.index.host()));
    assert_eq!(site.attempts(1), [AttemptOutcome::Infra, AttemptOutcome::Infra]);
}

#[tokio::test]
async fn the_callers_errors_say_what_to_do() {
    let site = Site::new(RoomKind::Process);
    let tree = site.project("tree", "");
    let mut wanted = request(1, "2020-06-01T12:00:00Z", &tree, &["-e ."]);
    wanted.recipe.python = "3.99".to_owned();
    let error = site.builder.build_for(&wanted).await.unwrap_err();
    assert!(
        matches!(&error, BuildError::NoInterpreter { .. }) && error.hints()[0].contains("3.99"),
        "{error}"
    );
    wanted.recipe.python = "three".to_owned();
    assert!(matches!(
        site.builder.build_for(&wanted).await,
        Err(BuildError::BadPython { .. })
    ));
    let wanted = request(1, "2020-06-01T12:00:00Z", &tree, &["--target x"]);
    assert!(matches!(
        site.builder.build_for(&wanted).await,
        Err(BuildError::Install { .. })
    ));
    assert_eq!(site.attempts(1), []);

    let nowhere = BuildSettings::default();
    let error = Builder::new(site.context.clone(), site.room.clone(), nowhere).unwrap_err();
    assert!(matches!(error, BuildError::NoUv));
    let wrong = BuildSettings {
        uv: Some("/bin/true".into()),
        ..BuildSettings::default()
    };
    let error = Builder::new(site.context.clone(), site.room.clone(), wrong).unwrap_err();
    assert!(matches!(error, BuildError::BrokenUv { .. }), "{error}");
}

/// The one test that needs the real index: build tools of a day when setuptools knew no editable installs.
#[tokio::test]
async fn a_setup_py_of_old_is_developed_with_tools_of_its_day() {
    let site = Site::with(
        RoomKind::Process,
        |_| quarry::build::index::build_env(variables()),
    );
    let tree = site.tree(
        "old",
        &[
            (
                "setup.py",
                "import setuptools\nprint('SETUPTOOLS', setuptools.__version__)\nsetuptools.setup(name='old', \
                 use_scm_version=True, setup_requires=['setuptools_scm'], py_modules=['old'], \
                 install_requires=['iniconfig'], entry_points={'console_scripts': ['old-one = old:main']})\n",
            ),
            ("old.py", "import iniconfig\n\ndef main():\n    print('old main')\n"),
        ],
    );
    let mut wanted = request(1, "2021-05-01T00:00:00Z", &tree, &["-e ."]);
    wanted.release = Some("v2.3.0".to_owned());
    // Tools of 2021 do not run on the newest interpreters.
    wanted.recipe.python = ">=3.7,<3.12".to_owned();
    let built = site.built(&wanted).await;
    assert!(site.lock_of(&built).starts_with("iniconfig==1.1.1 "));
    let log = String::from_utf8(site.context.blobs.get(built.log.as_ref().unwrap()).unwrap()).unwrap();
    assert!(log.contains("SETUPTOOLS 56."), "{log}");
    assert!(
        built
            .products
            .iter()
            .any(|path| path.to_string() == "old.egg-info/PKG-INFO"),
        "{:?}",
        built.products
    );
    built.lay_products(&tree).unwrap();
    let script = "old-one && \"$PYTHON\" -c 'import old, importlib.metadata as m; print(m.version(\"old\"))'";
    let result = site.run(&built, &tree, script).await;
    assert_eq!(result.stdout.text(), "old main\n2.3.1.dev1\n");
}
