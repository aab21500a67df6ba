//! One file an entry: towncrier's fragments and their kin.

use std::collections::BTreeSet;

use crate::domain::path::RepoPath;

/// What a fragment's path tells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FragmentName {
    /// The number that it is named for; `None` for an orphan (`+word`) and for a name of words.
    pub number: Option<u32>,
    /// The type, as written: `feature`, `bugfix`, `new_check`.
    pub kind: String,
    /// Folders between that of the fragments and the file (astropy: the sub-package).
    pub folders: Vec<String>,
}

/// Folders that hold fragments, by their names.
const FOLDERS: &[&str] = &[
    "newsfragments",
    "newsfragment",
    "news_fragments",
    "fragments",
    "changelog.d",
    "changes.d",
    "news.d",
    "changelog",
    "changelogs",
    "changes",
    "news",
    "history",
    "unreleased",
    "upcoming_changes",
    "next_whats_new",
    "next_api_changes",
    ".changes",
    ".changelog",
];
/// Endings of prose.
pub(super) const PROSE: &[&str] = &["rst", "md", "txt", "markdown", "adoc"];
/// Files among fragments that are none.
const OTHERS: &[&str] = &[
    "readme",
    "template",
    "_template",
    "index",
    "conf",
    "changelog",
    "changes",
    "gitignore",
];

/// What may stand before a fragment's number.
const MARKS: &[&str] = &["#", "-", "_", "gh", "pr", "issue"];

/// Whether a folder of this name, in lower case, holds fragments.
pub(super) fn is_home(folder: &str) -> bool {
    FOLDERS.contains(&folder)
}

/// Reads a fragment's path; `None` for a path that is none.
pub fn fragment(path: &RepoPath) -> Option<FragmentName> {
    fragment_with(path, &BTreeSet::new())
}

/// The same where a project has these types, in lower case, beside the usual ones.
pub(super) fn fragment_with(path: &RepoPath, types: &BTreeSet<String>) -> Option<FragmentName> {
    let path = path.to_str()?;
    let (folders, _) = path.rsplit_once('/')?;
    let folders: Vec<&str> = folders.split('/').collect();
    let home = folders
        .iter()
        .rposition(|folder| is_home(&folder.to_lowercase()))?;
    named(path, home + 1, types)
}

/// The same of a file in a folder that is known to hold fragments, of these types (in lower case) and the usual ones.
pub(super) fn fragment_in(
    path: &RepoPath,
    home: &RepoPath,
    types: &BTreeSet<String>,
) -> Option<FragmentName> {
    let inside = path.as_bytes().strip_prefix(home.as_bytes())?;
    inside.starts_with(b"/").then_some(())?;
    named(path.to_str()?, home.components().count(), types)
}

/// `home` is how many folders lead to the fragments.
fn named(path: &str, home: usize, types: &BTreeSet<String>) -> Option<FragmentName> {
    let mut folders: Vec<&str> = path.split('/').collect();
    let name = folders.pop()?;
    let below: Vec<String> = folders
        .get(home..)?
        .iter()
        .map(|folder| (*folder).to_owned())
        .collect();
    let next = folders.get(home.checked_sub(1)?)?.to_lowercase();
    let mut parts: Vec<&str> = name.split('.').collect();
    if parts.len() > 1 && PROSE.contains(&parts[parts.len() - 1].to_lowercase().as_str()) {
        parts.pop();
    }
    let first = *parts.first()?;
    if first.is_empty()
        || OTHERS.contains(&first.to_lowercase().as_str())
        || first.starts_with('_')
        || below.len() > 2
    {
        return None;
    }
    // A counter: `12.feature.1`.
    let is_number =
        |text: &str| !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() > 2 && is_number(parts[parts.len() - 1]) {
        parts.pop();
    }
    let rest = unmarked(first);
    let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
    let number = digits
        .parse::<u32>()
        .ok()
        .filter(|number| *number > 0 && digits.len() < 10);
    let whole = is_number(first.trim_start_matches(['#']));
    let is_type = |text: &str| {
        text.len() > 1
            && text.len() <= 24
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphabetic() || b"_-".contains(&byte))
    };
    match parts.as_slice() {
        [_, kind] if is_type(kind) => {
            let orphan = first.starts_with('+');
            let number = number.filter(|_| !orphan);
            // A name of words is a fragment's only where its type is a kind of change.
            let fits = number.is_some()
                || orphan
                || types.contains(&kind.to_lowercase())
                || super::kinds::of_title(kind).is_some();
            let prose = name.contains('.')
                && !matches!(
                    *kind,
                    "py" | "yml" | "yaml" | "json" | "toml" | "cfg" | "in" | "jinja"
                );
            (fits && prose).then(|| FragmentName {
                number,
                kind: (*kind).to_owned(),
                folders: below,
            })
        }
        // Without a type: the folder tells it (matplotlib's `next_whats_new/words.rst`, `news/feature/12.md`).
        [_] if name.contains('.') && next.starts_with("next_") => Some(FragmentName {
            number: None,
            kind: if next.contains("whats_new") {
                "feature"
            } else {
                "api"
            }
            .to_owned(),
            folders: below,
        }),
        [_] if name.contains('.')
            && whole
            && below
                .last()
                .is_some_and(|folder| super::kinds::of_title(folder).is_some()) =>
        {
            let mut folders = below;
            let kind = folders.pop()?;
            Some(FragmentName {
                number,
                kind,
                folders,
            })
        }
        _ => None,
    }
}

