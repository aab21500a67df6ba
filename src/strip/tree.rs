//! A tree's entries, and what each is to this stage.

use super::python::Dialect;
use super::report::LeakCategory;
use crate::domain::patch::EntryKind;
use crate::domain::path::RepoPath;

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Where.
    pub path: RepoPath,
    /// A file, a link, or another repository.
    pub kind: EntryKind,
    /// Whether a file is executable.
    pub executable: bool,
}

/// What a file is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python.
    Python(Dialect),
    /// A Jupyter notebook.
    Notebook,
    /// Cython.
    Cython,
    /// Anything else.
    Other,
}

/// What a file is, by its name.
pub fn language(path: &RepoPath) -> Language {
    if path.has_extension("py") || path.has_extension("pyw") {
        Language::Python(Dialect::Module)
    } else if path.has_extension("pyi") {
        Language::Python(Dialect::Stub)
    } else if path.has_extension("ipynb") {
        Language::Notebook
    } else if ["pyx", "pxd", "pxi"]
        .iter()
        .any(|suffix| path.has_extension(suffix))
    {
        Language::Cython
    } else {
        Language::Other
    }
}

/// The kind of documentation that neither mode removes, if a file is such.
pub fn leak(path: &RepoPath) -> Option<LeakCategory> {
    if matches!(language(path), Language::Python(_)) {
        return in_examples(path).then_some(LeakCategory::Example);
    }
    match language(path) {
        Language::Cython => return Some(LeakCategory::Cython),
        Language::Notebook => return Some(LeakCategory::Notebook),
        _ => {}
    }
    let name = path.file_name().to_ascii_uppercase();
    let front = [
        "HISTORY", "CHANGES", "NEWS", "AUTHORS", "TODO", "THANKS", "INSTALL", "ROADMAP",
    ];
    if front.iter().any(|word| {
        name.strip_prefix(word.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest == b".TXT")
    }) {
        return Some(LeakCategory::FrontPage);
    }
    if in_examples(path) {
        return Some(LeakCategory::Example);
    }
    (path.has_extension("txt") && !name.starts_with(b"REQUIREMENTS") && name != b"CMAKELISTS.TXT")
        .then_some(LeakCategory::TextFile)
}

fn in_examples(path: &RepoPath) -> bool {
    path.components().rev().skip(1).any(|part| {
        matches!(
            part,
            b"examples" | b"example" | b"demo" | b"demos" | b"docs_src" | b"tutorials" | b"tutorial"
        )
    })
}

/// Where a link leads, by its text alone: `None` when that is outside the tree.
pub fn link_target(link: &RepoPath, target: &[u8]) -> Option<RepoPath> {
    if target.starts_with(b"/") {
        return None;
    }
    let mut parts: Vec<&[u8]> = link.components().collect();
    parts.pop();
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(RepoPath::from(parts.join(&b"/"[..]).as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_and_never_followed() {
        let leads = |link: &str, target: &str| {
            link_target(&link.into(), target.as_bytes()).map(|path| path.to_string())
        };
        assert_eq!(leads("a/b", "../c").as_deref(), Some("c"));
        assert_eq!(leads("a/b", "./c//d").as_deref(), Some("a/c/d"));
        assert_eq!(leads("a/b", "../../c"), None);
        assert_eq!(leads("a/b", "/etc/passwd"), None);
    }

    #[test]
    fn leaks_go_by_name() {
        let of = |path: &str| leak(&path.into());
        assert_eq!(of("HISTORY"), Some(LeakCategory::FrontPage));
        assert_eq!(of("a/b.pyx"), Some(LeakCategory::Cython));
        assert_eq!(of("notes.txt"), Some(LeakCategory::TextFile));
        assert_eq!(of("requirements-dev.txt"), None);
        assert_eq!(of("examples/a.py"), Some(LeakCategory::Example));
        assert_eq!(of("src/a.py"), None);
    }
}
