//! The words of the field as types. No input, no output, no async: everything here is a value.
//!
//! | module | words |
//! |---|---|
//! | [`ids`] | repository, commit, candidate, instance, test, rule, blob |
//! | [`path`] | a path inside a repository, as bytes |
//! | [`patch`] | file changes and the parts of a split: gold, test, docs, other |
//! | [`diff`] | a git diff read as files with their byte ranges |
//! | [`candidate`] | a merged pull request as mining found it |
//! | [`decision`] | what a rule said of a candidate, and on what evidence |
//! | [`attempt`] | one try at a stage: done, the project's fault, or the outside's |
//! | [`environment`] | an interpreter and locked dependencies |
//! | [`image`] | which image a container begins from |
//! | [`images`] | which images were made of a version's instances |
//! | [`outcome`] | what happened to a test in a run |
//! | [`oracle`] | FAIL_TO_PASS, PASS_TO_PASS, flaky tests and the rest |
//! | [`strength`] | what of a gold patch its FAIL_TO_PASS run and notice |
//! | [`rate`] | how often a test passed, with its bounds |
//! | [`decimal`] | a number that is kept in whole parts of one |
//! | [`event`] | what a running stage tells whoever watches |
//! | [`variant`] | a variant of a commit's tree, as it was made |
//! | [`notes`] | what release notes tell of a pull request |
//! | [`history`] | commits and tree changes as git tells them |
//! | [`forge`] | what a forge says of repositories, pull requests, issues and releases |
//! | [`enriched`] | a candidate with what the forge says of it |
//! | [`runner_files`] | names of files that have a say in how tests run |
//! | [`settings`] | the files in which projects write their settings, with their lines |
//! | [`hash`] | content hashes and keys |
//! | [`licence`] | the licence that a repository's own files name |
//! | [`address`] | an address as it may be shown |
//! | [`base64`] | bytes as text |
//! | [`charset`] | documents of other encodings as text |

pub mod address;
pub mod advice;
pub mod attempt;
pub mod base64;
pub mod candidate;
pub mod charset;
pub mod count;
pub mod decimal;
pub mod decision;
pub mod diff;
pub mod enriched;
pub mod environment;
pub mod event;
pub mod forge;
pub mod hash;
pub mod history;
pub mod ids;
pub mod image;
pub mod images;
pub mod licence;
pub mod notes;
pub mod oracle;
pub mod outcome;
pub mod patch;
pub mod path;
pub mod rate;
pub mod runner_files;
pub mod settings;
pub mod strength;
pub mod test_name;
pub mod text;
pub mod variant;
