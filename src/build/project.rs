//! What a repository's packaging files say of it, read and never run: its name and what it is built with.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;

use super::python::PythonVersion;
use crate::domain::environment::VERSION_VARIABLES;

/// What is known of a package before anything of it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packaging {
    /// Its name as written, where a file says it in plain words.
    pub name: Option<String>,
    /// `build-system.requires`, where `pyproject.toml` has it.
    pub build_requires: Option<Vec<String>>,
    /// `build-system.build-backend`, where `pyproject.toml` has it.
    pub backend: Option<String>,
    /// Whether there is a `setup.py`.
    pub has_setup_py: bool,
    /// Whether that asks for pbr, as `OpenStack`'s do (`setup(setup_requires=["pbr"], pbr=True)`).
    pub asks_for_pbr: bool,
}

impl Packaging {
    /// Reads the packaging files of one folder; `read` gives a file of that folder.
    pub fn read(read: &dyn Fn(&str) -> Option<Vec<u8>>) -> Self {
        let text = |name: &str| read(name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let pyproject: toml::Table = text("pyproject.toml")
            .and_then(|text| text.parse().ok())
            .unwrap_or_default();
        let at = |path: &[&str]| {
            let mut value = pyproject.get(path[0])?;
            for key in &path[1..] {
                value = value.get(key)?;
            }
            Some(value)
        };
        let name_at = |path: &[&str]| at(path).and_then(toml::Value::as_str).map(str::to_owned);
        let setup_py = text("setup.py");
        let name = name_at(&["project", "name"])
            .or_else(|| name_at(&["tool", "poetry", "name"]))
            .or_else(|| name_at(&["tool", "flit", "metadata", "dist-name"]))
            .or_else(|| name_at(&["tool", "flit", "metadata", "module"]))
            .or_else(|| text("setup.cfg").and_then(|text| setup_cfg_name(&text)))
            .or_else(|| setup_py.as_deref().and_then(setup_py_name));
        let requires = at(&["build-system", "requires"]).and_then(toml::Value::as_array);
        let build_requires = requires.map(|list| {
            list.iter()
                .filter_map(toml::Value::as_str)
                .map(str::to_owned)
                .collect()
        });
        Self {
            name,
            build_requires,
            backend: name_at(&["build-system", "build-backend"]),
            asks_for_pbr: setup_py.as_deref().is_some_and(asks_for_pbr),
            has_setup_py: setup_py.is_some(),
        }
    }

    /// Whether its build tool is known not to know editable installs (PEP 660), and has the old way: setuptools learned
    /// them in 64.0.0, on 2022-08-11, when it had left Python 3.6 behind.
    pub fn only_develops(&self, date: Timestamp, python: &PythonVersion) -> bool {
        self.has_setup_py
            && self.is_setuptools()
            && (date.as_second() < 1_660_176_000 || python.release < [3, 7, 0])
    }

    /// Whether setuptools builds it, as it does what names no build tool.
    fn is_setuptools(&self) -> bool {
        let backend = self.backend.as_deref();
        backend.is_none_or(|backend| backend.split(['.', ':']).next() == Some("setuptools"))
    }

    /// Whether it names this distribution (by its normalised name) among what builds it.
    fn builds_with(&self, tool: &str) -> bool {
        let named = |line: &String| {
            let end = line.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)));
            super::lock::normalise(&line[..end.unwrap_or(line.len())]) == tool
        };
        self.build_requires.iter().flatten().any(named) || tool == "pbr" && self.asks_for_pbr
    }

    /// What its build tool needs to be there: its own list, or what every installer takes in its absence.
    pub fn build_tools(&self) -> Vec<String> {
        let mut tools = self.build_requires.clone().unwrap_or_default();
        for tool in ["setuptools", "wheel"] {
            let has = tools.iter().any(|line| {
                line.strip_prefix(tool)
                    .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c)))
            });
            if !has {
                tools.push(tool.to_owned());
            }
        }
        tools
    }
}

fn setup_cfg_name(text: &str) -> Option<String> {
    let mut section = "";
    text.lines().map(str::trim_end).find_map(|line| {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        }
        let value = line.strip_prefix("name").filter(|_| section == "metadata")?;
        let value = value.trim_start().strip_prefix(['=', ':'])?.trim();
        (!value.is_empty() && !value.contains(':')).then(|| value.to_owned())
    })
}

fn setup_py_name(text: &str) -> Option<String> {
    static NAME: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?m)^[^#\n]*\bname\s*=\s*["']([A-Za-z0-9][A-Za-z0-9._-]*)["']"#).ok());
    Some(NAME.as_ref()?.captures(text)?[1].to_owned())
}

