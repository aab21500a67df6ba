//! Ini files as Python's `configparser` reads them (`setup.cfg`, `tox.ini`, `pytest.ini`), with line numbers.

use super::Line;

/// A file's sections, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ini {
    pub(crate) sections: Vec<Section>,
}

/// A section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) line: u32,
    pub(crate) entries: Vec<Entry>,
}

/// A key and the lines of its value; empty lines and comments are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) line: u32,
    pub(crate) lines: Vec<Line>,
}

impl Entry {
    /// The value in one line.
    pub(crate) fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        lines.join(" ")
    }
}

impl Section {
    /// The entry of this key; keys are compared without case, as `configparser` does.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

impl Ini {
    /// Reads a file; `file` is its name in line numbers.
    pub(crate) fn read(text: &str, file: &str, first_line: u32) -> Self {
        let mut sections: Vec<Section> = Vec::new();
        for (number, raw) in (first_line..).zip(text.lines()) {
            let line = raw.trim_end();
            let inner = line.trim_start();
            if inner.is_empty() || inner.starts_with(['#', ';']) {
                continue;
            }
            // What is indented goes on with the value above, if there is one.
            let entry = sections.last_mut().and_then(|section| section.entries.last_mut());
            match entry {
                Some(entry) if inner.len() < line.len() => {
                    entry.lines.push(Line::new(without_comment(inner), file, number));
                    continue;
                }
                _ => {}
            }
            if let Some(name) = inner.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                sections.push(Section {
                    name: name.0.trim().to_owned(),
                    line: number,
                    entries: vec![],
                });
            } else if let (Some(section), Some(at)) = (sections.last_mut(), inner.find(['=', ':'])) {
                let value = without_comment(inner[at + 1..].trim());
                let value = Some(value).filter(|value| !value.is_empty());
                section.entries.push(Entry {
                    key: inner[..at].trim().to_ascii_lowercase(),
                    line: number,
                    lines: value
                        .map(|value| Line::new(value, file, number))
                        .into_iter()
                        .collect(),
                });
            }
        }
        Self { sections }
    }

    /// The section of this name.
    pub(crate) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }
}

/// A value without the comment behind it: ` #` starts one for tox and pip, and no value here needs the sign.
fn without_comment(value: &str) -> &str {
    value
        .split_once(" #")
        .map_or(value, |(value, _)| value.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_go_on_and_lines_are_counted() {
        let text = "# top\n[tool:pytest]\naddopts = -ra\n  # no\n  --cov  # why\n\nTestPaths: tests\n[x]\nempty =\n  a=1\n";
        let ini = Ini::read(text, "setup.cfg", 1);
        let section = ini.section("tool:pytest").unwrap();
        assert_eq!(section.get("addopts").unwrap().text(), "-ra --cov");
        assert_eq!(
            section.get("addopts").unwrap().lines[1],
            Line::new("--cov", "setup.cfg", 5)
        );
        assert_eq!(section.get("testpaths").unwrap().line, 7);
        assert_eq!(ini.section("x").unwrap().get("empty").unwrap().text(), "a=1");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "(\\[|\\]|=|:|#| |\t|\r|\n|[a-zé]){0,60}") {
            let _ = Ini::read(&text, "f", 1);
        }
    }
}
