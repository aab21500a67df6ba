//! The sample: a small history of our own in which every pull request shows one outcome, carried in the binary.
//!
//! `data/sample/generate.py` writes it, and says in `data/sample/expected.toml` how each pull request must end.

/// The sample's repository, as a `git fast-import` stream.
pub const STREAM: &[u8] = include_bytes!("../data/sample/sample.fi");

/// The name the sample's repository goes by.
pub const REPOSITORY: &str = "quarry-bench/pantry";

/// A folder name from which the sample's mirror is known to be of [`REPOSITORY`].
pub const FOLDER: &str = "quarry-bench+pantry.git";

/// The recipe made for it.
pub const RECIPE: &str = include_str!("../filters/sample.toml");
