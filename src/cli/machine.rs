//! What this machine offers, read from the environment once and handed on as plain values.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::build::run::BuildSettings;
use crate::sandbox::DockerSettings;

/// The user's environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    /// Every variable whose name and value are text.
    pub variables: BTreeMap<String, String>,
}

impl Machine {
    /// Reads the environment.
    pub fn read() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self { variables }
    }

    /// What building may know of it: where programs are, and how packages are reached.
    pub fn build_settings(&self) -> BuildSettings {
        BuildSettings::of(&self.variables)
    }

    /// Where a container daemon may listen.
    pub fn docker_settings(&self) -> DockerSettings {
        DockerSettings::of(&self.variables)
    }

    /// The first program of this name on `PATH`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.variables.get("PATH")?;
        std::env::split_paths(path)
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())
    }
}
