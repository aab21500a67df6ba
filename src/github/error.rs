//! What can go wrong with GitHub. No message holds a token, or a header.

use crate::domain::ids::RepoName;

/// A question that GitHub did not answer.
#[derive(Debug, thiserror::Error)]
pub enum GithubError {
    /// No token was given.
    #[error("ask GitHub: there is no token")]
    NoToken,
    /// A token has characters that no token has.
    #[error("use token {place} of {of} for GitHub: it has characters that no token has")]
    OddToken {
        /// Which one, from 1.
        place: usize,
        /// Of how many.
        of: usize,
    },
    /// Every token was refused.
    #[error("ask GitHub: it does not know the tokens ({of} given)")]
    BadTokens {
        /// How many were given.
        of: usize,
    },
    /// The address is none.
    #[error("use `{address}` as GitHub's API: {why}")]
    Address {
        /// The address as given.
        address: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no such repository, or the tokens may not see it.
    #[error("find the repository `{repo}` on GitHub")]
    NoRepository {
        /// The repository.
        repo: RepoName,
    },
    /// GitHub says no, and will say so again.
    #[error("ask GitHub for {what}: it says \"{message}\" ({status})")]
    Refused {
        /// What was asked.
        what: String,
        /// The HTTP status.
        status: u16,
        /// Its words, at most a line.
        message: String,
    },
    /// It did not answer, after all tries.
    #[error("ask GitHub for {what}: {tries} tries, and last {last}")]
    Unreachable {
        /// What was asked.
        what: String,
        /// How often.
        tries: u32,
        /// How the last one ended.
        last: String,
    },
    /// It is too slow for so much at once: ask for less. Batches do that by themselves.
    #[error("ask GitHub for {what}: it takes too long")]
    Slow {
        /// What was asked.
        what: String,
    },
    /// The answer is none that was asked for.
    #[error("read GitHub's answer for {what}: {why}")]
    Answer {
        /// What was asked.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// The budget is spent; what was read is kept.
    #[error("ask GitHub for {what} within the budget: {limit}")]
    Budget {
        /// What was to be asked.
        what: String,
        /// Which limit is reached.
        limit: String,
    },
    /// The user asked to stop.
    #[error("go on asking GitHub: it was stopped")]
    Stopped,
}

impl GithubError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::NoToken => {
                "set GITHUB_TOKEN (or several in GITHUB_TOKENS, separated by commas), or log in by `gh auth login`; a token \
                 without any scope reads everything that is public"
            }
            Self::OddToken { .. } => {
                "tokens stand in GITHUB_TOKENS separated by commas or spaces, and nothing else does"
            }
            Self::BadTokens { .. } => "make a new token: these have expired or were withdrawn",
            Self::Address { .. } => {
                "GitHub's is `https://api.github.com`; a GitHub Enterprise Server's is `https://HOST/api/v3`"
            }
            Self::NoRepository { .. } => {
                "look at the spelling; a private repository needs a token that may read it"
            }
            Self::Refused { .. } => {
                "look at what the tokens may do: reading public repositories needs no scope"
            }
            Self::Unreachable { .. } | Self::Slow { .. } => {
                "look at GitHub's status page, and run the same command again later: what was read is kept"
            }
            Self::Answer { .. } => {
                "is the address one of GitHub's? if it is, report this with the command you ran: the API may have changed"
            }
            Self::Budget { .. } => {
                "raise `--budget`, or wait for the next hour, and run the same command again: it goes on"
            }
            Self::Stopped => "run the same command again: it goes on",
        };
        vec![hint.to_owned()]
    }

    /// Whether this is a stop in good order: what was read is kept, and the same command goes on.
    pub fn is_pause(&self) -> bool {
        matches!(self, Self::Budget { .. } | Self::Stopped)
    }
}

impl crate::domain::advice::Advises for GithubError {
    fn advice(&self) -> Vec<String> {
        self.hints()
    }
}
