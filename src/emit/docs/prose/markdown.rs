//! What a reader reads of Markdown, with the directives and blocks that builders of documentation know there.

use super::html::Html;
use super::rst::{Reading, Rst, is_field};
use crate::emit::docs::code::{Markup, Side, backticks, fence, is_code};

/// What is read in each line of a document.
pub(super) fn read(text: &str) -> Vec<String> {
    let head = front_matter(text);
    let mut reader = Markdown::default();
    let lines = text.lines().enumerate().map(|(place, line)| {
        if place < head {
            String::new()
        } else {
            reader.read(line)
        }
    });
    lines.collect()
}

/// How many lines at a document's head are about it: `---`, settings, `---`.
fn front_matter(text: &str) -> usize {
    let mut lines = text.lines().map(str::trim_end);
    let Some(mark @ ("---" | "+++")) = lines.next() else {
        return 0;
    };
    let gives = if mark == "---" { ':' } else { '=' };
    let inner: Vec<&str> = lines
        .by_ref()
        .take_while(|line| *line != mark && *line != "...")
        .collect();
    let first = inner
        .iter()
        .find(|line| !line.is_empty() && !line.starts_with('#'));
    let is_closed = inner.len() + 1 < text.lines().count();
    // A rule between two paragraphs looks the same.
    if is_closed && first.is_none_or(|line| line.contains(gives)) {
        inner.len() + 2
    } else {
        0
    }
}

/// A block between fences that is no Markdown.
struct Block {
    mark: char,
    length: usize,
    /// What reads it; `None` when nobody does.
    reader: Option<Rst>,
}

/// Where options of a directive may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Options {
    /// As fields, or between two lines of dashes.
    Begin,
    Fields,
    Dashes,
}

/// Reads Markdown line by line.
#[derive(Default)]
pub(super) struct Markdown {
    side: Side,
    html: Html,
    block: Option<Block>,
    options: Option<Options>,
    /// Lines further in than this are left out.
    left_out: Option<usize>,
}

impl Markdown {
    /// What is read in the next line.
    pub(super) fn read(&mut self, line: &str) -> String {
        let body = line.trim_end();
        let words = body.trim_start();
        let indent = body.len() - words.len();
        if let Some(block) = &mut self.block {
            let is_end = words.chars().count() >= block.length && words.chars().all(|c| c == block.mark);
            if !is_end {
                return block
                    .reader
                    .as_mut()
                    .map_or_else(String::new, |reader| reader.read(body));
            }
            self.block = None;
            self.side.takes(Markup::Markdown, body);
            return String::new();
        }
        if self.is_option(words) {
            return String::new();
        }
        if let Some(outer) = self.left_out {
            if words.is_empty() || indent > outer {
                return String::new();
            }
            self.left_out = None;
        }
        if words.is_empty() {
            self.html.end_paragraph();
        }
        if self.html.is_open() {
            return without_targets(&self.html.read(body, &[]));
        }
        if self.side.takes(Markup::Markdown, body) {
            let is_tag = words.starts_with("<pre") || words.ends_with("</pre>");
            return if is_tag {
                self.html.read(body, &[])
            } else {
                body.to_owned()
            };
        }
        if let Some((mark, length, info)) = fence(words) {
            return self.open(mark, length, info, indent);
        }
        if let Some(title) = admonition(words) {
            return title.to_owned();
        }
        if is_silent(words) {
            return String::new();
        }
        let code = backticks(body, Markup::Markdown);
        without_targets(&self.html.read(body, &code))
    }

    /// Takes a fence that opens a block; says what of its line is read.
    fn open(&mut self, mark: char, length: usize, info: &str, indent: usize) -> String {
        let Some((name, argument)) = info.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
            if mark == ':' {
                let (name, title) = info.split_once(char::is_whitespace).unwrap_or((info, ""));
                // What an object's documentation shows is written elsewhere; its options stand below.
                self.left_out = name.contains('.').then_some(indent);
                return title.trim().to_owned();
            }
            return String::new();
        };
        if name.split_whitespace().count() != 1 || (is_code(mark, info) && name != "math") {
            self.options = is_code(mark, info).then_some(Options::Begin);
            return String::new();
        }
        let argument = argument.trim();
        let mut block = |reader| {
            self.block = Some(Block { mark, length, reader });
        };
        match Reading::of(name, argument) {
            _ if name == "eval-rst" => block(Some(Rst::default())),
            Reading::Nothing | Reading::Html => block(None),
            Reading::All => {
                self.options = Some(Options::Begin);
                return without_targets(argument);
            }
            Reading::Below | Reading::Code => self.options = Some(Options::Begin),
        }
        String::new()
    }

    /// Whether a line is one of a directive's options.
    fn is_option(&mut self, words: &str) -> bool {
        let Some(place) = self.options else { return false };
        self.options = match place {
            Options::Dashes if words == "---" => None,
            Options::Dashes => Some(Options::Dashes),
            Options::Begin if words == "---" => Some(Options::Dashes),
            Options::Begin | Options::Fields if is_field(words) => Some(Options::Fields),
            Options::Begin | Options::Fields => {
                self.options = None;
                return false;
            }
        };
        true
    }
}

/// The title of an admonition that is opened by marks (`!!! note "Title"`).
fn admonition(words: &str) -> Option<&str> {
    let rest = ["!!! ", "??? ", "???+ "]
        .iter()
        .find_map(|mark| words.strip_prefix(*mark))?;
    Some(rest.split_once('"').map_or("", |(_, title)| title))
}

/// Whether a line holds nothing to read: where a link leads, a target, a remark, a file to take in.
fn is_silent(words: &str) -> bool {
    let is_target = words.starts_with('(') && words.ends_with(")=");
    let is_remark = words == "%" || words.starts_with("% ");
    let takes_in = words.starts_with("--8<--")
        || (words.starts_with("{%") && words.ends_with("%}"))
        || (words.starts_with("{!") && words.ends_with("!}"));
    is_target || is_remark || takes_in || is_definition(words)
}

/// Whether a line says where links lead (`[name]: address "title"`). A footnote's text looks alike.
fn is_definition(words: &str) -> bool {
    let Some((name, rest)) = words.strip_prefix('[').and_then(|rest| rest.split_once("]:")) else {
        return false;
    };
    let rest = rest.trim();
    let (address, title) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let title = title.trim_start();
    !name.starts_with('^')
        && !name.contains([']', '['])
        && !address.is_empty()
        && (title.is_empty() || title.starts_with(['"', '\'', '(']))
}

/// A line without where its links and pictures lead.
fn without_targets(line: &str) -> String {
    let mut said = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once("](") {
        said.push_str(before);
        said.push(']');
        rest = link.split_once(')').map_or(link, |(_, after)| after);
    }
    said.push_str(rest);
    said
}