fn asks_for_pbr(text: &str) -> bool {
    static PBR: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?m)^[^#\n]*(?:\bpbr\s*=\s*True|["']pbr\b)"#).ok());
    PBR.as_ref().is_some_and(|pbr| pbr.is_match(text))
}

/// The version to tell build tools that ask version control for one: an exported tree has no history. It is what
/// such tools say of commits after a release (`7.2.0` → `7.2.1.dev1`), so that "at least 7.2" holds.
pub fn version_after(release: Option<&str>) -> String {
    static VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?:^|[^0-9.])([0-9]+(?:\.[0-9]+)*)(?:[._-]?(dev|a|alpha|b|beta|c|rc|post)[._-]?([0-9]*))?$",
        )
        .ok()
    });
    let unknown = || "0.1.dev1".to_owned();
    let Some(found) = release.and_then(|tag| VERSION.as_ref()?.captures(tag)) else {
        return unknown();
    };
    let base = &found[1];
    let next = |text: &str| text.parse::<u64>().unwrap_or(0).saturating_add(1);
    match found.get(2).map(|kind| kind.as_str()) {
        None => {
            let (head, last) = base
                .rsplit_once('.')
                .map_or(("", base), |(head, last)| (head, last));
            let dot = if head.is_empty() { "" } else { "." };
            format!("{head}{dot}{}.dev1", next(last))
        }
        Some("dev") => format!("{base}.dev{}", next(&found[3])),
        Some("post") => format!("{base}.post{}.dev1", next(&found[3])),
        Some(kind) => {
            let kind = match kind {
                "alpha" => "a",
                "beta" => "b",
                "c" => "rc",
                kind => kind,
            };
            format!("{base}{kind}{}.dev1", next(&found[3]))
        }
    }
}

