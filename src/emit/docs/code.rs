//! Which lines of a statement are words, and which are code.
//!
//! A hunk shows a stretch of a document: where it begins inside a block of code, only what follows can tell so.

use std::ops::Range;

use super::notebook;

/// Directives whose content is code or output, in reStructuredText and in Markdown with directives.
pub(super) const CODE: &[&str] = &[
    "code",
    "code-block",
    "code-cell",
    "sourcecode",
    "highlight",
    "literalinclude",
    "parsed-literal",
    "doctest",
    "testcode",
    "testoutput",
    "testsetup",
    "ipython",
    "ipython3",
    "prompt",
    "plot",
    "jupyter-execute",
    "raw",
    "math",
    "python",
    "r",
];

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    /// reStructuredText, and whatever is no Markdown.
    Rst,
    /// Markdown.
    Markdown,
    /// A notebook's cells, as a statement shows them.
    Notebook,
}

impl Markup {
    /// By the head of a file's side (`+++ b/docs/a.md`); `None` for a side without a file.
    fn of(head: &str) -> Option<Self> {
        let name = head.get(4..)?.trim_end().trim_end_matches('"');
        if name == "/dev/null" {
            return None;
        }
        let suffix = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        Some(match suffix.as_str() {
            "md" | "markdown" | "mdx" | "myst" | "qmd" | "rmd" => Self::Markdown,
            "ipynb" => Self::Notebook,
            _ => Self::Rst,
        })
    }
}

/// A line of words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'s> {
    /// Where it begins in the statement.
    pub(super) at: usize,
    /// The line, with the diff's mark and its end.
    pub(super) line: &'s str,
    /// How its document is written.
    pub(super) markup: Markup,
}

/// The lines of hunks that are words, in order.
pub(super) fn words(statement: &str) -> Vec<Words<'_>> {
    let mut found = vec![];
    let mut markup = Markup::Rst;
    let mut in_hunk = false;
    let (mut old, mut new) = (Side::default(), Side::default());
    let mut end = 0;
    for line in statement.split_inclusive('\n') {
        let at = end;
        end += line.len();
        if line.starts_with("diff --git ") {
            (in_hunk, markup) = (false, Markup::Rst);
            (old, new) = (Side::default(), Side::default());
            continue;
        }
        if line.starts_with("@@ ") {
            in_hunk = true;
            let rest = &statement[end..];
            (old, new) = (Side::at(rest, markup, '-'), Side::at(rest, markup, '+'));
            continue;
        }
        if !in_hunk && (line.starts_with("--- ") || line.starts_with("+++ ")) {
            markup = Markup::of(line).unwrap_or(markup);
            continue;
        }
        let text = line.get(1..).unwrap_or_default();
        let is_code = match line.chars().next() {
            Some('+') => new.takes(markup, text),
            Some('-') => old.takes(markup, text),
            Some(' ') => {
                old.takes(markup, text);
                new.takes(markup, text)
            }
            _ => continue,
        };
        if !is_code {
            found.push(Words { at, line, markup });
        }
    }
    found
}

/// A fence that is open.
struct Fence {
    mark: char,
    length: usize,
    is_code: bool,
}

/// What is open on one side of a diff.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is open or not by itself")]
pub(super) struct Side {
    fences: Vec<Fence>,
    /// How far the line is indented whose block of code is open.
    block: Option<usize>,
    /// How far the words are indented of each list's item that is open.
    items: Vec<usize>,
    /// Whether the line before was blank, an indented line of code, a line of a session.
    blank: bool,
    indented: bool,
    session: bool,
    /// Whether HTML's `<pre>` is open.
    pre: bool,
    /// Whether a cell of code is open.
    cell: bool,
}

