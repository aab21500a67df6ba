//! What pytest itself is asked for: its configuration, the options that must stay, and the plugins that options,
//! settings, marks and fixtures show to be needed. One table for all projects.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::proposal::{Origin, Tree};
use crate::domain::settings::Place;
use crate::domain::settings::pytest::{PytestSettings, Setting};

/// A sign that a plugin is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// An option (`--cov`, `-n`).
    Option(&'static str),
    /// A setting of the configuration.
    Setting(&'static str),
    /// `pytest.mark.<name>`.
    Mark(&'static str),
    /// A parameter of a test.
    Fixture(&'static str),
}

/// Signs and the distributions that stand behind them.
const PLUGINS: &[(Sign, &str)] = &[
    (Sign::Option("--cov"), "pytest-cov"),
    (Sign::Option("--no-cov"), "pytest-cov"),
    (Sign::Option("--cov-report"), "pytest-cov"),
    (Sign::Option("-n"), "pytest-xdist"),
    (Sign::Option("--numprocesses"), "pytest-xdist"),
    (Sign::Option("--dist"), "pytest-xdist"),
    (Sign::Option("--timeout"), "pytest-timeout"),
    (Sign::Option("--reruns"), "pytest-rerunfailures"),
    (Sign::Option("--benchmark-disable"), "pytest-benchmark"),
    (Sign::Option("--benchmark-skip"), "pytest-benchmark"),
    (Sign::Option("--asyncio-mode"), "pytest-asyncio"),
    (Sign::Option("--ds"), "pytest-django"),
    (Sign::Option("--reuse-db"), "pytest-django"),
    (Sign::Option("--mypy"), "pytest-mypy"),
    (Sign::Option("--flake8"), "pytest-flake8"),
    (Sign::Option("--disable-socket"), "pytest-socket"),
    (Sign::Option("--random-order"), "pytest-random-order"),
    (Sign::Option("--snapshot-update"), "syrupy"),
    (Sign::Option("--doctest-plus"), "pytest-doctestplus"),
    (Sign::Setting("asyncio_mode"), "pytest-asyncio"),
    (
        Sign::Setting("asyncio_default_fixture_loop_scope"),
        "pytest-asyncio",
    ),
    (Sign::Setting("timeout"), "pytest-timeout"),
    (Sign::Setting("timeout_method"), "pytest-timeout"),
    (Sign::Setting("django_settings_module"), "pytest-django"),
    (Sign::Setting("qt_api"), "pytest-qt"),
    (Sign::Setting("mock_use_standalone_module"), "pytest-mock"),
    (Sign::Setting("env"), "pytest-env"),
    (Sign::Setting("remote_data_strict"), "pytest-remotedata"),
    (Sign::Setting("doctest_plus"), "pytest-doctestplus"),
    (Sign::Setting("trio_mode"), "pytest-trio"),
    (Sign::Setting("twisted"), "pytest-twisted"),
    (Sign::Setting("reruns"), "pytest-rerunfailures"),
    (Sign::Mark("asyncio"), "pytest-asyncio"),
    (Sign::Mark("anyio"), "anyio"),
    (Sign::Mark("trio"), "pytest-trio"),
    (Sign::Mark("django_db"), "pytest-django"),
    (Sign::Mark("timeout"), "pytest-timeout"),
    (Sign::Mark("flaky"), "pytest-rerunfailures"),
    (Sign::Mark("vcr"), "pytest-recording"),
    (Sign::Mark("freeze_time"), "pytest-freezer"),
    (Sign::Mark("benchmark"), "pytest-benchmark"),
    (Sign::Mark("remote_data"), "pytest-remotedata"),
    (Sign::Mark("mpl_image_compare"), "pytest-mpl"),
    (Sign::Mark("datafiles"), "pytest-datafiles"),
    (Sign::Mark("httpx_mock"), "pytest-httpx"),
    (Sign::Fixture("mocker"), "pytest-mock"),
    (Sign::Fixture("class_mocker"), "pytest-mock"),
    (Sign::Fixture("module_mocker"), "pytest-mock"),
    (Sign::Fixture("session_mocker"), "pytest-mock"),
    (Sign::Fixture("httpbin"), "pytest-httpbin"),
    (Sign::Fixture("httpbin_secure"), "pytest-httpbin"),
    (Sign::Fixture("httpserver"), "pytest-httpserver"),
    (Sign::Fixture("benchmark"), "pytest-benchmark"),
    (Sign::Fixture("requests_mock"), "requests-mock"),
    (Sign::Fixture("httpx_mock"), "pytest-httpx"),
    (Sign::Fixture("respx_mock"), "respx"),
    (Sign::Fixture("aiohttp_client"), "pytest-aiohttp"),
    (Sign::Fixture("aioresponses"), "aioresponses"),
    (Sign::Fixture("freezer"), "pytest-freezer"),
    (Sign::Fixture("fs"), "pyfakefs"),
    (Sign::Fixture("faker"), "Faker"),
    (Sign::Fixture("datadir"), "pytest-datadir"),
    (Sign::Fixture("shared_datadir"), "pytest-datadir"),
    (Sign::Fixture("data_regression"), "pytest-regressions"),
    (Sign::Fixture("file_regression"), "pytest-regressions"),
    (Sign::Fixture("num_regression"), "pytest-regressions"),
    (Sign::Fixture("subtests"), "pytest-subtests"),
    (Sign::Fixture("qtbot"), "pytest-qt"),
    (Sign::Fixture("qapp"), "pytest-qt"),
    (Sign::Fixture("django_assert_num_queries"), "pytest-django"),
    (Sign::Fixture("django_user_model"), "pytest-django"),
    (Sign::Fixture("mailoutbox"), "pytest-django"),
    (Sign::Fixture("rf"), "pytest-django"),
    (Sign::Fixture("admin_client"), "pytest-django"),
    (Sign::Fixture("script_runner"), "pytest-console-scripts"),
    (Sign::Fixture("postgresql"), "pytest-postgresql"),
    (Sign::Fixture("redisdb"), "pytest-redis"),
    (Sign::Fixture("snapshot"), "syrupy"),
    (Sign::Fixture("localserver"), "pytest-localserver"),
    (Sign::Fixture("smtpserver"), "pytest-localserver"),
    (Sign::Fixture("fp"), "pytest-subprocess"),
    (Sign::Fixture("fake_process"), "pytest-subprocess"),
    (Sign::Fixture("lazy_datadir"), "pytest-datadir"),
];

/// What pytest is asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Needs {
    /// Whether the project configures pytest, and where.
    pub(super) configured: Option<Place>,
    /// Options of `addopts` that stay.
    pub(super) kept: Vec<(Vec<String>, Place)>,
    /// Those that are left out and may matter.
    pub(super) dropped: Vec<(String, Place)>,
    /// Distributions that must be there, and why.
    pub(super) plugins: Vec<(String, Origin)>,
    /// A setting that asks for a version of pytest.
    pub(super) least: Option<(String, Place)>,
}

/// Reads what pytest is asked for by the tree.
pub(super) fn read(tree: &Tree<'_>) -> Needs {
    let mut needs = Needs::default();
    let mut words: Vec<(String, Place)> = Vec::new();
    if let Some(config) = PytestSettings::read(&|file| tree.text(file)) {
        for Setting {
            key,
            values,
            place,
            is_list,
        } in &config.settings
        {
            needs.setting(key, values, place);
            if key == "addopts" {
                let own: Vec<String> = if *is_list {
                    values.clone()
                } else {
                    values
                        .iter()
                        .flat_map(|value| super::shell::words(value))
                        .collect()
                };
                needs.keep(&own, place);
                words.extend(own.into_iter().map(|word| (word, place.clone())));
            }
        }
        needs.configured = Some(config.place);
    }
    needs.options(&words);
    sources(tree, &mut needs);
    needs
}

impl Needs {
    /// Takes in the arguments that pytest is run with.
    pub(super) fn options(&mut self, words: &[(String, Place)]) {
        for (word, place) in words {
            let (option, _) = word.split_once('=').unwrap_or((word, ""));
            let option = if option.starts_with("-n") && !option.starts_with("--") {
                "-n"
            } else {
                option
            };
            self.sign(Sign::Option, option, place);
        }
    }

    fn sign(&mut self, of: fn(&'static str) -> Sign, name: &str, place: &Place) {
        let found = PLUGINS.iter().find(|(sign, _)| match (sign, of("")) {
            (Sign::Option(known), Sign::Option(_))
            | (Sign::Setting(known), Sign::Setting(_))
            | (Sign::Mark(known), Sign::Mark(_))
            | (Sign::Fixture(known), Sign::Fixture(_)) => *known == name,
            _ => false,
        });
        let Some((sign, distribution)) = found else { return };
        let why = match sign {
            Sign::Option(_) => format!("the option `{name}` is its"),
            Sign::Setting(_) => format!("the setting `{name}` is its"),
            Sign::Mark(_) => format!("the mark `{name}` is its"),
            Sign::Fixture(_) => format!("the fixture `{name}` is its"),
        };
        self.plugin(distribution, place, &why);
    }

    fn plugin(&mut self, distribution: &str, place: &Place, why: &str) {
        if self.plugins.iter().all(|(known, _)| known != distribution) {
            let origin = Origin {
                what: format!("install {distribution}"),
                place: Some(place.clone()),
                why: format!("{why}, and no requirement brings it"),
            };
            self.plugins.push((distribution.to_owned(), origin));
        }
    }

    fn setting(&mut self, key: &str, values: &[String], place: &Place) {
        match key {
            "minversion" => {
                let version = values
                    .first()
                    .filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
                self.least = version.map(|version| (format!("pytest>={version}"), place.clone()));
            }
            "required_plugins" => {
                for requirement in values.iter().flat_map(|value| value.split_ascii_whitespace()) {
                    if super::requirement::is_requirement(requirement) {
                        self.plugin(requirement, place, "`required_plugins` names it");
                    }
                }
            }
            key => self.sign(Sign::Setting, key, place),
        }
    }

    /// Takes what stays of `addopts`.
    fn keep(&mut self, words: &[String], place: &Place) {
        let sorted = super::options::of_pytest(words);
        self.kept
            .extend(sorted.kept.into_iter().map(|words| (words, place.clone())));
        self.dropped
            .extend(sorted.dropped.into_iter().map(|word| (word, place.clone())));
    }
}

/// Whether a file is one that pytest reads tests or fixtures from, by its name.
pub(super) fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".py");
    stem.is_some_and(|stem| stem == "conftest" || stem.starts_with("test_") || stem.ends_with("_test"))
}

/// Marks and fixtures in test files. What the project defines itself needs no plugin.
fn sources(tree: &Tree<'_>, needs: &mut Needs) {
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"pytest\.mark\.(?P<mark>\w+)|(?m:^[ \t]*(?:async[ \t]+)?def[ \t]+(?P<def>\w+)\((?P<of>[^)]*)\))|(?m:^[ \t]*@pytest\.fixture|^[ \t]*@fixture)|name=[\x22'](?P<name>\w+)").ok()
    });
    let Some(words) = WORDS.as_ref() else { return };
    let mut own = BTreeSet::new();
    let mut seen: Vec<(bool, String, Place)> = Vec::new();
    let mut known = BTreeSet::new();
    for path in tree
        .names_of()
        .filter(|path| is_test_file(path) || may_define(path))
    {
        let Some(text) = tree.text(path) else { continue };
        let text = without_long_strings(&text);
        let is_test = is_test_file(path);
        for found in words.captures_iter(&text) {
            let at = found.get(0).map_or(0, |all| all.start());
            let mut note = |is_mark: bool, name: &str| {
                if is_test && known.insert((is_mark, name.to_owned())) {
                    let line = text[..at].matches('\n').count() + 1;
                    let place = Place::new(path, u32::try_from(line).unwrap_or(u32::MAX));
                    seen.push((is_mark, name.to_owned(), place));
                }
            };
            if let Some(mark) = found.name("mark") {
                note(true, mark.as_str());
            }
            if let Some(name) = found.name("def").or_else(|| found.name("name")) {
                own.insert(name.as_str().to_owned());
            }
            let takes = found
                .name("def")
                .is_some_and(|name| name.as_str().starts_with("test"));
            for parameter in found
                .name("of")
                .filter(|_| takes)
                .into_iter()
                .flat_map(|of| of.as_str().split(','))
            {
                let name = parameter.split([':', '=']).next().unwrap_or("").trim();
                note(false, name);
            }
        }
    }
    for (is_mark, name, place) in seen {
        if is_mark {
            needs.sign(Sign::Mark, &name, &place);
        } else if !own.contains(&name) {
            needs.sign(Sign::Fixture, &name, &place);
        }
    }
}

/// Whether a file may define fixtures for tests, by its name.
fn may_define(path: &str) -> bool {
    let is_python = path.rsplit('.').next() == Some("py");
    is_python
        && ["plugin", "fixture", "pytest", "testing"]
            .iter()
            .any(|word| path.contains(word))
}

/// The text with what stands between three quotes left out, its lines kept: tests hold other tests as text.
fn without_long_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\"\"\"").into_iter().chain(rest.find("'''")).min() {
        let quote = &rest[at..at + 3];
        out.push_str(&rest[..at]);
        let inner = &rest[at + 3..];
        let end = inner.find(quote).unwrap_or(inner.len());
        out.extend(inner[..end].matches('\n'));
        rest = inner.get(end + 3..).unwrap_or("");
    }
    out.push_str(rest);
    out
}
