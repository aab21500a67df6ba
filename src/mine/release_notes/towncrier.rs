//! What towncrier's configuration says of a project's fragments: their folder, their types, and what they are collected into.

use std::collections::BTreeSet;

use crate::domain::path::RepoPath;

/// Files that it stands in.
pub(super) const FILES: &[&str] = &["pyproject.toml", "towncrier.toml"];
/// Types where it names none.
const TYPES: &[&str] = &["feature", "bugfix", "doc", "removal", "misc"];

/// A configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Towncrier {
    /// The folder of fragments, where it names one; the one that is the usual is known by its name.
    pub(super) folder: Option<RepoPath>,
    /// The file that fragments are collected into, where it names one.
    pub(super) document: Option<RepoPath>,
    /// Types of fragments.
    pub(super) types: Vec<FragmentType>,
}

/// A type of fragments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FragmentType {
    /// As in the names of files.
    pub(super) word: String,
    /// The heading of what is collected.
    pub(super) title: String,
    /// Whether readers see more than that there is one.
    pub(super) is_shown: bool,
}

impl Towncrier {
    /// Whether it names a type of fragments, in lower case.
    pub(super) fn words(&self) -> BTreeSet<String> {
        self.types.iter().map(|known| known.word.to_lowercase()).collect()
    }
}

/// Whether a file may hold a configuration.
pub(super) fn is_configuration(path: &RepoPath) -> bool {
    FILES.iter().any(|name| name.as_bytes() == path.file_name())
}

/// Reads a configuration; `None` where the file holds none.
pub(super) fn read(path: &RepoPath, bytes: &[u8]) -> Option<Towncrier> {
    let text = std::str::from_utf8(bytes).ok()?;
    let file: toml::Table = text.parse().ok()?;
    let table = file.get("tool")?.get("towncrier")?.as_table()?;
    let text = |key: &str| table.get(key).and_then(toml::Value::as_str);
    let inside = |inner: &str| beside(path, inner);
    Some(Towncrier {
        folder: text("directory").and_then(inside),
        // One file for each version has a name to fill in.
        document: text("filename")
            .filter(|name| !name.contains('{'))
            .and_then(inside),
        types: types(table),
    })
}

fn types(table: &toml::Table) -> Vec<FragmentType> {
    let one = |word: &str, told: Option<&toml::Value>| {
        let told = |key: &str| told.and_then(|told| told.get(key));
        let title = told("name").and_then(toml::Value::as_str);
        let word = told("directory").and_then(toml::Value::as_str).unwrap_or(word);
        FragmentType {
            word: word.to_owned(),
            title: title.unwrap_or(word).to_owned(),
            is_shown: told("showcontent").and_then(toml::Value::as_bool).unwrap_or(true),
        }
    };
    if let Some(list) = table.get("type").and_then(toml::Value::as_array) {
        let named = list.iter().map(|told| {
            let title = told.get("name").and_then(toml::Value::as_str);
            one(&title.unwrap_or_default().to_lowercase(), Some(told))
        });
        return named.filter(|known| !known.word.is_empty()).collect();
    }
    if let Some(named) = table.get("fragment").and_then(toml::Value::as_table) {
        return named.iter().map(|(word, told)| one(word, Some(told))).collect();
    }
    TYPES.iter().map(|word| one(word, None)).collect()
}

/// A path that is written relative to a file's folder; `None` where it leads out of the repository, or nowhere.
fn beside(file: &RepoPath, written: &str) -> Option<RepoPath> {
    let mut parts: Vec<&[u8]> = file.components().collect();
    parts.pop();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part.as_bytes()),
        }
    }
    let joined = parts.join(&b'/');
    (!joined.is_empty()).then(|| RepoPath::from(joined.as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(path: &str, text: &str) -> String {
        let path = RepoPath::from(path);
        assert!(is_configuration(&path));
        read(&path, text.as_bytes()).map_or("-".to_owned(), |read| {
            let path = |path: Option<RepoPath>| path.map_or("-".to_owned(), |path| path.to_string());
            let types: Vec<String> = read
                .types
                .iter()
                .map(|known| {
                    format!(
                        "{}={}{}",
                        known.word,
                        known.title,
                        if known.is_shown { "" } else { "!" }
                    )
                })
                .collect();
            format!(
                "{} {} {}",
                path(read.folder),
                path(read.document),
                types.join(",")
            )
        })
    }

    #[test]
    fn configurations_tell_folders_documents_and_types() {
        let usual = "feature=feature,bugfix=bugfix,doc=doc,removal=removal,misc=misc";
        for (path, text, told) in [
            (
                "pyproject.toml",
                "[tool.towncrier]\ndirectory = \"./newsfrag/\"\n",
                &*format!("newsfrag - {usual}"),
            ),
            (
                "lib/towncrier.toml",
                "[tool.towncrier]\ndirectory = \"../docs/news\"\nfilename = \"LOG.rst\"\n[[tool.towncrier.type]]\n\
                 directory = \"shiny\"\nname = \"New things\"\nshowcontent = true\n[[tool.towncrier.type]]\nname = \"Dull\"\nshowcontent = false\n",
                "docs/news lib/LOG.rst shiny=New things,dull=Dull!",
            ),
            (
                "pyproject.toml",
                "[tool.towncrier]\nfilename = \"docs/{version}.rst\"\n[tool.towncrier.fragment.shiny]\nname = \"New things\"\n",
                "- - shiny=New things",
            ),
            (
                "pyproject.toml",
                "[tool.towncrier]\ndirectory = \"../..\"\n",
                &*format!("- - {usual}"),
            ),
            ("pyproject.toml", "[tool.black]\n", "-"),
            ("pyproject.toml", "not toml", "-"),
        ] {
            assert_eq!(show(path, text), told, "{text}");
        }
        assert!(!is_configuration(&RepoPath::from("setup.cfg")));
    }
}