impl Side {
    /// The side at a hunk's begin: inside a fenced block when its first fence can only be an end.
    fn at(hunk: &str, markup: Markup, mark: char) -> Self {
        let mut side = Self::default();
        if markup != Markup::Markdown {
            return side;
        }
        let lines = hunk
            .lines()
            .take_while(|line| !line.starts_with("@@ ") && !line.starts_with("diff --git "))
            .filter(|line| line.starts_with([' ', mark]));
        let fences: Vec<(char, usize, &str)> = lines
            .filter_map(|line| fence(line[1..].trim()))
            .filter(|(mark, ..)| *mark != ':')
            .collect();
        if let Some((mark, length, info)) = fences.first()
            && info.is_empty()
            && (fences.len() % 2 == 1 || fences.get(1).is_some_and(|(_, _, info)| !info.is_empty()))
        {
            side.fences.push(Fence {
                mark: *mark,
                length: *length,
                is_code: true,
            });
        }
        side
    }

    /// Takes the next line; says whether it is code.
    pub(super) fn takes(&mut self, markup: Markup, text: &str) -> bool {
        let body = text.trim_end();
        let words = body.trim_start();
        let indent = width(&body[..body.len() - words.len()]);
        match markup {
            Markup::Rst => self.rst(words, indent),
            Markup::Markdown => self.markdown(words, indent),
            Markup::Notebook if notebook::is_label(body) => {
                *self = Self {
                    cell: body == "[code cell]",
                    ..Self::default()
                };
                true
            }
            Markup::Notebook => self.cell || self.markdown(words, indent),
        }
    }

    fn rst(&mut self, words: &str, indent: usize) -> bool {
        if words.is_empty() {
            self.session = false;
            return self.block.is_some();
        }
        if self.block.is_some_and(|outer| indent > outer) {
            return true;
        }
        self.block = None;
        self.session = words.starts_with(">>>") || (self.session && words.starts_with("..."));
        if self.session {
            return true;
        }
        let directive = words.strip_prefix(".. ").and_then(|rest| rest.split_once("::"));
        let opens = match directive {
            Some((name, _)) => CODE.contains(&name.trim()),
            None => words.ends_with("::") && !words.starts_with(".. "),
        };
        if opens {
            // What stands in an item of a list is indented as far as the item's words.
            let item = if words.starts_with("- ") || words.starts_with("* ") {
                2
            } else {
                0
            };
            self.block = Some(indent + item);
        }
        false
    }

    fn markdown(&mut self, words: &str, indent: usize) -> bool {
        let blank = std::mem::replace(&mut self.blank, words.is_empty());
        if let Some(open) = self.fences.last() {
            let length = words.chars().count();
            if length >= open.length && words.chars().all(|c| c == open.mark) {
                self.fences.pop();
                return true;
            }
            if open.is_code {
                return true;
            }
        }
        let closes = words.to_ascii_lowercase().contains("</pre>");
        if self.pre || words.starts_with("<pre>") || words.starts_with("<pre ") {
            self.pre = !closes;
            return true;
        }
        if let Some((mark, length, info)) = fence(words) {
            if mark != ':' || !info.is_empty() {
                self.fences.push(Fence {
                    mark,
                    length,
                    is_code: is_code(mark, info),
                });
            }
            return false;
        }
        if words.is_empty() {
            return false;
        }
        let item = item(words);
        if blank || item.is_some() {
            self.items.retain(|open| indent >= *open);
        }
        let outer = self.items.last().copied().unwrap_or_default();
        self.indented = indent >= outer + 4 && (blank || self.indented);
        if let Some(mark) = item
            && !self.indented
        {
            self.items.push(indent + mark);
        }
        self.indented
    }
}

/// How far blanks reach; a tab reaches to the next fourth column.
fn width(blanks: &str) -> usize {
    blanks.chars().fold(
        0,
        |width, c| if c == '\t' { width / 4 * 4 + 4 } else { width + 1 },
    )
}

/// How far the words of a list's item stand from its mark (`- words`, `1. words`).
fn item(words: &str) -> Option<usize> {
    let digits = words.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = match words.len() - digits.len() {
        0 if words.starts_with(['-', '*', '+']) => 1,
        length @ 1..=9 if digits.starts_with(['.', ')']) => length + 1,
        _ => return None,
    };
    let rest = &words[mark..];
    let blanks = width(&rest[..rest.len() - rest.trim_start().len()]);
    // Words that stand far off are code in the item.
    match blanks {
        0 if rest.is_empty() => Some(mark + 1),
        0 => None,
        1..=4 => Some(mark + blanks),
        _ => Some(mark + 1),
    }
}

