use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn spec(install: &[&str], files: &[(&str, &str)]) -> Result<Spec, SpecError> {
    let files: BTreeMap<_, _> = files.iter().copied().collect();
    let install: Vec<_> = install.iter().map(|line| (*line).to_owned()).collect();
    read_spec(&install, &[], &|path| {
        files.get(path).map(|text| text.as_bytes().to_vec())
    })
}

fn project(folder: &str, extras: &[&str]) -> Project {
    Project {
        folder: folder.into(),
        extras: extras.iter().map(|extra| (*extra).to_owned()).collect(),
    }
}

#[test]
fn lines_are_argument_lists_or_single_requirements() {
    let lines = [
        "-e .[socks]",
        "pytest<=6.2.5",
        "pytest-cov 'trustme' wheel",
        "importlib-metadata < 5; python_version < \"3.8\"",
        "httpbin ~= 0.10.0",
        "--group tests --group=docs/pyproject.toml:build",
        "--pre",
    ];
    let spec = spec(&lines, &[]).unwrap();
    assert_eq!(spec.projects, [project("", &["socks"])]);
    assert_eq!(spec.projects[0].requirement(), ".[socks]");
    assert_eq!(
        spec.requirements,
        [
            "pytest<=6.2.5",
            "pytest-cov",
            "trustme",
            "wheel",
            "importlib-metadata < 5; python_version < \"3.8\"",
            "httpbin ~= 0.10.0"
        ]
    );
    let groups: Vec<_> = spec
        .groups
        .iter()
        .map(|group| (group.file.as_str(), group.name.as_str()))
        .collect();
    assert_eq!(
        groups,
        [("pyproject.toml", "tests"), ("docs/pyproject.toml", "build")]
    );
    assert!(spec.prereleases);
}

#[test]
fn requirement_files_are_taken_in_from_the_tree() {
    let files = [
        (
            "requirements/dev.txt",
            "\u{feff}# tools\n-r tests.txt\r\n-e .[tests] # ourselves\n--index-url https://index.example.org/simple\n\
             -c pins.txt\n./plugins/a\n",
        ),
        (
            "requirements/tests.txt",
            "pytest==7.2.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n-r dev.txt\nattrs; python_version>'3'  # x\n",
        ),
        ("requirements/pins.txt", "six<2\n-e .\n"),
    ];
    let spec = spec(&["-r requirements/dev.txt", "-e .[socks]"], &files).unwrap();
    assert_eq!(spec.requirements, ["pytest==7.2.0", "attrs; python_version>'3'"]);
    assert_eq!(spec.constraints, ["six<2"]);
    assert_eq!(
        spec.projects,
        [project("", &["socks", "tests"]), project("plugins/a", &[])]
    );
    assert_eq!(spec.projects[1].requirement(), "./plugins/a");
    assert_eq!(
        spec.notes,
        ["`--index-url` of `requirements/dev.txt` is not followed"]
    );
}

#[test]
fn constraints_of_the_recipe_come_first() {
    let constraint = Constraint {
        requirement: "werkzeug<3".into(),
        reason: "httpbin imports what 3 removed".into(),
    };
    let spec = read_spec(&["flask".into()], &[constraint], &|_| None).unwrap();
    assert_eq!(spec.constraints, ["werkzeug<3"]);
}

#[test]
fn faults_say_whose_they_are() {
    let missing = spec(&["-r requirements/tests.txt"], &[]).unwrap_err();
    assert!(matches!(&missing, SpecError::MissingFile { path, .. } if path == "requirements/tests.txt"));
    assert!(!missing.is_callers());
    for wrong in [
        "--target x",
        "-r",
        "-e",
        "-e ../other",
        "-e /abs",
        "-e .[a",
        "-e .[a;b]",
        "'open",
    ] {
        assert!(spec(&[wrong], &[]).unwrap_err().is_callers(), "{wrong}");
    }
    let file = spec(&["-r a.txt"], &[("a.txt", "--weird\n")]).unwrap_err();
    assert!(matches!(&file, SpecError::FileLine { path, .. } if path == "a.txt"));
    for address in [
        "git+https://example.org/a",
        "-e git+https://example.org/a#egg=a",
        "a @ https://example.org/a.whl",
    ] {
        assert!(
            matches!(spec(&[address], &[]), Err(SpecError::Address { .. })),
            "{address}"
        );
    }
    assert!(matches!(
        spec(&["-r ../x.txt"], &[("x.txt", "")]),
        Err(SpecError::MissingFile { .. })
    ));
}

proptest! {
    #[test]
    fn no_line_makes_the_reader_panic(line in "(-[rce] ?|--[a-z]{1,5}=?|[a-z.\\[\\]\"'\\\\ /<=;@é-]){0,12}", file in "(.|\n){0,40}") {
        let _ = spec(&[&line, "-r f"], &[("f", &file)]);
    }

    #[test]
    fn no_path_leads_out_of_the_tree(folder in "([a-c]/){0,2}", path in "(\\.\\./|\\./|[a-c]/|/){0,6}[a-c]") {
        if let Some(path) = inside(&folder, &path) {
            prop_assert!(!path.starts_with('/') && path.split('/').all(|part| part != ".." && !part.is_empty()));
        }
    }

    #[test]
    fn quoted_words_are_kept_whole(list in proptest::collection::vec("[a-z <>;\"=]{1,8}", 1..5)) {
        let line = list.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        prop_assert_eq!(words(&line).unwrap(), list);
    }
}
