//! GitHub, as far as git cannot tell: repository facts, pull requests, issues with their comments, releases.
//!
//! - **In:** names and numbers, tokens, a budget. **Out:** the domain's values, and what they cost.
//! - **Always:** GraphQL in batches, REST only where GraphQL has no answer; a reply that came in part is asked again, never
//!   kept; what the forge will not show is a value of its own, not an error; no token is in an error, an event or a log.
//!
//! | module | what it knows |
//! |---|---|
//! | [`address`] | where the API is, and where git clones from |
//! | [`client`] | one request after the other: which token, how long to wait, when to give up |
//! | [`graphql`] | the queries |
//! | [`reply`] | what GraphQL answers, read into the domain's values |
//! | [`timeline`] | who closed an issue |
//! | [`ask`] | what can be asked: batches that shrink when the forge is slow |
//! | [`rest`] | what only REST answers: what became of an issue's number, and what changed since |
//! | [`budget`] | points and requests, of the whole run and of each token |
//! | [`retry`] | what a bad answer means |
//! | [`error`] | what can go wrong |

pub mod address;
pub mod ask;
pub mod budget;
pub mod client;
pub mod error;
pub mod graphql;
pub mod reply;
pub mod rest;
pub mod retry;
pub mod timeline;

pub use budget::{Budget, Spent};
pub use client::{Client, Settings};
pub use error::GithubError;
