//! What can go wrong with git.

use std::path::PathBuf;

use super::transport::SCHEMES;
use crate::domain::address::shown;
use crate::domain::ids::CommitSha;
use crate::domain::path::RepoPath;

/// A failure of reading a mirror or of the git program. Messages finish "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The path is no git repository that libgit2 can open.
    #[error("open `{}` as a git repository: {}", shown(&path.display().to_string()), shown(&source.to_string()))]
    Open {
        /// The path as given.
        path: PathBuf,
        /// libgit2's word on it.
        source: git2::Error,
    },
    /// The object database does not hold (or cannot read) a commit.
    #[error("read commit `{commit}`: {source}")]
    Commit {
        /// Which one.
        commit: CommitSha,
        /// libgit2's word on it.
        source: git2::Error,
    },
    /// A name (branch, tag, abbreviated object name) that the mirror does not know.
    #[error("find `{name}` in `{}`", path.display())]
    Unresolved {
        /// The name as given.
        name: String,
        /// The mirror.
        path: PathBuf,
    },
    /// A name that leads to something else than a commit.
    #[error("find commit `{name}` in `{}`: it is a {found}", path.display())]
    NoCommit {
        /// The name as given.
        name: String,
        /// The mirror.
        path: PathBuf,
        /// What it leads to (`tree`, `blob`).
        found: &'static str,
    },
    /// A file's content is not in the object database (partial clones leave large ones out).
    #[error("read `{path}` of commit `{commit}`: {source}")]
    File {
        /// The commit.
        commit: CommitSha,
        /// The file.
        path: RepoPath,
        /// libgit2's word on it.
        source: git2::Error,
    },
    /// Any other failure of libgit2.
    #[error("{what}: {source}")]
    Library {
        /// What was being done (`list the refs`).
        what: &'static str,
        /// libgit2's word on it.
        source: git2::Error,
    },
    /// A tree entry whose name must not become a file.
    #[error("write `{path}` of commit `{commit}`: its name is not a safe file name")]
    UnsafePath {
        /// The commit.
        commit: CommitSha,
        /// The entry.
        path: RepoPath,
    },
    /// The file system refused.
    #[error("write `{}`: {source}", path.display())]
    Write {
        /// Where.
        path: PathBuf,
        /// The system's word on it.
        source: std::io::Error,
    },
    /// The target folder of an export is not empty.
    #[error("export into `{}`: the folder is not empty", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A clone or fetch that the other side, or the way to it, refused.
    #[error("fetch `{url}`: {detail}")]
    Transfer {
        /// The address.
        url: String,
        /// The end of what git said.
        detail: String,
    },
    /// An address of a kind that is not cloned from.
    #[error("fetch `{url}`: nothing is cloned over `{scheme}://`")]
    Scheme {
        /// The address.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// The git program could not be started or talked to.
    #[error("run `git {command}`: {source}")]
    Spawn {
        /// Its first argument.
        command: String,
        /// The system's word on it.
        source: std::io::Error,
    },
    /// The git program ended with an error.
    #[error("run `git {command}`: {detail}")]
    Program {
        /// Its first argument.
        command: String,
        /// The end of what it said.
        detail: String,
    },
}

impl GitError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::Open { path, source } if source.code() == git2::ErrorCode::Owner => {
                format!(
                    "it belongs to another user: `git config --global --add safe.directory {}` trusts it",
                    path.display()
                )
            }
            Self::Open { .. } => {
                "give the path of a bare mirror (`git clone --mirror URL`), or a URL to clone from".to_owned()
            }
            Self::Commit { .. } | Self::File { .. } => {
                "the mirror may be shallow or partial: fetch it again without `--depth` and `--filter`"
                    .to_owned()
            }
            Self::Unresolved { name, .. } if name.is_empty() => {
                "name a commit: `HEAD`, a branch, a tag, or a SHA".to_owned()
            }
            Self::NoCommit { .. } => {
                "name a commit: the one whose tree this is, or a branch or tag".to_owned()
            }
            Self::Unresolved { name, .. } => {
                format!("`git ls-remote . | grep {name}` in the mirror shows what it holds")
            }
            Self::UnsafePath { .. } => {
                "the repository holds a tree that no git client would check out".to_owned()
            }
            Self::Write { .. } => "check free space and permissions there".to_owned(),
            Self::NotEmpty { .. } => "give an empty or a new folder".to_owned(),
            Self::Transfer { .. } => {
                "check the address and the network; run the same command again to go on where it stopped"
                    .to_owned()
            }
            Self::Scheme { .. } => {
                let known: Vec<String> = SCHEMES.iter().map(|scheme| format!("`{scheme}://`")).collect();
                format!(
                    "what works: {}, `git@host:owner/name`, and the path of a mirror",
                    known.join(", ")
                )
            }
            Self::Spawn { .. } => "install git 2.30 or newer, and have it on `PATH`".to_owned(),
            Self::Library { source, .. } if is_refused(source) => {
                "this user may not write to the mirror: use a copy (`git clone --mirror`) that is yours"
                    .to_owned()
            }
            Self::Library { .. } | Self::Program { .. } => {
                "`git fsck` in the mirror tells whether it is whole".to_owned()
            }
        };
        vec![hint]
    }

    pub(super) fn library(what: &'static str) -> impl FnOnce(git2::Error) -> Self {
        move |source| Self::Library { what, source }
    }
}

/// Whether the file system refused a write; libgit2 has no code for it, only the system's words.
fn is_refused(error: &git2::Error) -> bool {
    let words = error.message();
    ["Permission denied", "Read-only file system"]
        .iter()
        .any(|refusal| words.contains(refusal))
}
