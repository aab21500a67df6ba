//! Which candidates of one repository can share what was found out about their environment: those whose trees ask for the
//! same. What a release is called changes with every one; what it depends on changes from one minor version to the next,
//! if at all, so the groups are those of Doc2Feat-Bench, found instead of written down.

use super::spec::read_spec;
use crate::domain::hash::KeyHasher;
use crate::recipe::model::EnvironmentRecipe;

/// A hash of everything that the proposals of one tree lead to but the day: install lines with the requirement files they
/// name read in, and what the packaging files say of dependencies: `asked`, as detection read them, and the setup files,
/// which may work it out. `read` gives a file of the tree.
pub fn fingerprint(
    proposals: &[EnvironmentRecipe],
    asked: &[String],
    read: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> String {
    let mut key = KeyHasher::new("environment-group", 2).json("asked", &asked);
    for proposal in proposals {
        key = key
            .part("python", proposal.python.as_bytes())
            .json("install", &proposal.install)
            .json("env", &proposal.env)
            .json("runner", &proposal.runner)
            .json("args", &proposal.args);
        match read_spec(&proposal.install, &proposal.constraints, read) {
            Ok(spec) => {
                key = key
                    .json("requirements", &spec.requirements)
                    .json("constraints", &spec.constraints);
            }
            Err(error) => key = key.part("error", error.to_string().as_bytes()),
        }
    }
    for file in ["setup.cfg", "setup.py"] {
        if let Some(bytes) = read(file) {
            key = key.part(file, without_version(&String::from_utf8_lossy(&bytes)).as_bytes());
        }
    }
    key.finish()
}

/// A packaging file without the line that says its version.
fn without_version(text: &str) -> String {
    let says_version = |line: &&str| {
        let name = line.trim_start().trim_start_matches('_');
        name.strip_prefix("version")
            .is_some_and(|rest| rest.trim_start_matches('_').trim_start().starts_with('='))
    };
    text.lines()
        .filter(|line| !says_version(line))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::build::detect::{Tree, detect};
    use crate::domain::path::RepoPath;

    fn of(files: &[(&str, &str)]) -> String {
        let files: BTreeMap<_, _> = files.iter().copied().collect();
        let paths: BTreeSet<RepoPath> = files.keys().map(|path| RepoPath::from(*path)).collect();
        let read = |name: &str| files.get(name).map(|text| text.as_bytes().to_vec());
        let tree = Tree {
            paths: &paths,
            read: &read,
        };
        let detected = detect(tree, jiff::Timestamp::UNIX_EPOCH, &[]);
        let proposal = EnvironmentRecipe {
            python: "3.11".into(),
            install: vec!["-r requirements.txt".into(), "-e .".into()],
            ..EnvironmentRecipe::default()
        };
        fingerprint(&[proposal], &detected.asked, &read)
    }

    #[test]
    fn a_release_is_no_new_group_and_a_dependency_is() {
        let base = [
            ("requirements.txt", "pytest\n"),
            (
                "pyproject.toml",
                "[project]\nname = 'a'\nversion = '1.0'\ndependencies = ['x']\n",
            ),
            ("setup.py", "setup(\n    version='1.0',\n    name='a')\n"),
        ];
        let with = |index: usize, text: &'static str| {
            let mut files = base;
            files[index].1 = text;
            of(&files)
        };
        let key = of(&base);
        assert_eq!(
            with(
                1,
                "[project]\nname = 'a'\nversion = '1.1'\ndependencies = ['x']\n[tool.ruff]\nselect = []\n"
            ),
            key
        );
        assert_eq!(with(2, "setup(\n    version='1.1',\n    name='a')\n"), key);
        assert_eq!(with(0, "# for tests\npytest\n"), key);
        assert_ne!(with(0, "pytest\nflaky\n"), key);
        assert_ne!(with(1, "[project]\nname = 'a'\ndependencies = ['x', 'y']\n"), key);
        assert_ne!(
            with(
                1,
                "[project]\nname = 'a'\ndependencies = ['x']\n[dependency-groups]\ntest = ['y']\n"
            ),
            key
        );
        assert_ne!(with(2, "setup(\n    name='a', install_requires=['z'])\n"), key);
    }
}