/// A fence's mark, its length and what stands behind it.
pub(super) fn fence(words: &str) -> Option<(char, usize, &str)> {
    let mark = words
        .chars()
        .next()
        .filter(|mark| ['`', '~', ':'].contains(mark))?;
    let info = words.trim_start_matches(mark);
    let length = words.len() - info.len();
    (length >= 3 && !info.contains('`')).then(|| (mark, length, info.trim()))
}

/// Whether what stands behind a fence's mark says that code follows.
pub(super) fn is_code(mark: char, info: &str) -> bool {
    match info.strip_prefix('{') {
        Some(rest) => {
            let name = rest.split(['}', ' ']).next().unwrap_or_default();
            CODE.contains(&name) || (mark != ':' && name.starts_with(['.', '=']))
        }
        None => mark != ':',
    }
}

/// Roles whose text is code, and no name or link.
const CODE_ROLES: &[&str] = &[
    "bash", "c", "code", "command", "console", "cpp", "css", "envvar", "file", "html", "js", "kbd",
    "literal", "makevar", "math", "mimetype", "option", "program", "py", "python", "r", "regexp", "rst",
    "samp", "sh", "shell",
];
/// Elements of HTML whose text is code.
const CODE_ELEMENTS: &[&str] = &["code", "kbd", "pre", "samp", "tt"];

/// The stretches of a line that are code by themselves: between backticks, and in some elements of HTML.
pub(super) fn spans(line: &str, markup: Markup) -> Vec<Range<usize>> {
    let mut found = backticks(line, markup);
    if !line.contains("</") {
        return found;
    }
    let lowered = line.to_ascii_lowercase();
    for name in CODE_ELEMENTS {
        let (open, close) = (format!("<{name}"), format!("</{name}>"));
        let mut at = 0;
        while let Some(start) = lowered[at..].find(&open).map(|start| at + start) {
            at = start + open.len();
            if lowered[at..].starts_with(['>', ' '])
                && let Some(length) = lowered[at..].find(&close)
            {
                at += length + close.len();
                found.push(start..at);
            }
        }
    }
    found
}

/// The stretches of a line between backticks that are code. In reStructuredText single ones hold names and links; so do
/// those of most roles anywhere.
pub(super) fn backticks(line: &str, markup: Markup) -> Vec<Range<usize>> {
    let mut found = vec![];
    let bytes = line.as_bytes();
    let run = |at: usize| bytes[at..].iter().take_while(|byte| **byte == b'`').count();
    let mut at = 0;
    while at < bytes.len() {
        let length = run(at);
        if length == 0 {
            at += 1;
            continue;
        }
        let inner = at + length;
        let mut close = inner;
        while close < bytes.len() && run(close) != length {
            close += run(close).max(1);
        }
        if close >= bytes.len() {
            at = inner;
            continue;
        }
        let end = close + length;
        let role = role(&line[..at]);
        let is_link = bytes.get(end) == Some(&b'_');
        let is_code_role = role.is_some_and(|role| CODE_ROLES.contains(&role));
        if length > 1 || is_code_role || (markup != Markup::Rst && role.is_none() && !is_link) {
            found.push(at..end);
        }
        at = end;
    }
    found
}

