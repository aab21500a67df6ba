//! Names of things: repositories, commits, candidates, instances, tests, rules, blobs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A text that is not the name it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {what}")]
pub struct BadId {
    /// The text as given.
    pub text: String,
    /// What it should have been, with an example.
    pub what: &'static str,
}

fn bad<T>(text: &str, what: &'static str) -> Result<T, BadId> {
    Err(BadId {
        text: text.to_owned(),
        what,
    })
}

macro_rules! string_serde {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = BadId;
            fn try_from(text: String) -> Result<Self, BadId> {
                text.parse()
            }
        }
        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                String::json_schema(generator)
            }
        }
    };
}

/// A repository on a forge: `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoName {
    owner: String,
    name: String,
}

impl RepoName {
    /// The account: `psf` in `psf/requests`.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The repository's own name: `requests` in `psf/requests`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether both are names of one repository: forges take no notice of the letters' case.
    pub fn is(&self, other: &Self) -> bool {
        self.owner.eq_ignore_ascii_case(&other.owner) && self.name.eq_ignore_ascii_case(&other.name)
    }

    /// Whether a text names this repository, in any letters.
    pub fn is_called(&self, text: &str) -> bool {
        text.split_once('/').is_some_and(|(owner, name)| {
            self.owner.eq_ignore_ascii_case(owner) && self.name.eq_ignore_ascii_case(name)
        })
    }

    /// `owner__name`: the form that instance ids and folder names use.
    pub fn flat(&self) -> String {
        format!("{}__{}", self.owner, self.name)
    }
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl FromStr for RepoName {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        const WHAT: &str = "a repository name such as `psf/requests`";
        let Some((owner, name)) = text.split_once('/') else {
            return bad(text, WHAT);
        };
        let owner_ok = !owner.is_empty()
            && !owner.starts_with('-')
            && owner
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        let name_ok = !name.is_empty()
            && name != "."
            && name != ".."
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        if owner_ok && name_ok {
            Ok(Self {
                owner: owner.to_owned(),
                name: name.to_owned(),
            })
        } else {
            bad(text, WHAT)
        }
    }
}

string_serde!(RepoName);

/// A commit's SHA-1 object name, shown as 40 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitSha([u8; 20]);

impl CommitSha {
    /// The 20 raw bytes, as git stores them.
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// The 20 raw bytes, as git stores them.
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// The first ten hex digits: for people, never for machines.
    pub fn short(&self) -> String {
        self.to_string()[..10].to_owned()
    }
}

impl fmt::Display for CommitSha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for CommitSha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for CommitSha {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        const WHAT: &str = "a commit of 40 hex digits";
        if text.len() != 40 || !text.is_ascii() {
            return bad(text, WHAT);
        }
        let mut bytes = [0; 20];
        for (index, byte) in bytes.iter_mut().enumerate() {
            let pair = &text[index * 2..index * 2 + 2];
            match u8::from_str_radix(pair, 16) {
                Ok(value) if !pair.starts_with('+') => *byte = value,
                _ => return bad(text, WHAT),
            }
        }
        Ok(Self(bytes))
    }
}

string_serde!(CommitSha);

/// What stages work on: one pull request of one repository, `owner/name#N`. Where a commit is looked at by itself, that
/// commit: `owner/name@SHA`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CandidateId {
    /// The repository the pull request was opened in.
    pub repo: RepoName,
    /// Its number there; 0 for a commit by itself.
    pub number: u32,
    /// Boxed, for it is rarely there and ids are in everything.
    commit: Option<Box<CommitSha>>,
}

impl CandidateId {
    /// A pull request.
    pub const fn pull(repo: RepoName, number: u32) -> Self {
        Self {
            repo,
            number,
            commit: None,
        }
    }

    /// A commit by itself.
    pub fn of_commit(repo: RepoName, commit: CommitSha) -> Self {
        Self {
            repo,
            number: 0,
            commit: Some(Box::new(commit)),
        }
    }

    /// The commit, where it is no pull request.
    pub fn commit(&self) -> Option<CommitSha> {
        self.commit.as_deref().copied()
    }

    /// The same of the repository that goes by this name.
    #[must_use]
    pub fn of(&self, repo: RepoName) -> Self {
        Self { repo, ..self.clone() }
    }

