//! Facts about a diff's files: the same arithmetic for mined candidates and for rows of a dataset.

use std::borrow::Cow;
use std::collections::BTreeSet;

use bstr::ByteSlice as _;

use super::value::Datum;
use crate::domain::patch::{ChangeKind, EntryKind, FileChange, Part};
use crate::domain::path::RepoPath;
use crate::recipe::language::Scope;
use crate::recipe::language::facts::FileFact;

/// A diff's files and the part each is in (`None`: in no part), side by side.
#[derive(Debug, Clone, Copy)]
pub struct FileSet<'a> {
    /// The files, in diff order.
    pub files: &'a [FileChange],
    /// Their parts.
    pub parts: &'a [Option<Part>],
}

/// One fact about the files of a scope.
pub fn file_fact(set: FileSet<'_>, scope: Scope, fact: FileFact) -> Datum<'_> {
    let inside = set
        .files
        .iter()
        .zip(set.parts)
        .filter(move |(_, part)| match scope {
            Scope::Whole => true,
            Scope::Part(wanted) => **part == Some(wanted),
        });
    let files = inside.map(|(file, _)| file);
    let sum = |of: fn(&FileChange) -> u32| Datum::Int(files.clone().map(|file| i64::from(of(file))).sum());
    let count = |of: fn(&FileChange) -> bool| Datum::count(files.clone().filter(|file| of(file)).count());
    match fact {
        FileFact::Count => count(|_| true),
        FileFact::Paths => Datum::List(files.map(|file| Datum::Text(path(&file.path))).collect()),
        FileFact::PythonFiles => count(|file| file.path.has_extension("py")),
        FileFact::Suffixes => {
            let suffixes: BTreeSet<Cow<'_, str>> = files.map(|file| suffix(&file.path)).collect();
            Datum::texts(suffixes)
        }
        FileFact::Added => sum(|file| file.added),
        FileFact::Removed => sum(|file| file.removed),
        FileFact::Hunks => sum(|file| file.hunks),
        FileFact::NewFiles => count(|file| file.change == ChangeKind::Added),
        FileFact::DeletedFiles => count(|file| file.change == ChangeKind::Deleted),
        FileFact::RenamedFiles => count(|file| file.change == ChangeKind::Renamed),
        FileFact::BinaryFiles => count(|file| file.binary),
        FileFact::Changes => Datum::List(files.map(change).collect()),
    }
}

/// A path as rules see it: itself when it is UTF-8, else quoted the way git quotes it.
fn path(path: &RepoPath) -> Cow<'_, str> {
    path.to_str()
        .map_or_else(|| Cow::Owned(path.to_string()), Cow::Borrowed)
}

/// The file name's extension without the dot; empty for a name without one (`.gitignore` has none).
fn suffix(path: &RepoPath) -> Cow<'_, str> {
    match path.file_name().rsplit_once_str(b".") {
        Some((stem, suffix)) if !stem.is_empty() => suffix.to_str_lossy(),
        _ => Cow::Borrowed(""),
    }
}

fn change(file: &FileChange) -> Datum<'_> {
    Datum::Record(vec![
        ("path", Datum::Text(path(&file.path))),
        (
            "old_path",
            file.old_path
                .as_ref()
                .map_or(Datum::text(""), |old| Datum::Text(path(old))),
        ),
        (
            "change",
            Datum::text(match file.change {
                ChangeKind::Added => "added",
                ChangeKind::Deleted => "deleted",
                ChangeKind::Modified => "modified",
                ChangeKind::Renamed => "renamed",
                ChangeKind::TypeChanged => "type-changed",
            }),
        ),
        (
            "entry",
            Datum::text(match file.entry {
                EntryKind::File => "file",
                EntryKind::Symlink => "symlink",
                EntryKind::Submodule => "submodule",
            }),
        ),
        ("binary", Datum::Bool(file.binary)),
        ("added", Datum::Int(file.added.into())),
        ("removed", Datum::Int(file.removed.into())),
        ("hunks", Datum::Int(file.hunks.into())),
    ])
}
