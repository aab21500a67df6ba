//! What a reader reads of Markdown, with the directives and blocks that builders of documentation know there.

use super::html::Html;
use super::rst::{Reading, Rst, behind, is_field, is_of_layout, told};
use super::wording::{is_template, without_layout};
use crate::emit::docs::code::{Markup, Side, backticks, fence, is_code};

/// Settings at a document's head that a reader sees.
const TITLES: &[&str] = &["title", "subtitle", "description", "summary"];
/// Marks that stand for a table of contents.
const CONTENTS: &[&str] = &["[toc]", "[[toc]]", "[[_toc_]]"];
/// How a line begins that gives something out of a page that is a program, too.
const EXPORTS: &[&str] = &[
    "export *",
    "export const ",
    "export default ",
    "export function ",
    "export let ",
    "export {",
];

/// What is read in each line of a document.
pub(super) fn read(text: &str) -> Vec<String> {
    let head = front_matter(text);
    let mut reader = Markdown::default();
    let mut open = None;
    let lines = text.lines().enumerate().map(|(place, line)| {
        if place < head {
            head_words(line, &mut open).to_owned()
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

/// What is read in a line of a document's head. Lines further in than `open` go on with what is read.
fn head_words<'w>(line: &'w str, open: &mut Option<usize>) -> &'w str {
    let words = line.trim_start();
    let indent = line.len() - words.len();
    if words.is_empty() || open.is_some_and(|key| indent > key) {
        return words;
    }
    *open = None;
    let Some((key, value)) = words.split_once([':', '=']) else {
        return "";
    };
    // A key may name a language, too.
    let key = key.trim_start_matches(['"', '\'']);
    let key = key
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    if TITLES.contains(&key) {
        *open = Some(indent);
        value
    } else {
        ""
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
    /// Where options of a directive may stand, and whether they are about its looks.
    options: Option<(Options, bool)>,
    /// Whether anything but a program has begun.
    has_begun: bool,
    /// Whether a program's line goes on.
    in_program: bool,
    /// Lines further in than this are left out.
    left_out: Option<usize>,
}

impl Markdown {
    /// What is read in the next line.
    pub(super) fn read(&mut self, line: &str) -> String {
        let body = line.trim_end();
        let words = body.trim_start();
        let indent = body.len() - words.len();
        if let Some(said) = self.option(words) {
            return said;
        }
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
        if self.is_program(words) {
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
        let said = without_targets(&self.html.read(body, &code));
        without_layout(without_attributes(&said)).to_owned()
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
            self.options = is_code(mark, info).then_some((Options::Begin, true));
            return String::new();
        }
        let argument = argument.trim();
        let mut block = |reader| {
            self.block = Some(Block { mark, length, reader });
        };
        let options = Some((Options::Begin, is_of_layout(name)));
        match Reading::of(name, argument) {
            _ if name == "eval-rst" => block(Some(Rst::default())),
            Reading::Html => block(None),
            Reading::Nothing => {
                block(None);
                self.options = options;
            }
            Reading::All => {
                self.options = options;
                return without_targets(behind(name, argument));
            }
            Reading::Below | Reading::Code => self.options = options,
        }
        String::new()
    }

    /// What is read of a line that is one of a directive's options; `None` for another line.
    fn option(&mut self, words: &str) -> Option<String> {
        let (place, is_of_layout) = self.options?;
        let (next, field) = match place {
            Options::Dashes if words == "---" => (None, None),
            Options::Dashes => (Some(Options::Dashes), words.split_once(':')),
            Options::Begin if words == "---" => (Some(Options::Dashes), None),
            Options::Begin | Options::Fields if is_field(words) => {
                let field = words.strip_prefix(':').and_then(|rest| rest.split_once(':'));
                (Some(Options::Fields), field)
            }
            Options::Begin | Options::Fields => {
                self.options = None;
                return None;
            }
        };
        self.options = next.map(|next| (next, is_of_layout));
        let told = field.and_then(|(name, value)| told(words, name, value, is_of_layout));
        Some(told.map(without_targets).unwrap_or_default())
    }

    /// Whether a line, before all words, is one of a program: what a page takes in and gives out.
    fn is_program(&mut self, words: &str) -> bool {
        if self.has_begun || words.is_empty() {
            self.in_program = false;
            return false;
        }
        if self.in_program {
            self.in_program = !words.contains('}');
            return true;
        }
        let imports = words.strip_prefix("import ").is_some_and(|rest| {
            rest.starts_with(['"', '\'', '{']) || rest.contains(" from \"") || rest.contains(" from '")
        });
        let is_program = imports || EXPORTS.iter().any(|export| words.starts_with(*export));
        self.in_program = is_program && words.contains('{') && !words.contains('}');
        self.has_begun = !is_program;
        is_program
    }
}

/// The title of an admonition that is opened by marks (`!!! note "Title"`).
fn admonition(words: &str) -> Option<&str> {
    let rest = ["!!! ", "??? ", "???+ "]
        .iter()
        .find_map(|mark| words.strip_prefix(*mark))?;
    Some(rest.split_once('"').map_or("", |(_, title)| title))
}

/// Whether a line holds nothing to read: where a link leads, a target, a remark, a file to take in, a table of contents,
/// attributes of what is next to it, an admonition's kind.
fn is_silent(words: &str) -> bool {
    let is_target = words.starts_with('(') && words.ends_with(")=");
    let is_remark = words == "%" || words.starts_with("% ");
    let takes_in = words.starts_with("--8<--")
        || is_template(words)
        || (words.starts_with("{!") && words.ends_with("!}"));
    let is_contents = CONTENTS.iter().any(|mark| mark.eq_ignore_ascii_case(words));
    let quoted = words.trim_start_matches(['>', ' ']);
    let is_kind = quoted.len() < words.len()
        && quoted
            .strip_prefix("[!")
            .and_then(|rest| rest.strip_suffix(']'))
            .is_some_and(|kind| kind.chars().all(char::is_alphanumeric));
    is_target || is_remark || takes_in || is_contents || is_kind || is_definition(words)
}

/// A line without attributes that end it (`{#id .class}`, `{: .note }`).
fn without_attributes(line: &str) -> &str {
    let words = line.trim_end();
    let attributes = words.strip_suffix('}').and_then(|rest| rest.rsplit_once('{'));
    match attributes {
        Some((before, inner)) if inner.starts_with(['#', '.', ':']) => before,
        _ => line,
    }
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

/// A line without where its links and pictures lead, and the marks around their words.
fn without_targets(line: &str) -> String {
    let mut said = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once("](") {
        said.push_str(before);
        if let Some(open) = said.rfind('[') {
            said.remove(open);
            if said[..open].ends_with('!') {
                said.remove(open - 1);
            }
        }
        rest = link.split_once(')').map_or(link, |(_, after)| after);
    }
    said.push_str(rest);
    // A link that ends on another line.
    if let Some(open) = said.rfind('[').filter(|open| !said[*open..].contains(']')) {
        said.remove(open);
    }
    said
}
