//! What this machine offers, read from the environment once and handed on as plain values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Variables that builds (and only builds) may see: where packages come from, and how to reach them.
const BUILD_VARIABLES: &[&str] = &[
    "ALL_PROXY",
    "CURL_CA_BUNDLE",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "PIP_CERT",
    "PIP_EXTRA_INDEX_URL",
    "PIP_INDEX_URL",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_HTTP_TIMEOUT",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_INSECURE_HOST",
    "UV_NATIVE_TLS",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// What this machine offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    /// The folders of `PATH`, in order.
    pub path: Vec<PathBuf>,
    /// Folders that may hold Python interpreters, in order of preference, real ones before shims.
    pub interpreter_folders: Vec<PathBuf>,
    /// Index and proxy settings for builds; never for tests, locks or manifests.
    pub build_env: BTreeMap<String, String>,
}

impl Machine {
    /// Reads the environment.
    #[expect(
        clippy::disallowed_methods,
        reason = "the command line is where the environment is read"
    )]
    pub fn read() -> Self {
        let path: Vec<PathBuf> = std::env::var_os("PATH")
            .map(|path| std::env::split_paths(&path).collect())
            .unwrap_or_default();
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let pyenv = std::env::var_os("PYENV_ROOT")
            .map(PathBuf::from)
            .or_else(|| home.as_ref().map(|home| home.join(".pyenv")));
        let mut interpreter_folders = Vec::new();
        if let Some(pyenv) = &pyenv {
            interpreter_folders.extend(version_folders(&pyenv.join("versions")));
        }
        if let Some(home) = &home {
            interpreter_folders.extend(version_folders(&home.join(".local/share/uv/python")));
        }
        let shims = pyenv.map(|pyenv| pyenv.join("shims"));
        interpreter_folders.extend(
            path.iter()
                .filter(|folder| Some(*folder) != shims.as_ref())
                .cloned(),
        );
        let build_env = BUILD_VARIABLES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
            .collect();
        Self {
            path,
            interpreter_folders,
            build_env,
        }
    }

    /// The first program of this name on `PATH`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        self.path
            .iter()
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())
    }
}

/// The `bin` folders of every installation below `folder`, by name.
fn version_folders(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = folder
        .read_dir()
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|bin| bin.is_dir())
        .collect();
    found.sort();
    found
}
