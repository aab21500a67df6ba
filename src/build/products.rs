//! What an install did to the work tree: a comparison of two looks at it.

use std::collections::BTreeMap;

use crate::domain::path::RepoPath;

/// What one look at a file sees. The change time cannot be set by a program, so an equal stamp is an untouched file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Kind and permission bits.
    pub mode: u32,
    /// Inode.
    pub inode: u64,
    /// Change time in nanoseconds.
    pub changed: i128,
}

/// A work tree's files (and links) by path.
pub type Look = BTreeMap<RepoPath, Stamp>;

/// Differences between two looks, each sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Files that are new.
    pub created: Vec<RepoPath>,
    /// Files that were touched: whether their content differs is for a closer look.
    pub touched: Vec<RepoPath>,
    /// Files that are gone.
    pub removed: Vec<RepoPath>,
}

/// Compares a look before with a look after; bytecode and its caches are nobody's product.
pub fn compare(before: &Look, after: &Look) -> Differences {
    let mut differences = Differences::default();
    for (path, stamp) in after
        .iter()
        .filter(|(path, _)| !is_bytecode(path) || before.contains_key(*path))
    {
        match before.get(path) {
            None => differences.created.push(path.clone()),
            Some(old) if old != stamp => differences.touched.push(path.clone()),
            Some(_) => {}
        }
    }
    differences.removed = before
        .keys()
        .filter(|path| !after.contains_key(*path))
        .cloned()
        .collect();
    differences
}

fn is_bytecode(path: &RepoPath) -> bool {
    path.has_extension("pyc") || path.components().any(|part| part == b"__pycache__")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(files: &[(&str, u64)]) -> Look {
        let stamp = |inode| Stamp {
            size: 1,
            mode: 0o100_644,
            inode,
            changed: 7,
        };
        files
            .iter()
            .map(|(path, inode)| (RepoPath::from(*path), stamp(*inode)))
            .collect()
    }

    #[test]
    fn bytecode_is_no_product_and_everything_else_is() {
        let before = look(&[("setup.py", 1), ("a.py", 2), ("gone.py", 3), ("kept.pyc", 4)]);
        let after = look(&[
            ("setup.py", 1),
            ("a.py", 9),
            ("kept.pyc", 9),
            ("src/a.egg-info/PKG-INFO", 5),
            ("src/__pycache__/a.cpython-311.pyc", 6),
            ("a/_speed.cpython-311.so", 7),
        ]);
        let differences = compare(&before, &after);
        let paths = |list: &[RepoPath]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            paths(&differences.created),
            ["a/_speed.cpython-311.so", "src/a.egg-info/PKG-INFO"]
        );
        assert_eq!(paths(&differences.touched), ["a.py", "kept.pyc"]);
        assert_eq!(paths(&differences.removed), ["gone.py"]);
    }
}