/// Variables by which build tools take a version from outside, for this package. `all` adds those that hold for every
/// package of a build, the dependencies' too; else these are there only where the package's own tools know no other.
pub fn version_variables(packaging: &Packaging, version: &str, all: bool) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    let name = packaging.name.as_deref().map(super::lock::normalise);
    if let Some(name) = &name {
        let name = name.replace('-', "_").to_uppercase();
        variables.push(format!("SETUPTOOLS_SCM_PRETEND_VERSION_FOR_{name}"));
    }
    let all = all || name.is_none();
    for (tool, variable) in VERSION_VARIABLES {
        // Under another tool's roof (scikit-build-core, hatch-vcs) setuptools_scm is not told whose version it is asked for.
        let is_told_the_name = tool == "setuptools-scm" && packaging.is_setuptools();
        let has = variables.iter().any(|known| known == variable);
        if !has && (all || packaging.builds_with(tool) && !is_told_the_name) {
            variables.push(variable.to_owned());
        }
    }
    let told = variables.into_iter();
    told.map(|variable| (variable, version.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn read(files: &[(&str, &str)]) -> Packaging {
        let files: BTreeMap<_, _> = files.iter().copied().collect();
        Packaging::read(&|name| files.get(name).map(|text| text.as_bytes().to_vec()))
    }

    #[test]
    fn a_name_is_found_where_it_is_written() {
        let name = |file: &str, text: &str| read(&[(file, text)]).name;
        assert_eq!(
            name("pyproject.toml", "[project]\nname = 'Flask'\n").as_deref(),
            Some("Flask")
        );
        assert_eq!(
            name("pyproject.toml", "[tool.poetry]\nname = 'pdm'\n").as_deref(),
            Some("pdm")
        );
        assert_eq!(
            name("setup.cfg", "[options]\nname = no\n[metadata]\nname = pytest\n").as_deref(),
            Some("pytest")
        );
        assert_eq!(
            name("setup.py", "# name='x'\nsetup(\n    name=\"requests\",\n").as_deref(),
            Some("requests")
        );
        assert_eq!(name("setup.py", "setup(name=about['__title__'])"), None);
        assert_eq!(name("pyproject.toml", "[project\n"), None);
    }

    #[test]
    fn build_tools_are_the_projects_own_and_the_usual_ones() {
        let own = read(&[(
            "pyproject.toml",
            "[build-system]\nrequires = ['setuptools>=42', 'setuptools_scm[toml]']\n",
        )]);
        assert_eq!(
            own.build_tools(),
            ["setuptools>=42", "setuptools_scm[toml]", "wheel"]
        );
        let none = read(&[("setup.py", "")]);
        assert!(none.has_setup_py);
        assert_eq!(none.build_tools(), ["setuptools", "wheel"]);
    }

    #[test]
    fn old_setuptools_only_develops() {
        let old = |files: &[(&str, &str)], date: &str, python: &str| {
            read(files).only_develops(date.parse().unwrap(), &python.parse().unwrap())
        };
        let setup = ("setup.py", "");
        let flit = (
            "pyproject.toml",
            "[build-system]\nbuild-backend = 'flit_core.buildapi'\n",
        );
        assert!(old(&[setup], "2022-08-01T00:00:00Z", "3.9.1"));
        assert!(old(&[setup], "2024-01-01T00:00:00Z", "3.6.15"));
        assert!(!old(&[setup], "2024-01-01T00:00:00Z", "3.9.1"));
        assert!(!old(&[], "2019-01-01T00:00:00Z", "3.9.1"));
        assert!(!old(&[setup, flit], "2019-01-01T00:00:00Z", "3.9.1"));
    }

    #[test]
    fn a_version_after_a_release_is_above_it() {
        let after = |tag: &str| version_after(Some(tag));
        assert_eq!(after("v2.31.0"), "2.31.1.dev1");
        assert_eq!(after("7.2.0"), "7.2.1.dev1");
        assert_eq!(after("pylint-2.3"), "2.4.dev1");
        assert_eq!(after("8.0.0.dev0"), "8.0.0.dev1");
        assert_eq!(after("3.0.0rc1"), "3.0.0rc2.dev1");
        assert_eq!(after("1.0-beta2"), "1.0b3.dev1");
        assert_eq!(after("1.0.post1"), "1.0.post2.dev1");
        assert_eq!(after("2023"), "2024.dev1");
        assert_eq!(after("nightly"), "0.1.dev1");
        assert_eq!(version_after(None), "0.1.dev1");
    }

    #[test]
    fn a_version_is_told_to_one_package_where_its_tools_can_be() {
        const GENERAL: &str = "SETUPTOOLS_SCM_PRETEND_VERSION";
        let told = |pyproject: &str, all| {
            let variables = version_variables(&read(&[("pyproject.toml", pyproject)]), "1", all);
            variables.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        let project = |backend: &str, requires: &str| {
            format!(
                "[project]\nname = 'zope.interface'\n[build-system]\nrequires = [{requires}]\nbuild-backend = '{backend}'\n"
            )
        };
        let by_name = ["SETUPTOOLS_SCM_PRETEND_VERSION_FOR_ZOPE_INTERFACE"];
        assert_eq!(
            told(
                &project("setuptools.build_meta", "'setuptools_scm[toml]>=6'"),
                false
            ),
            by_name
        );
        assert_eq!(told(&project("hatchling.build", "'hatchling'"), false), by_name);
        for (backend, requires, variable) in [
            ("hatchling.build", "'hatchling', 'hatch_vcs >=0.3'", GENERAL),
            (
                "scikit_build_core.build",
                "'scikit-build-core', 'setuptools-scm>=8'",
                GENERAL,
            ),
            ("pbr.build", "'pbr>=5.7'", "PBR_VERSION"),
            ("pdm.backend", "'pdm-backend'", "PDM_BUILD_SCM_VERSION"),
            (
                "hatchling.build",
                "'uv-dynamic-versioning'",
                "UV_DYNAMIC_VERSIONING_BYPASS",
            ),
            (
                "poetry_dynamic_versioning.backend",
                "'poetry-dynamic-versioning>=1,<2'",
                "POETRY_DYNAMIC_VERSIONING_BYPASS",
            ),
        ] {
            let told = told(&project(backend, requires), false);
            assert_eq!(told, [by_name[0], variable]);
        }
        assert!(told("", false).contains(&GENERAL.to_owned()));
        let openstack =
            "setuptools.setup(\n    name='nova',\n    setup_requires=['pbr>=2.0.0'],\n    pbr=True)\n";
        let variables = version_variables(&read(&[("setup.py", openstack)]), "1", false);
        assert!(
            variables.iter().any(|(name, _)| name == "PBR_VERSION"),
            "{variables:?}"
        );
        assert_eq!(told(&project("setuptools.build_meta", ""), true).len(), 6);
    }

    proptest! {
        #[test]
        fn nothing_makes_the_readers_panic(text in "(.|\n){0,80}", tag in ".{0,20}") {
            let _ = read(&[("pyproject.toml", &text), ("setup.cfg", &text), ("setup.py", &text)]);
            let version = version_after(Some(&tag));
            prop_assert!(version.contains("dev"));
        }
    }
}
