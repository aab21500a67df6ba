//! A distribution's `RECORD`: which files are its own.

/// The files a `RECORD` lists, as paths from the prefix's root; `packages` is the folder that the `RECORD`'s own
/// paths start from (`lib/python3.11/site-packages`). Paths that lead out of the prefix are nobody's.
pub fn recorded_files(record: &str, packages: &str) -> Vec<String> {
    record
        .lines()
        .filter_map(|line| inside(packages, &first_field(line)?))
        .collect()
}

/// The first field of a line of comma-separated values, its quotes removed.
fn first_field(line: &str) -> Option<String> {
    let Some(quoted) = line.strip_prefix('"') else {
        let field = line.split(',').next()?;
        return (!field.is_empty()).then(|| field.to_owned());
    };
    let mut field = String::new();
    let mut signs = quoted.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign != '"' {
            field.push(sign);
        } else if signs.peek() == Some(&'"') {
            signs.next();
            field.push('"');
        } else {
            return (!field.is_empty()).then_some(field);
        }
    }
    None
}

fn inside(packages: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in packages.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Where Python keeps the bytecode of a source file: the folder, and how its file's name starts
/// (`six.` for `six.py`); `None` for a file that is no source.
pub fn bytecode_of(path: &str) -> Option<(String, String)> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.strip_suffix(".py")?;
    let slash = if folder.is_empty() { "" } else { "/" };
    Some((format!("{folder}{slash}__pycache__"), format!("{stem}.")))
}

/// The normalised name of the distribution that a folder `Name-1.0.dist-info` is of.
pub fn name_of_dist_info(folder: &str) -> Option<String> {
    let (name, _) = folder.strip_suffix(".dist-info")?.rsplit_once('-')?;
    Some(super::lock::normalise(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn files_are_found_from_the_prefixs_root() {
        let record = "six.py,sha256=aa,1\n../../../bin/six,sha256=bb,2\n\"a, \"\"b\"\".txt\",,\n/etc/passwd,,\n\
                      ../../../../../x,,\n\n";
        let files = recorded_files(record, "lib/python3.11/site-packages");
        assert_eq!(
            files,
            [
                "lib/python3.11/site-packages/six.py",
                "bin/six",
                "lib/python3.11/site-packages/a, \"b\".txt"
            ]
        );
    }

    #[test]
    fn names_come_from_dist_info_folders() {
        assert_eq!(
            name_of_dist_info("zope.interface-5.0.dist-info").as_deref(),
            Some("zope-interface")
        );
        assert_eq!(
            name_of_dist_info("pytest_cov-4.1.0.dist-info").as_deref(),
            Some("pytest-cov")
        );
        assert_eq!(name_of_dist_info("six"), None);
    }

    #[test]
    fn bytecode_stands_beside_its_source() {
        assert_eq!(bytecode_of("a/b.py"), Some(("a/__pycache__".into(), "b.".into())));
        assert_eq!(bytecode_of("b.py"), Some(("__pycache__".into(), "b.".into())));
        assert_eq!(bytecode_of("b.so"), None);
    }

    proptest! {
        #[test]
        fn no_record_leads_out_of_the_prefix(record in "([a-z\",/.]|\\.\\./|\n){0,60}") {
            for path in recorded_files(&record, "lib/site-packages") {
                prop_assert!(!path.starts_with('/') && path.split('/').all(|part| part != ".." && !part.is_empty()));
            }
        }
    }
}
