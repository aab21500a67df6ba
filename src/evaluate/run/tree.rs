//! A prediction's work tree: its patch laid on the base tree, whole or not at all, and what is the oracle's put back.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::Request;
use crate::domain::diff::file_changes;
use crate::domain::oracle::RanScope;
use crate::domain::path::RepoPath;
use crate::evaluate::canonical::{Fix, ended, line_end, with_line_ends};
use crate::evaluate::guard::{Edit, Guard};
use crate::evaluate::result::{Applied, Strategy};
use crate::git::apply::{ApplyError, apply, apply_fuzzy, apply_three_way};
use crate::harness::job::disk;
use crate::harness::tree::{copy, files, remove};
use crate::harness::{Fault, Place, Selection, TestModules, infra, select, widen};

/// The lines of context that git's hunks have.
const CONTEXT: u8 = 3;

/// Whether the patch was laid on.
pub(super) enum Laid {
    /// The whole of it.
    Whole(Applied),
    /// Nothing of it, and what git said.
    Not(String),
}

/// A tree that is ready for runs, which only copy it.
pub(super) struct Prepared {
    pub(super) laid: Laid,
    pub(super) edits: Vec<Edit>,
    pub(super) selection: Selection,
    pub(super) tree: PathBuf,
    /// Where all of it lies.
    pub(super) place: Place,
}

/// Lays the patch first and what is the oracle's over it. Which tests run, and what is the oracle's, follow from the base
/// tree with the test patch alone: the prediction has no say.
pub(super) fn prepare(request: &Request, patch: &[u8], fuzz: u8, place: Place) -> Result<Prepared, Fault> {
    let subject = &request.subject;
    let (before, tree) = (place.path().join("before"), place.path().join("after"));
    copy(&request.tree, &tree).map_err(disk("copy the work tree"))?;
    request
        .environment
        .lay_products(&tree)
        .map_err(|error| infra("environment", format!("failed to {error}")))?;
    copy(&tree, &before).map_err(disk("copy the work tree"))?;
    let base = files(&before).map_err(disk("list the work tree"))?;
    apply(&before, &subject.test).map_err(|error| match error {
        ApplyError::DoesNotApply { detail } => infra("oracle", detail),
        ApplyError::Outside { source } => infra("disk", format!("failed to {source}")),
    })?;
    let with_tests = files(&before).map_err(disk("list the work tree"))?;
    let known = TestModules::of(&before, subject.settings.runner);
    let selection = selection(request, &base, &with_tests, &known)
        .ok_or_else(|| infra("oracle", "the test patch leads to no test module"))?;
    let guard = Guard::new(
        &file_changes(&subject.test),
        &file_changes(&subject.gold),
        subject.judged(),
        &with_tests,
    );
    let (laid, edits) = match lay(&tree, patch, &request.objects, fuzz)? {
        Ok((applied, patch)) => {
            let edits = guard.edits(&patch);
            let undone = edits.iter().filter(|edit| edit.undone).map(|edit| &edit.path);
            let back: BTreeSet<&RepoPath> = guard.files().chain(undone).collect();
            for path in back {
                put_back(&before, &tree, path).map_err(disk("put back a file of the oracle"))?;
            }
            (Laid::Whole(applied), edits)
        }
        Err(detail) => (Laid::Not(detail), guard.edits(patch)),
    };
    Ok(Prepared {
        laid,
        edits,
        selection,
        tree,
        place,
    })
}

/// What the oracle's own runs selected.
fn selection(
    request: &Request,
    base: &BTreeSet<RepoPath>,
    with_tests: &BTreeSet<RepoPath>,
    known: &TestModules,
) -> Option<Selection> {
    let subject = &request.subject;
    let narrow = select(&subject.touched, with_tests, &subject.settings, known)?;
    if subject.scope == RanScope::Widened {
        return widen(&narrow, base, with_tests, &subject.settings, known);
    }
    Some(narrow)
}

type Way = (Strategy, Vec<u8>, Vec<Fix>);

