//! Which part of a change each file belongs to: gold, test, docs or other.
//!
//! Mode `paths`: the recipe's globs first (tests, then docs, gold, other), then the defaults of `defaults`, which read
//! path components and file names, never substrings. Mode `swebench`: the rule of the published SWE-bench data
//! (facts over 2,780 file entries of Verified, Lite and dev): the words of the lower-cased `diff --git` line, split on
//! blank, `_`, `/` and `.`; `test`, `tests` or `testing` among them makes a test; any other file that does not end in
//! `.py` is dropped.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::defaults;
use crate::domain::patch::{ChangeKind, FileChange, Part};
use crate::domain::path::RepoPath;
use crate::recipe::model::{Split, SplitMode};

/// A recipe's `[split]` that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// A glob that does not parse.
    #[error("read the glob `{glob}` in `split.{key}`: {source}")]
    Glob {
        /// The glob as written.
        glob: String,
        /// The key it stands under.
        key: &'static str,
        /// What is wrong with it.
        source: globset::Error,
    },
}

impl SplitError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        vec!["globs match whole paths: `docs/**`, `**/testing/*.py`, `*.{md,rst}`".to_owned()]
    }
}

/// A recipe's way to split, ready to use.
#[derive(Debug, Clone)]
pub struct Splitter {
    mode: SplitMode,
    globs: Vec<(Part, GlobSet)>,
}

/// A diff cut into its parts; each is a diff by itself, its sections in the order of the whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cut {
    /// What a solution must write.
    pub gold: Vec<u8>,
    /// What judges a solution.
    pub test: Vec<u8>,
    /// Documentation.
    pub docs: Vec<u8>,
    /// Everything else.
    pub other: Vec<u8>,
}

impl Cut {
    /// One part's bytes.
    pub fn part(&self, part: Part) -> &[u8] {
        match part {
            Part::Gold => &self.gold,
            Part::Test => &self.test,
            Part::Docs => &self.docs,
            Part::Other => &self.other,
        }
    }

    fn part_mut(&mut self, part: Part) -> &mut Vec<u8> {
        match part {
            Part::Gold => &mut self.gold,
            Part::Test => &mut self.test,
            Part::Docs => &mut self.docs,
            Part::Other => &mut self.other,
        }
    }
}

impl Splitter {
    /// Reads a recipe's `[split]`.
    ///
    /// # Errors
    /// When a glob does not parse.
    pub fn new(split: &Split) -> Result<Self, SplitError> {
        let lists = [
            (Part::Test, "test", &split.test),
            (Part::Docs, "docs", &split.docs),
            (Part::Gold, "gold", &split.gold),
            (Part::Other, "other", &split.other),
        ];
        let globs = lists
            .into_iter()
            .filter(|(_, _, list)| !list.is_empty())
            .map(|(part, key, list)| Ok((part, glob_set(key, list)?)))
            .collect::<Result<_, SplitError>>()?;
        Ok(Self {
            mode: split.mode,
            globs,
        })
    }

    /// The part a path belongs to; `None` where the mode drops the file.
    pub fn part(&self, path: &RepoPath) -> Option<Part> {
        match self.mode {
            SplitMode::Paths => Some(self.by_path(path)),
            SplitMode::Swebench => swebench(path, path),
        }
    }

    /// The part a changed file belongs to: that of its path after the change (before it, for a deletion). Mode
    /// `swebench` reads both names of a rename, as its rule reads the whole `diff --git` line.
    pub fn part_of(&self, file: &FileChange) -> Option<Part> {
        match (self.mode, &file.old_path) {
            (SplitMode::Swebench, Some(old)) => swebench(old, &file.path),
            _ => self.part(&file.path),
        }
    }

    /// Cuts a diff by its files' byte ranges. Files that the mode drops are in no part.
    pub fn cut(&self, diff: &[u8], files: &[FileChange]) -> Cut {
        let mut cut = Cut::default();
        for file in files {
            if let Some(part) = self.part_of(file) {
                cut.part_mut(part).extend_from_slice(section(diff, file));
            }
        }
        cut
    }

    fn by_path(&self, path: &RepoPath) -> Part {
        let whole = Path::new(OsStr::from_bytes(path.as_bytes()));
        let chosen = self.globs.iter().find(|(_, globs)| globs.is_match(whole));
        chosen.map_or_else(|| defaults::part(path), |(part, _)| *part)
    }
}

/// One file's bytes of a diff; empty when the range is not of this diff.
pub fn section<'a>(diff: &'a [u8], file: &FileChange) -> &'a [u8] {
    let bound = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    diff.get(bound(file.start)..bound(file.end)).unwrap_or_default()
}

fn glob_set(key: &'static str, list: &[String]) -> Result<GlobSet, SplitError> {
    let mut set = GlobSetBuilder::new();
    for glob in list {
        let built = GlobBuilder::new(glob).literal_separator(true).build();
        set.add(built.map_err(|source| SplitError::Glob {
            glob: glob.clone(),
            key,
            source,
        })?);
    }
    set.build().map_err(|source| SplitError::Glob {
        glob: list.join(" "),
        key,
        source,
    })
}

fn swebench(old: &RepoPath, new: &RepoPath) -> Option<Part> {
    let is_test = [old, new].into_iter().any(|path| {
        path.as_bytes().split(|byte| b" _/.".contains(byte)).any(|word| {
            ["test", "tests", "testing"]
                .iter()
                .any(|test| word.eq_ignore_ascii_case(test.as_bytes()))
        })
    });
    let is_python = new.as_bytes().to_ascii_lowercase().ends_with(b".py");
    match (is_test, is_python) {
        (true, _) => Some(Part::Test),
        (false, true) => Some(Part::Gold),
        (false, false) => None,
    }
}

/// Whether a file's change is the release notes' or the changelog's, so that it can be told from the rest of `other`.
pub fn is_release_note(file: &FileChange) -> bool {
    let old_too = file.old_path.as_ref().is_none_or(defaults::is_release_note);
    defaults::is_release_note(&file.path) && (old_too || file.change != ChangeKind::Renamed)
}

#[cfg(test)]
mod tests;