    /// The instance this candidate becomes, in SWE-bench's form: `psf__requests-6629`.
    pub fn instance(&self) -> InstanceId {
        match &self.commit {
            None => InstanceId(format!("{}-{}", self.repo.flat(), self.number)),
            Some(commit) => InstanceId(format!("{}-{commit}", self.repo.flat())),
        }
    }
}

impl fmt::Display for CandidateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.commit {
            None => write!(f, "{}#{}", self.repo, self.number),
            Some(commit) => write!(f, "{}@{commit}", self.repo),
        }
    }
}

impl FromStr for CandidateId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        const WHAT: &str = "a pull request such as `psf/requests#6629`";
        if let Some((repo, commit)) = text.split_once('@') {
            return match (repo.parse(), commit.parse::<CommitSha>()) {
                // Lower-case digits: two texts are never one commit.
                (Ok(repo), Ok(sha)) if sha.to_string() == commit => Ok(Self::of_commit(repo, sha)),
                _ => bad(text, WHAT),
            };
        }
        let Some((repo, number)) = text.split_once('#') else {
            return bad(text, WHAT);
        };
        match (repo.parse::<RepoName>(), number.parse::<u32>()) {
            // Digits as they are written: no sign, no leading zero. Mirrors with a `refs/pull/0/head` exist.
            (Ok(repo), Ok(number)) if format!("{repo}#{number}") == text => Ok(Self::pull(repo, number)),
            _ => bad(text, WHAT),
        }
    }
}

string_serde!(CandidateId);

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

text_id!(
    /// A dataset row's id in SWE-bench's form: `owner__name-N`.
    InstanceId
);
impl InstanceId {
    /// An instance by its id, or by the pull request that it was (`owner/name#N`).
    pub fn named(text: &str) -> Self {
        text.parse::<CandidateId>()
            .map_or_else(|_| Self::from(text), |id| id.instance())
    }
}
text_id!(
    /// A test's own id as its runner names it (pytest: the node id), never read from printed output.
    TestId
);
text_id!(
    /// A rule's id within its recipe: lower-case words joined by `-`.
    RuleId
);

/// The content address of a blob: the SHA-256 of its uncompressed bytes, 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BlobId(String);

impl BlobId {
    /// The address of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(super::hash::sha256_hex(bytes))
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BlobId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        if text.len() == 64
            && text
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        {
            Ok(Self(text.to_owned()))
        } else {
            bad(text, "a blob address of 64 hex digits")
        }
    }
}

string_serde!(BlobId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_refuse_what_is_not_one() {
        let id: CandidateId = "psf/requests#6629".parse().unwrap();
        assert_eq!(id.to_string(), "psf/requests#6629");
        assert_eq!(id.instance().as_str(), "psf__requests-6629");
        for wrong in [
            "psf/requests",
            "psf/requests#01",
            "psf/requests#+1",
            "#1",
            "a/b/c#1",
            "../x#1",
            "a/..#1",
        ] {
            assert!(wrong.parse::<CandidateId>().is_err(), "{wrong}");
        }
        let repo = |text: &str| text.parse::<RepoName>().unwrap();
        assert!(repo("PSF/Requests").is(&repo("psf/requests")) && !repo("psf/a").is(&repo("psf/b")));
        assert!(repo("psf/a").is_called("PSF/A") && !repo("psf/a").is_called("a"));
        let sha = "d16bfe05a744909de4b27f5875fe0d4ed41ce607";
        assert_eq!(sha.parse::<CommitSha>().unwrap().to_string(), sha);
        let commit: CandidateId = format!("psf/requests@{sha}").parse().unwrap();
        assert_eq!(
            commit,
            CandidateId::of_commit(repo("psf/requests"), sha.parse().unwrap())
        );
        assert_eq!(commit.to_string(), format!("psf/requests@{sha}"));
        let wrong = format!("psf/requests@{}", sha.to_ascii_uppercase());
        assert!(wrong.parse::<CandidateId>().is_err());
        assert!("d16b".parse::<CommitSha>().is_err());
        assert!("+1".repeat(20).parse::<CommitSha>().is_err());
    }
}
