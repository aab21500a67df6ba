//! What this machine offers, read from the environment once and handed on as plain values.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use secrecy::SecretString;

use super::error::CliError;
use crate::build::python::choose;
use crate::build::run::BuildSettings;
use crate::recipe::python::PythonSpec;
use crate::sandbox::DockerSettings;

/// Variables that hold tokens, in the order in which they are used.
const TOKENS: [&str; 3] = ["GITHUB_TOKENS", "GITHUB_TOKEN", "GH_TOKEN"];

fn is_between(c: char) -> bool {
    c == ',' || c.is_whitespace()
}

/// The user's environment. It may hold secrets, so it cannot be shown.
#[derive(Clone, Default, PartialEq, Eq)]
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

    /// Where GitHub's tokens come from, with how many new ones each variable names; their values are in nothing of it.
    pub fn github_token_sources(&self) -> Vec<(&'static str, usize)> {
        let mut seen: Vec<&str> = Vec::new();
        let mut sources = vec![];
        for name in TOKENS {
            let list = self.variables.get(name).map_or("", String::as_str);
            let before = seen.len();
            for text in list.split(is_between) {
                if !text.is_empty() && !seen.contains(&text) {
                    seen.push(text);
                }
            }
            if seen.len() > before {
                sources.push((name, seen.len() - before));
            }
        }
        sources
    }

    /// GitHub's tokens: those of `GITHUB_TOKENS` (separated by commas or spaces), `GITHUB_TOKEN` and `GH_TOKEN`, each
    /// once; where there is none, the one that `gh auth token` tells of this host.
    pub fn github_tokens(&self, host: &str) -> Vec<SecretString> {
        let named = TOKENS.map(|name| self.variables.get(name));
        let mut texts: Vec<&str> = Vec::new();
        for text in named
            .into_iter()
            .flatten()
            .flat_map(|list| list.split(is_between))
        {
            if !text.is_empty() && !texts.contains(&text) {
                texts.push(text);
            }
        }
        if !texts.is_empty() {
            return texts.into_iter().map(SecretString::from).collect();
        }
        let told = self.program("gh").and_then(|gh| {
            let mut command = Command::new(gh);
            command
                .args(["auth", "token", "--hostname", host])
                .stdin(Stdio::null());
            command.output().ok().filter(|output| output.status.success())
        });
        let told = told.and_then(|output| String::from_utf8(output.stdout).ok());
        let token = told
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty());
        token.into_iter().map(SecretString::from).collect()
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
