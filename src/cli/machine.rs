//! What this machine offers, read from the environment once and handed on as plain values.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::error::CliError;
use crate::build::python::choose;
use crate::build::run::BuildSettings;
use crate::recipe::python::PythonSpec;
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

    /// Has uv install interpreters of these versions where none is here: into uv's own place, where they are found.
    ///
    /// # Errors
    /// When uv is missing or cannot bring one; it says why. Those before it stay.
    pub fn install_pythons(&self, wanted: &[PythonSpec]) -> Result<(), CliError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let settings = self.build_settings();
        let mut here = settings.search.interpreters();
        for version in wanted {
            if choose(version, &here).is_some() {
                continue;
            }
            let name = version.to_string();
            let failed = |why: &str| {
                let hints = vec![
                    "`uv python list` tells what uv can install; it gets them over the network".to_owned(),
                    "or install it by other means: pyenv, your system's packages".to_owned(),
                ];
                CliError::machine(format!("install Python {name} by uv: {}", why.trim()), hints)
            };
            let uv = settings
                .search
                .uv()
                .map_err(|error| CliError::machine(error.to_string(), error.hints()))?;
            let installed = Command::new(uv)
                .args(["python", "install", "--no-bin", "--no-progress", &name])
                .stdin(Stdio::null())
                .output()
                .map_err(|error| failed(&error.to_string()))?;
            if !installed.status.success() {
                return Err(failed(&String::from_utf8_lossy(&installed.stderr)));
            }
            here = settings.search.interpreters();
            if choose(version, &here).is_none() {
                return Err(failed(
                    "it is installed and was not found; is UV_PYTHON_INSTALL_DIR set?",
                ));
            }
        }
        Ok(())
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
