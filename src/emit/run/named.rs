//! Versions that options of the command line name, not a recipe.

use camino::{Utf8Path, Utf8PathBuf};

use super::{RunError, publish};
use crate::emit::assemble::Files;
use crate::emit::versions::{self, Release};

/// Checks a version's files and puts them in the folder of its name below `manifests`; `options` are those that name it.
///
/// # Errors
/// [`RunError`]; then no version is there that was not before.
pub(super) fn publish_named(
    manifests: &Utf8Path,
    (name, version): (&str, &str),
    files: &Files,
    options: &'static str,
) -> Result<(Utf8PathBuf, Release), RunError> {
    let folder =
        versions::folder(manifests, name, version).map_err(|error| RunError::Named(error, options))?;
    let folder = camino::absolute_utf8(&folder).unwrap_or(folder);
    let release = publish(manifests, &folder, (name, version), files).map_err(|error| match error {
        RunError::Version(error) => RunError::Named(error, options),
        other => other,
    })?;
    Ok((folder, release))
}