/// The name of the role that ends a text (`:code:`, `{code}`), without its domain.
fn role(before: &str) -> Option<&str> {
    let (open, inner) = match before.strip_suffix('}') {
        Some(inner) => ('{', inner),
        None => (':', before.strip_suffix(':')?),
    };
    let is_name = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
    let start = inner.trim_end_matches(is_name).len();
    let is_open = inner[..start].ends_with(open) || inner[..start].ends_with(':');
    (is_open && start < inner.len()).then_some(&inner[start..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(statement: &str) -> Vec<&str> {
        words(statement)
            .iter()
            .map(|words| words.line.trim_end())
            .collect()
    }

    #[test]
    fn blocks_of_code_are_no_words() {
        let markdown = "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -1,9 +1,9 @@ A\n \
            in\n ```\n one\n-```yaml\n-old\n+```py\n+new\n ```\n two\n+```{note}\n+three\n+```\n \n     four\n+- five\n+\n+    six\n";
        assert_eq!(
            lines(markdown),
            [
                " one",
                "-```yaml",
                "+```py",
                " two",
                "+```{note}",
                "+three",
                "",
                "+- five",
                "+",
                "+    six"
            ]
        );
        let rst = "diff --git a/a.rst b/a.rst\n--- a/a.rst\n+++ b/a.rst\n@@ -1 +1 @@\n+So::\n+\n+    one\n+two\n+.. code-block:: c\n+   three\n \
            .. note::\n+   four\n+>>> five\n+... six\n+- it::\n+\n+      seven\n+  eight\n";
        assert_eq!(
            lines(rst),
            [
                "+So::",
                "+two",
                "+.. code-block:: c",
                " .. note::",
                "+   four",
                "+- it::",
                "+  eight"
            ]
        );
        let html = "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n+<pre class=\"x\">\n+one\n+\n+</pre>\n+two\n+<pre>three</pre>\n+::: {.four}\n+five\n+:::\n";
        assert_eq!(lines(html), ["+two", "+::: {.four}", "+five"]);
        let cells = "--- a/n.ipynb\n+++ b/n.ipynb\n@@ -1 +1 @@\n [markdown cell]\n one\n [code cell]\n+two\n+[markdown cell]\n+three\n";
        assert_eq!(lines(cells), [" one", "+three"]);
    }

    #[test]
    fn an_item_holds_words_and_code_further_in() {
        let items = "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n+- one\n+\n+  two\n+\n+      three\n+\n+      four\n+  five\n+10. six\n+\n+    seven\n+\n+        eight\n\
            +    - nine\n+\n+        ten\n+\n+\t\t\televen\n+end\n+\n+2020 was\n+\n+    twelve\n";
        let said: Vec<&str> = lines(items).into_iter().filter(|line| line.len() > 1).collect();
        assert_eq!(
            said,
            [
                "+- one",
                "+  two",
                "+  five",
                "+10. six",
                "+    seven",
                "+    - nine",
                "+        ten",
                "+end",
                "+2020 was"
            ]
        );
    }

    #[test]
    fn backticks_hold_code() {
        let show = |line: &'static str, markup| -> Vec<&str> {
            spans(line, markup).into_iter().map(|span| &line[span]).collect()
        };
        let line = "+`a` ``b`` :pr:`1` {pr}`2` `c <d>`__ ```e` f``` `";
        assert_eq!(show(line, Markup::Markdown), ["`a`", "``b``", "```e` f```"]);
        assert_eq!(show(line, Markup::Rst), ["``b``", "```e` f```"]);
        let line = "+:code:`a` {code}`b` so:`c` :py:func:`d` <code>e</code> <coder>f</coder> <TT x=\"y\">g</tt> <pre>";
        assert_eq!(
            show(line, Markup::Rst),
            ["`a`", "`b`", "<code>e</code>", "<TT x=\"y\">g</tt>"]
        );
        assert_eq!(
            show(line, Markup::Markdown),
            ["`a`", "`b`", "`c`", "<code>e</code>", "<TT x=\"y\">g</tt>"]
        );
    }

    proptest! {
        #[test]
        fn every_line_of_words_is_a_line(text in r"((diff --git |@@ |--- a/a.md|[+ -])(```|~~~|::|- |>>> |    |\t|`|é|\[code cell\]|\{note\}|<pre>|</pre>){0,4}\n){0,9}") {
            for words in words(&text) {
                prop_assert!(text[words.at..].starts_with(words.line));
                for span in spans(words.line, words.markup) {
                    prop_assert!(words.line[span].ends_with(['`', '>']));
                }
            }
        }
    }
}
