//! Which files are read: those that their paths tell, those that towncrier's configuration names, and those that the recipe
//! names.

use std::collections::BTreeSet;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::domain::ids::CommitSha;
use crate::domain::patch::EntryKind;
use crate::domain::path::RepoPath;
use crate::git::Mirror;
use crate::mine::release_notes::fragments::{FragmentName, fragment_in, fragment_with};
use crate::mine::release_notes::sources::{Source, is_foreign, source};
use crate::mine::release_notes::towncrier::{self, FragmentType, Towncrier};
use crate::mine::run::MineError;
use crate::recipe::notes::NotesRecipe;

/// Which files hold release notes.
pub(super) struct Wanted {
    /// As written, and compiled.
    globs: Vec<(String, GlobMatcher)>,
    /// Today's configurations, then those of the past.
    towncrier: Vec<Towncrier>,
    /// Every type of fragments that they name, in lower case.
    types: BTreeSet<String>,
}

impl Wanted {
    pub(super) fn new(notes: &NotesRecipe, towncrier: Vec<Towncrier>) -> Result<Self, MineError> {
        let mut globs = vec![];
        for glob in &notes.files {
            let built = GlobBuilder::new(glob).literal_separator(true).build();
            let built = built.map_err(|source| MineError::Glob {
                glob: glob.clone(),
                source,
            })?;
            globs.push((glob.clone(), built.compile_matcher()));
        }
        let types = towncrier.iter().flat_map(Towncrier::words).collect();
        Ok(Self {
            globs,
            towncrier,
            types,
        })
    }

    pub(super) fn source(&self, path: &RepoPath) -> Option<Source> {
        let configured = || {
            self.folders()
                .find_map(|folder| fragment_in(path, folder, &self.types))
        };
        let of_types = || {
            let usual = !self.types.is_empty() && !is_foreign(path);
            usual.then(|| fragment_with(path, &self.types)).flatten()
        };
        if let Some(name) = configured().or_else(of_types) {
            return Some(Source::Fragment(name));
        }
        let is_document = |known: &Towncrier| known.document.as_ref() == Some(path);
        source(path)
            .or_else(|| self.towncrier.iter().any(is_document).then_some(Source::Document))
            .or_else(|| self.named(path))
    }

    /// What a file is that the recipe names.
    fn named(&self, path: &RepoPath) -> Option<Source> {
        let is_named = self.globs.iter().any(|(_, glob)| is_match(glob, path));
        is_named.then(|| {
            let home = folder(path);
            let name = home.and_then(|home| fragment_in(path, &home, &self.types));
            name.map_or(Source::Document, Source::Fragment)
        })
    }

    /// Folders of fragments that configurations name.
    pub(super) fn folders(&self) -> impl Iterator<Item = &RepoPath> {
        self.towncrier.iter().filter_map(|known| known.folder.as_ref())
    }

    /// Types of fragments that configurations name, today's first.
    pub(super) fn types(&self) -> impl Iterator<Item = &FragmentType> {
        self.towncrier.iter().flat_map(|known| &known.types)
    }

    /// The recipe's patterns that none of these files matches.
    pub(super) fn unmatched<'p>(&self, paths: &(impl Iterator<Item = &'p RepoPath> + Clone)) -> Vec<String> {
        let globs = self.globs.iter();
        let idle = globs.filter(|(_, glob)| !paths.clone().any(|path| is_match(glob, path)));
        idle.map(|(written, _)| written.clone()).collect()
    }
}

fn is_match(glob: &GlobMatcher, path: &RepoPath) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    glob.is_match(Path::new(std::ffi::OsStr::from_bytes(path.as_bytes())))
}

fn folder(path: &RepoPath) -> Option<RepoPath> {
    let bytes = path.as_bytes();
    let end = bytes.iter().rposition(|byte| *byte == b'/')?;
    Some(RepoPath::from(&bytes[..end]))
}

/// The folder that a fragment's kind lies in.
pub(super) fn home(path: &RepoPath, name: &FragmentName) -> RepoPath {
    let parts: Vec<&[u8]> = path.components().collect();
    let kept = parts.len().saturating_sub(1 + name.folders.len()).max(1);
    RepoPath::from(parts[..kept].join(&b'/').as_slice())
}

/// Towncrier's configurations in today's tree, and those that other commits have in the same files, or at their root.
pub(super) fn configurations(
    mirror: &Mirror,
    today: CommitSha,
    past: &[CommitSha],
) -> Result<Vec<Towncrier>, MineError> {
    let mut files: BTreeSet<RepoPath> = towncrier::FILES
        .iter()
        .map(|name| RepoPath::from(*name))
        .collect();
    for file in mirror.files(today)? {
        let may_hold = towncrier::is_configuration(&file.path) && !is_foreign(&file.path);
        if file.entry == EntryKind::File && may_hold {
            files.insert(file.path);
        }
    }
    let mut found: Vec<Towncrier> = vec![];
    for commit in [today].iter().chain(past) {
        for path in &files {
            if let Some(bytes) = mirror.read(*commit, path)?
                && let Some(told) = towncrier::read(path, &bytes)
                && !found.contains(&told)
            {
                found.push(told);
            }
        }
    }
    Ok(found)
}
