//! pytest's own settings, from the file that pytest itself would take.

use super::Place;
use super::ini::Ini;
use super::value::{Kind, Value, read_toml};

/// A file that may hold pytest's settings.
struct Source {
    file: &'static str,
    /// The section, or the path of a TOML table.
    table: &'static [&'static str],
    /// Whether it is pytest's file even when it has none ("Configuration file formats", pytest's reference).
    is_own: bool,
}

/// The files in pytest's order.
const SOURCES: [Source; 9] = [
    own("pytest.toml"),
    own(".pytest.toml"),
    own("pytest.ini"),
    own(".pytest.ini"),
    shared("pyproject.toml", &["tool", "pytest", "ini_options"]),
    shared("pyproject.toml", &["tool", "pytest"]),
    shared("tox.ini", &["pytest"]),
    shared("setup.cfg", &["tool:pytest"]),
    // Until pytest 4.
    shared("setup.cfg", &["pytest"]),
];

const fn own(file: &'static str) -> Source {
    Source {
        file,
        table: &["pytest"],
        is_own: true,
    }
}

const fn shared(file: &'static str, table: &'static [&'static str]) -> Source {
    Source {
        file,
        table,
        is_own: false,
    }
}

/// The settings of pytest in one file.
#[derive(Debug, Clone)]
pub(crate) struct PytestSettings {
    /// Where they begin.
    pub(crate) place: Place,
    /// In the file's order.
    pub(crate) settings: Vec<Setting>,
}

/// A setting.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// In lower case.
    pub(crate) key: String,
    /// One a line, or one a member of a list.
    pub(crate) values: Vec<String>,
    pub(crate) place: Place,
    /// Whether each value is one word, as TOML's lists have them.
    pub(crate) is_list: bool,
}

impl PytestSettings {
    /// Those that pytest would take; `read` gives a file's text. A file that is not to be read as what it is has none.
    pub(crate) fn read(read: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        SOURCES.iter().find_map(|source| {
            let text = read(source.file)?;
            let found = if source.file.strip_suffix(".toml").is_some() {
                let document = read_toml(&text).ok();
                document.and_then(|document| Some(Self::of_table(document.at(source.table)?, source.file)))
            } else {
                Self::of_ini(&text, source)
            };
            found.or_else(|| {
                source.is_own.then(|| Self {
                    place: Place::file(source.file),
                    settings: vec![],
                })
            })
        })
    }

    /// The setting of this name, in lower case.
    pub(crate) fn get(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    fn of_ini(text: &str, source: &Source) -> Option<Self> {
        let ini = Ini::read(text, source.file, 1);
        let section = ini.section(source.table.first()?)?;
        let settings = section.entries.iter().map(|entry| Setting {
            key: entry.key.clone(),
            values: entry.lines.iter().map(|line| line.text.clone()).collect(),
            place: Place::new(source.file, entry.line),
            is_list: false,
        });
        Some(Self {
            place: Place::new(source.file, section.line),
            settings: settings.collect(),
        })
    }

    fn of_table(table: &Value, file: &str) -> Self {
        let settings = table
            .entries()
            .filter(|(_, _, value)| !matches!(value.kind, Kind::Table(_)));
        Self {
            place: Place::new(file, table.line),
            settings: settings
                .map(|(key, line, value)| Setting {
                    key: key.to_ascii_lowercase(),
                    values: value.texts().map(|(text, _)| text.to_owned()).collect(),
                    place: Place::new(file, line),
                    is_list: matches!(value.kind, Kind::List(_)),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of the settings, and the value of `addopts`.
    fn of(files: &[(&str, &str)]) -> Option<(String, Option<String>)> {
        let found = PytestSettings::read(&|name| {
            let found = files.iter().find(|(file, _)| *file == name);
            found.map(|(_, text)| (*text).to_owned())
        })?;
        let options = found.get("addopts").map(|setting| setting.values.join("|"));
        Some((found.place.to_string(), options))
    }

    #[test]
    fn the_first_file_with_settings_counts() {
        let setup = ("setup.cfg", "[flake8]\n[tool:pytest]\naddopts = -ra\n");
        let is = |files: &[(&str, &str)], place: &str, options: Option<&str>| {
            let found = Some((place.to_owned(), options.map(str::to_owned)));
            assert_eq!(of(files), found);
        };
        is(&[setup], "setup.cfg:2", Some("-ra"));
        is(
            &[setup, ("pyproject.toml", "[tool.black]\n")],
            "setup.cfg:2",
            Some("-ra"),
        );
        is(
            &[setup, ("pyproject.toml", "[tool\n")],
            "setup.cfg:2",
            Some("-ra"),
        );
        is(
            &[setup, ("tox.ini", "[tox]\nenvlist = py\n")],
            "setup.cfg:2",
            Some("-ra"),
        );
        is(
            &[setup, ("tox.ini", "[pytest]\naddopts = -q\n")],
            "tox.ini:1",
            Some("-q"),
        );
        // pytest's own files are taken as they are.
        is(&[setup, ("pytest.ini", "")], "pytest.ini", None);
        is(&[setup, (".pytest.toml", "[other]\n")], ".pytest.toml", None);
        is(
            &[
                setup,
                ("pyproject.toml", "[tool.pytest]\nAddopts = ['-q', '-x']\n"),
            ],
            "pyproject.toml:1",
            Some("-q|-x"),
        );
        is(
            &[("setup.cfg", "[pytest]\naddopts =\n  -q\n  -x\n")],
            "setup.cfg:1",
            Some("-q|-x"),
        );
        assert_eq!(of(&[("setup.cfg", "[metadata]\n")]), None);
    }
}
