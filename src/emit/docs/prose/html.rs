//! What a reader reads of HTML: what stands between tags.

use std::ops::Range;

/// Elements whose content nobody reads, each with its end.
const SILENT: &[(&str, &str)] = &[("script", "</script>"), ("style", "</style>")];
/// What opens and closes a comment.
const COMMENT: &[(&str, &str)] = &[("<!--", "-->")];
/// What opens and closes a template's instructions.
const TEMPLATE: &[(&str, &str)] = &[("{%", "%}"), ("{{", "}}"), ("{#", "#}")];

/// Reads HTML line by line.
#[derive(Debug, Default)]
pub(super) struct Html {
    /// Whether it is a page of HTML, where each `<` opens a tag, and no other document with some tags in it.
    is_page: bool,
    /// What ends that which is open and not read.
    until: Option<&'static str>,
}

impl Html {
    /// A page, or a template of one.
    pub(super) fn page() -> Self {
        Self {
            is_page: true,
            until: None,
        }
    }

    /// Whether something is open that is not read.
    pub(super) fn is_open(&self) -> bool {
        self.until.is_some()
    }

    /// Takes a blank line: in a document with some tags, a tag that is open was none.
    pub(super) fn end_paragraph(&mut self) {
        if self.until == Some(">") && !self.is_page {
            self.until = None;
        }
    }

    /// What is read in the next line; the stretches of `code` stand as they are.
    pub(super) fn read(&mut self, line: &str, code: &[Range<usize>]) -> String {
        let mut said = String::new();
        let mut at = 0;
        while at < line.len() {
            let rest = &line[at..];
            if let Some(end) = self.until {
                let Some(found) = find(rest, end) else { break };
                self.until = None;
                at += found + end.len();
                said.push(' ');
            } else if let Some(span) = code.iter().find(|span| span.start == at && span.end > at) {
                said.push_str(&line[span.clone()]);
                at = span.end;
            } else if let Some((length, end)) = self.opened(rest, line[..at].trim().is_empty()) {
                self.until = Some(end);
                at += length;
            } else if let Some((length, sign)) = entity(rest) {
                said.push(sign);
                at += length;
            } else {
                let plain = rest
                    .char_indices()
                    .skip(1)
                    .find(|(_, c)| matches!(c, '<' | '&' | '{' | '`'));
                let length = plain.map_or(rest.len(), |(length, _)| length);
                said.push_str(&rest[..length]);
                at += length;
            }
        }
        said
    }

    /// The length of what opens something that is not read, and what ends that.
    fn opened(&self, rest: &str, is_first: bool) -> Option<(usize, &'static str)> {
        let template = if self.is_page { TEMPLATE } else { &[] };
        for &(open, end) in template.iter().chain(COMMENT) {
            if rest.starts_with(open) {
                return Some((open.len(), end));
            }
        }
        let inner = rest.strip_prefix('<')?;
        if self.is_page && inner.starts_with(['!', '?']) {
            return Some((2, ">"));
        }
        let name = inner.strip_prefix('/').unwrap_or(inner);
        let after = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
        let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && (after.is_empty() || after.starts_with(|c: char| c.is_whitespace() || c == '/' || c == '>'));
        if !is_tag || !(self.is_page || is_first || rest.contains('>')) {
            return None;
        }
        let length = rest.len() - after.len();
        let name = &name[..name.len() - after.len()];
        let silent = SILENT
            .iter()
            .find(|(silent, _)| silent.eq_ignore_ascii_case(name) && !inner.starts_with('/'));
        Some((length, silent.map_or(">", |(_, end)| *end)))
    }
}

fn find(text: &str, end: &str) -> Option<usize> {
    if end.starts_with("</") {
        text.to_ascii_lowercase().find(end)
    } else {
        text.find(end)
    }
}

/// The length of a character that is written by its name (`&nbsp;`), and a sign in its place.
fn entity(rest: &str) -> Option<(usize, char)> {
    let name = rest.strip_prefix('&')?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '#')?;
    let sign = match &name[..end] {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        _ => ' ',
    };
    (end > 0 && name[end..].starts_with(';')).then_some((end + 2, sign))
}
