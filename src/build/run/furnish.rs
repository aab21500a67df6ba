//! An environment as test runs get it.

use std::path::Path;

use super::Built;
use crate::build::error::BuildError;
use crate::sandbox::{FurnishError, Furnishing, Toolchain};

impl Furnishing for Built {
    fn toolchain(&self, tree: &Path) -> Result<Toolchain, FurnishError> {
        Self::toolchain(self, tree).map_err(words)
    }

    fn lay_products(&self, tree: &Path) -> Result<(), FurnishError> {
        Self::lay_products(self, tree).map_err(words)
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "an error is handed over, as `map_err` does"
)]
fn words(error: BuildError) -> FurnishError {
    FurnishError {
        message: error.to_string(),
        hints: error.hints(),
    }
}