/// A name without the marks of a number: `#12`, `pr-12`, `gh-12`, `issue_12`.
fn unmarked(mut name: &str) -> &str {
    let without = |name: &str, mark: &str| {
        let begin = name.get(..mark.len())?;
        begin.eq_ignore_ascii_case(mark).then_some(mark.len())
    };
    while let Some(length) = MARKS.iter().find_map(|&mark| without(name, mark)) {
        name = &name[length..];
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(path: &str) -> String {
        fragment(&RepoPath::from(path.as_bytes())).map_or("-".to_owned(), |found| {
            let number = found.number.map_or("+".to_owned(), |number| number.to_string());
            format!("{number} {} {}", found.kind, found.folders.join("/"))
                .trim()
                .to_owned()
        })
    }

    #[test]
    fn fragments_are_told_by_their_paths() {
        for (path, told) in [
            ("changelog/14220.bugfix.rst", "14220 bugfix"),
            ("changelog/10745.improvement.2.rst", "10745 improvement"),
            ("doc/whatsnew/fragments/10037.bugfix", "10037 bugfix"),
            ("doc/whatsnew/fragments/7819.new_check", "7819 new_check"),
            ("news/3294.feature.md", "3294 feature"),
            ("news/3294.feature.1.md", "3294 feature"),
            ("docs/changes/units/123.feature.rst", "123 feature units"),
            ("newsfragments/+ab12.misc.rst", "+ misc"),
            ("changelog.d/parser.feature.md", "+ feature"),
            ("changes/123-words.bugfix", "123 bugfix"),
            ("doc/users/next_whats_new/new_arrow.rst", "+ feature"),
            ("changes/feature/77.rst", "77 feature"),
            ("newsfragments/gh-9.feature.md", "9 feature"),
            ("newsfragments/GH-issue_9.feature.md", "9 feature"),
            ("newsfragments/pr12.misc", "12 misc"),
            ("newsfragments/some-words.feature.md", "+ feature"),
            ("newsfragments/words.shiny.md", "-"),
            ("changelog/README.rst", "-"),
            ("changelog/_template.rst", "-"),
            ("doc/changes/0.1.rst", "-"),
            ("doc/whatsnew/v0.12.0.rst", "-"),
            ("news/models.py", "-"),
            ("src/feature.rst", "-"),
            ("CHANGES.rst", "-"),
        ] {
            assert_eq!(show(path), told, "{path}");
        }
    }

    #[test]
    fn a_folder_that_is_known_to_hold_fragments_needs_no_usual_name() {
        let types = BTreeSet::from(["shiny".to_owned()]);
        let show = |path: &str| {
            fragment_in(&RepoPath::from(path), &RepoPath::from("src/frag"), &types)
                .map_or("-".to_owned(), |found| {
                    format!("{:?} {} {}", found.number, found.kind, found.folders.join("/"))
                })
        };
        for (path, told) in [
            ("src/frag/12.feature.md", "Some(12) feature "),
            ("src/frag/web/words.shiny", "None shiny web"),
            ("src/frag/words.other.md", "-"),
            ("src/frag/README.md", "-"),
            ("src/fragment/12.feature.md", "-"),
            ("src/12.feature.md", "-"),
        ] {
            assert_eq!(show(path), told, "{path}");
        }
    }
}