/// Lays the patch by the first way that takes the whole of it; gives that and the patch as it was laid, or git's words on
/// the first way. The folder is as it was when none does.
fn lay(
    tree: &Path,
    patch: &[u8],
    objects: &Path,
    fuzz: u8,
) -> Result<Result<(Applied, Vec<u8>), String>, Fault> {
    if patch.iter().all(u8::is_ascii_whitespace) {
        let applied = Applied {
            strategy: Strategy::Exact,
            fixes: vec![],
        };
        return Ok(Ok((applied, vec![])));
    }
    let (whole, fixes) = ended(patch);
    let ends = |path: &RepoPath| {
        let file = tree.join(OsStr::from_bytes(path.as_bytes()));
        let is_file = fs::symlink_metadata(&file).is_ok_and(|found| found.is_file());
        is_file
            .then(|| fs::read(&file).ok())
            .flatten()
            .and_then(|bytes| line_end(&bytes))
    };
    let mut forms = vec![(whole.clone(), fixes.clone())];
    if let Some(fitted) = with_line_ends(&whole, ends) {
        forms.push((fitted, [fixes, vec![Fix::LineEnds]].concat()));
    }
    let mut strategies = vec![Strategy::Exact, Strategy::ThreeWay];
    if fuzz > 0 {
        strategies.push(Strategy::Fuzz);
    }
    let ways = strategies.into_iter().flat_map(|strategy| {
        let forms = forms.iter().cloned();
        forms.map(move |(patch, fixes)| -> Way { (strategy, patch, fixes) })
    });
    let mut said = None;
    for (strategy, patch, fixes) in ways {
        let laid = match strategy {
            Strategy::Exact => apply(tree, &patch),
            Strategy::ThreeWay => apply_three_way(tree, &patch, objects),
            Strategy::Fuzz => apply_fuzzy(tree, &patch, CONTEXT.saturating_sub(fuzz)),
        };
        match laid {
            Ok(()) => return Ok(Ok((Applied { strategy, fixes }, patch))),
            Err(ApplyError::DoesNotApply { detail }) => {
                said.get_or_insert(detail);
            }
            Err(ApplyError::Outside { source }) => return Err(infra("disk", format!("failed to {source}"))),
        }
    }
    Ok(Err(said.unwrap_or_default()))
}

/// Makes `path` below `to` what it is below `from`: the same file or link, or nothing. What a prediction put in the place
/// of a folder on the way (a file, or a link that leads elsewhere) goes.
fn put_back(from: &Path, to: &Path, path: &RepoPath) -> io::Result<()> {
    let mut folder = to.to_owned();
    let names: Vec<&[u8]> = path.components().collect();
    let Some((last, above)) = names.split_last() else {
        return Ok(());
    };
    let source = from.join(OsStr::from_bytes(path.as_bytes()));
    let wanted = match fs::symlink_metadata(&source) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        // A file stands where a folder would have to be.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => None,
        Err(error) => return Err(error),
    };
    for name in above {
        folder.push(OsStr::from_bytes(name));
        match fs::symlink_metadata(&folder) {
            Ok(found) if found.is_dir() => continue,
            Ok(_) if wanted.is_some() => fs::remove_file(&folder)?,
            // What is not to be there is not.
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if wanted.is_none() {
                    return Ok(());
                }
            }
            Err(error) => return Err(error),
        }
        fs::create_dir(&folder)?;
    }
    let target = folder.join(OsStr::from_bytes(last));
    match fs::symlink_metadata(&target) {
        // Below a folder of this name, nothing is the oracle's that is not named by itself.
        Ok(found) if found.is_dir() && wanted.as_ref().is_none_or(fs::Metadata::is_dir) => return Ok(()),
        Ok(found) if found.is_dir() => remove(&target)?,
        Ok(_) => fs::remove_file(&target)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    match wanted {
        Some(found) if found.is_symlink() => symlink(fs::read_link(&source)?, &target),
        Some(found) if found.is_file() => fs::copy(&source, &target).map(drop),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_put_back_whatever_stands_in_its_way() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("tests/data")).unwrap();
        fs::write(from.join("tests/test_a.py"), "whole").unwrap();
        symlink("test_a.py", from.join("tests/link.py")).unwrap();
        let back = |path: &str| put_back(&from, &to, &RepoPath::from(path)).unwrap();
        let whole = || fs::read_to_string(to.join("tests/test_a.py")).unwrap();

        fs::create_dir(&to).unwrap();
        back("tests/test_a.py");
        assert_eq!(whole(), "whole");
        // A link in the place of its folder leads nowhere any more.
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        remove(&to.join("tests")).unwrap();
        symlink(&elsewhere, to.join("tests")).unwrap();
        back("tests/test_a.py");
        assert_eq!(whole(), "whole");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        // A folder in its own place.
        fs::remove_file(to.join("tests/test_a.py")).unwrap();
        fs::create_dir_all(to.join("tests/test_a.py/deep")).unwrap();
        back("tests/test_a.py");
        assert_eq!(whole(), "whole");
        back("tests/link.py");
        assert!(to.join("tests/link.py").is_symlink());
        // What is not there goes, and what it would be below stays.
        fs::write(to.join("tests/conftest.py"), "").unwrap();
        back("tests/conftest.py");
        back("nowhere/conftest.py");
        back("tests/test_a.py/conftest.py");
        assert!(!to.join("tests/conftest.py").exists() && !to.join("nowhere").exists());
        assert_eq!(whole(), "whole");
    }
}
