//! Quarry builds benchmark datasets for coding agents out of real repositories, and proves that each task in them is
//! sound. A recipe goes in, a versioned manifest comes out, and every pull request ever looked at has its reason.
//!
//! ```text
//!  mirror ──► mine ──► filter ──► build ──► verify ──► filter ──► emit ──► manifests/<dataset>/<version>/
//!             every     rules on   locked    tests      rules on   rows, log,
//!             head a    git alone  environ-  before     the        locks, sums
//!             candidate            ment      and after  oracle
//!             or a                           gold
//!             decision
//!                └────────── the ledger (store) and the blobs keep what each stage found ──────────┘
//! ```
//!
//! # The law
//!
//! A record moves one way. Stages never call each other: they hand over values, and [`pipeline`] alone knows the order.
//!
//! ```text
//! domain ◄── <stage>/*.rs (pure, synchronous) ◄── <stage>/run.rs (shell) ◄── pipeline ◄── cli
//! domain ◄── git  github  sandbox  store  blobs  harness (adapters) ◄── <stage>/run.rs
//! ```
//!
//! | room | what is there |
//! |---|---|
//! | [`domain`] | the words of the field, as types |
//! | [`recipe`] | `filters/*.toml`, checked: rules in CEL over documented facts |
//! | [`mine`] [`filter`] [`strip`] [`build`] [`verify`] [`emit`] [`evaluate`] [`audit`] | the stages; each folder's page says in, out, always |
//! | [`github`] [`git`] [`sandbox`] [`store`] [`blobs`] [`columnar`] | one place for each outside thing |
//! | [`harness`] | one run of tests in a room, for every stage that runs some |
//! | [`workspace`] [`clock`] [`progress`] | what a shell works with |
//! | [`pipeline`] [`cli`] | the order of the stages, and the command line |
//!
//! `tests/it/architecture.rs` reads the sources and fails when an import goes against these arrows.

pub mod audit;
pub mod blobs;
pub mod build;
pub mod cli;
pub mod clock;
pub mod columnar;
pub mod domain;
pub mod emit;
pub mod evaluate;
pub mod filter;
pub mod git;
pub mod github;
pub mod harness;
pub mod mine;
pub mod pipeline;
pub mod progress;
pub mod recipe;
pub mod sample;
pub mod sandbox;
pub mod store;
pub mod strip;
pub mod verify;
pub mod workspace;
