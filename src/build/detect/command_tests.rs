use proptest::prelude::*;

use super::*;
use crate::build::detect::plan::Wanted;
use crate::build::detect::shell;

fn of(line: &str) -> Vec<Act> {
    shell::commands(line)
        .iter()
        .flat_map(|command| acts(&command.words))
        .collect()
}

fn installs(line: &str) -> Vec<String> {
    of(line)
        .into_iter()
        .filter_map(|act| match act {
            Act::Install(line) => Some(line),
            _ => None,
        })
        .collect()
}

fn project(line: &str) -> Wanted {
    match of(line).as_slice() {
        [Act::Project(wanted)] => wanted.clone(),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn pip_lines_become_install_lines() {
    let cases: [(&str, &[&str]); 9] = [
        ("pip install -U pip setuptools", &["setuptools"]),
        (
            "sudo python3.11 -m pip install -r requirements/tests.txt -c=c.txt",
            &["-r requirements/tests.txt", "-c c.txt"],
        ),
        (
            "pip install --constraint c.txt -e '.[test, socks]' \"pytest<7\"",
            &["-c c.txt", "-e .[socks,test]", "pytest<7"],
        ),
        (
            "uv pip install --system .[dev] --group tests",
            &["-e .[dev]", "--group tests"],
        ),
        ("pip install dist/*.whl codecov tox", &[]),
        (
            "pip install git+https://example.org/x#egg=x",
            &["git+https://example.org/x#egg=x"],
        ),
        ("pip install $EXTRA ./plugins/a", &["-e ./plugins/a"]),
        (
            "pip install -i https://example.org/simple --pre numpy",
            &["numpy"],
        ),
        ("python setup.py develop", &["-e ."]),
    ];
    for (line, lines) in cases {
        assert_eq!(installs(line), lines, "{line}");
    }
}

#[test]
fn managers_say_which_sets() {
    assert_eq!(project("pdm install -v -dGtest").sets, ["test"]);
    assert_eq!(project("pdm sync -G :all").sets, Vec::<String>::new());
    assert!(project("pdm sync -G :all").all_groups);
    assert_eq!(
        project("uv sync --group tests --extra=socks --no-default-groups").sets,
        ["tests", "socks"]
    );
    assert!(!project("uv sync --no-dev").defaults);
    assert_eq!(
        project("poetry install --with test,docs -E x --extras 'a b'").sets,
        ["test", "docs", "x", "a", "b"]
    );
    let only = project("poetry install --only test");
    assert!(only.without_project && !only.defaults);
    assert!(project("poetry install --no-root").without_project);
    assert!(project("flit install --symlink").all_extras);
}

#[test]
fn what_runs_tests_is_told() {
    let pytest = |words: &[&str]| {
        Act::Run(
            Tool::Pytest,
            words.iter().map(|word| (*word).to_owned()).collect(),
        )
    };
    let other = |name: &str| vec![Act::Run(Tool::Other(name.to_owned()), vec![])];
    assert_eq!(
        of("coverage run --source x -m pytest -x tests"),
        [pytest(&["-x", "tests"])]
    );
    assert_eq!(of("python -bb -W error -m pytest"), [pytest(&[])]);
    assert_eq!(of("python -m coverage run -p -m pytest"), [pytest(&[])]);
    assert_eq!(
        of("python -m unittest discover -s t"),
        [Act::Run(
            Tool::Unittest,
            vec!["discover".into(), "-s".into(), "t".into()]
        )]
    );
    let script = |name: &str, words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        vec![Act::Run(Tool::Script(name.to_owned()), words)]
    };
    assert_eq!(
        of("python -Wall tests/runtests.py -v2"),
        script("tests/runtests.py", &["-v2"])
    );
    assert_eq!(of("coverage run ./runtests.py"), script("runtests.py", &[]));
    assert_eq!(of("./manage.py test a"), script("manage.py", &["test", "a"]));
    assert_eq!(
        of("python example/manage.py test"),
        script("example/manage.py", &["test"])
    );
    let module = script("-m", &["django", "test", "--settings=t.s"]);
    assert_eq!(of("python -m django test --settings=t.s"), module);
    assert_eq!(of("coverage run -m django test --settings=t.s"), module);
    assert_eq!(of("django-admin test --settings=t.s"), module);
    assert_eq!(
        of("python -Wi {envsitepackagesdir}/coverage run -m pytest"),
        [pytest(&[])]
    );
    assert_eq!(of("bin/test"), script("bin/test", &[]));
    assert_eq!(of("A=1 nosetests")[1..], other("nosetests"));
    assert_eq!(
        of("./scripts/build.sh"),
        [Act::Go(Elsewhere::Shell("scripts/build.sh".into()))]
    );
    assert_eq!(
        of("uv run --group test pytest"),
        [Act::Go(Elsewhere::Script("pytest".into())), pytest(&[])]
    );
}

#[test]
fn commands_lead_elsewhere() {
    let tox = |names: &[&str]| {
        Act::Go(Elsewhere::Tox(
            names.iter().map(|name| (*name).to_owned()).collect(),
        ))
    };
    assert_eq!(of("tox run -e py311,lint -- -x"), [tox(&["py311", "lint"])]);
    assert_eq!(of("python -m tox -epy"), [tox(&["py"])]);
    assert_eq!(of("uvx --with tox-uv tox"), [tox(&[])]);
    assert_eq!(
        of("nox --session=tests-3.11"),
        [Act::Go(Elsewhere::Nox(vec!["tests-3.11".into()]))]
    );
    assert_eq!(of("make"), [Act::Go(Elsewhere::Make(String::new()))]);
    assert_eq!(
        of("hatch run test:cov -x"),
        [Act::Go(Elsewhere::Hatch("test".into(), "cov".into()))]
    );
    assert_eq!(of("pdm run test")[0], Act::Go(Elsewhere::Script("test".into())));
    let packages = [Act::System("libxml2-dev".into()), Act::System("git".into())];
    assert_eq!(of("sudo apt-get install -y libxml2-dev git"), packages);
}

proptest! {
    #[test]
    fn no_command_makes_the_reader_panic(words in proptest::collection::vec(
        "(pip|uv|run|sync|install|python|-m|-e|-G|-r|--group|--extra=|coverage|hatch|tox|-[a-zé]{1,3}|[a-z./é]{0,4}|env|export|A=1|poetry|--only)", 0..9)
    ) {
        let _ = acts(&words);
    }
}
