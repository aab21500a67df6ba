//! From lines that are understood to entries.
//!
//! An item of a list is an entry. One whose own words name nothing, while two or more of its inner items do (or that is
//! but a label), is a heading of theirs. A paragraph is an entry when it names an issue or a pull request, or has a badge;
//! one that says what the list below it holds ("New features:") is a heading of that. Below a badge that stands alone, or a
//! heading that names an issue, the section's prose is one. A paragraph of nothing but references belongs to what stands
//! before it. What says that there is nothing to tell ("None.") is no entry.

use std::sync::LazyLock;

use regex::Regex;

use super::headings::Headings;
use super::kinds::{badges, prefix};
use super::links::Links;
use super::model::{Entry, Format, Kind, Place, Reference};
use super::pieces::{Mark, Piece};
use super::references::authors;
use super::versions::{self, VersionTitle, extends};
use super::words::Words;
use crate::domain::path::RepoPath;
use crate::mine::pattern::compiled;

/// The level of bold words that stand for a heading: below every real one.
const BOLD: usize = 100;

/// What is known of a document before it is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'d> {
    pub(super) file: &'d RepoPath,
    pub(super) format: Format,
    /// The version that the file's name, or the release, tells.
    pub(super) version: Option<&'d str>,
    pub(super) date: Option<&'d str>,
    pub(super) headings: &'d Headings,
}

/// Reads a document's entries.
pub(super) fn entries(document: Document<'_>, pieces: &[Piece<'_>]) -> Vec<Entry> {
    let version = document.version.map(|version| Version {
        level: 0,
        title: VersionTitle {
            version: version.to_owned(),
            date: document.date.map(str::to_owned),
            lead: String::new(),
            is_bare: true,
        },
        fresh: false,
    });
    let mut outline = Outline {
        document,
        links: Links::of(pieces),
        version,
        titles: vec![],
        badge: None,
        label: vec![],
        prose: None,
        open: vec![],
        paragraph: Words::default(),
        after_blank: true,
        entries: vec![],
    };
    for piece in pieces {
        outline.take(piece);
    }
    outline.flush();
    outline.end_prose();
    outline.entries
}

struct Version {
    level: usize,
    title: VersionTitle,
    /// Whether nothing but the date may have followed its heading.
    fresh: bool,
}

impl Version {
    /// Whether a deeper heading that names a version begins that one: a patch release of a series, or, where each level is
    /// a kind of release (`# 1.1.0`, `## 1.0.1`), one that says nothing else. In a file that is of one version it is its own.
    fn holds(&self, inner: &VersionTitle) -> bool {
        let alike = inner.is_bare && (inner.lead.is_empty() || inner.lead == self.title.lead);
        let numbered = !versions::is_day(&inner.version) || versions::is_day(&self.title.version);
        extends(&inner.version, &self.title.version) || (self.level > 0 && alike && numbered)
    }
}

/// An item of a list.
#[derive(Debug, Default)]
struct Item {
    indent: usize,
    /// Everything below its mark, inner items included.
    all: Words,
    /// Its own words alone.
    own: Words,
    inner: Vec<Self>,
}

struct Outline<'d> {
    document: Document<'d>,
    /// Where labels in its words lead.
    links: Links,
    version: Option<Version>,
    /// Headings below the version's, with their levels.
    titles: Vec<(usize, String)>,
    /// What a badge that stands alone says of the section.
    badge: Option<Kind>,
    /// The paragraph that names the list below it.
    label: Vec<String>,
    /// The prose below such a badge.
    prose: Option<Words>,
    /// The items that are open, outermost first.
    open: Vec<Item>,
    paragraph: Words,
    after_blank: bool,
    entries: Vec<Entry>,
}

impl Outline<'_> {
    fn take(&mut self, piece: &Piece<'_>) {
        match piece.mark {
            Mark::Blank | Mark::Target => {
                self.end_paragraph();
                self.after_blank = true;
                return;
            }
            Mark::Break => {
                self.end_paragraph();
                self.close(piece.indent);
                self.after_blank = true;
                return;
            }
            Mark::Heading(level) => self.heading(level, &piece.text, piece.line),
            Mark::Bold => self.heading(BOLD, &piece.text, piece.line),
            Mark::Field => self.field(&piece.text, piece.line),
            Mark::Item => self.item(piece),
            Mark::Text | Mark::Literal => self.words(piece),
        }
        self.after_blank = false;
    }

    fn heading(&mut self, level: usize, title: &str, line: u32) {
        self.flush();
        self.end_prose();
        self.badge = None;
        self.label.clear();
        let named = versions::of_heading(title);
        if let Some(outer) = self
            .version
            .as_mut()
            .filter(|outer| level > outer.level && outer.fresh)
            && let Some(day) = named.as_ref().filter(|named| versions::is_day(&named.version))
            && outer.title.date.is_none()
        {
            outer.title.date.clone_from(&day.date);
            return;
        }
        let named = named.filter(|named| match &self.version {
            Some(outer) if level > outer.level => outer.holds(named),
            _ => true,
        });
        if let Some(title) = named {
            // What the file's name says of the date holds where the heading says nothing.
            let date = title.date.clone().or_else(|| {
                let outer = self.version.as_ref().filter(|outer| outer.level == 0)?;
                outer.title.date.clone()
            });
            self.version = Some(Version {
                level,
                title: VersionTitle { date, ..title },
                fresh: true,
            });
            self.titles.clear();
            return;
        }
        if self.version.as_ref().is_some_and(|version| level < version.level) {
            self.version = None;
            self.titles.clear();
        }
        self.titles.retain(|(outer, _)| *outer < level);
        self.titles.push((level, title.trim().to_owned()));
        let mut words = Words::default();
        words.push(line, title.trim().to_owned(), false);
        if !words.references(self.document.format, &self.links).is_empty() {
            // A section about one change.
            self.prose = Some(words);
        }
    }

    fn field(&mut self, text: &str, line: u32) {
        let (name, value) = text.split_once('\n').unwrap_or((text, ""));
        match (name.to_ascii_lowercase().as_str(), &mut self.version) {
            ("release" | "version", None) => {
                if let Some(title) = versions::of_heading(value) {
                    self.version = Some(Version {
                        level: 0,
                        title,
                        fresh: true,
                    });
                }
            }
            ("date" | "released" | "release date", Some(version)) => {
                version.title.date = versions::date(value).or(version.title.date.take());
            }
            ("release" | "version" | "date" | "released" | "orphan" | "tocdepth", _) => {}
            _ => self.words(&Piece {
                line,
                indent: 0,
                mark: Mark::Text,
                text: format!(":{name}: {value}").into(),
            }),
        }
    }

    fn item(&mut self, piece: &Piece<'_>) {
        self.end_paragraph();
        self.close(piece.indent);
        for outer in &mut self.open {
            let pad = " ".repeat(piece.indent.saturating_sub(outer.indent + 2));
            outer
                .all
                .push(piece.line, format!("{pad}- {}", piece.text), false);
        }
        let mut item = Item {
            indent: piece.indent,
            ..Item::default()
        };
        for words in [&mut item.all, &mut item.own] {
            words.push(piece.line, piece.text.clone().into_owned(), false);
        }
        self.open.push(item);
    }

    fn words(&mut self, piece: &Piece<'_>) {
        let goes_on = !self.after_blank && self.paragraph.is_empty();
        if !goes_on && !self.open.is_empty() {
            // Deeper than an item's mark: its own; else the list is over.
            self.close(piece.indent);
        }
        let is_code = piece.mark == Mark::Literal;
        if self.open.is_empty() {
            let text = piece.text.clone().into_owned();
            self.paragraph.push(piece.line, text, is_code);
            return;
        }
        let gap = self.after_blank;
        let last = self.open.len() - 1;
        for (place, item) in self.open.iter_mut().enumerate() {
            let pad = " ".repeat(piece.indent.saturating_sub(item.indent + 2).min(40));
            for (words, wanted) in [(&mut item.all, true), (&mut item.own, place == last)] {
                if wanted {
                    if gap {
                        words.gap();
                    }
                    words.push(piece.line, format!("{pad}{}", piece.text), is_code);
                }
            }
        }
    }

    /// Ends the items that what begins at this column is not inside of.
    fn close(&mut self, indent: usize) {
        while self.open.last().is_some_and(|last| last.indent >= indent) {
            self.shut();
        }
    }

    fn shut(&mut self) {
        let Some(item) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(outer) => outer.inner.push(item),
            None => self.tell(item, &self.label.clone()),
        }
    }

    fn flush(&mut self) {
        self.end_paragraph();
        while !self.open.is_empty() {
            self.shut();
        }
    }

    /// One item as an entry, or as the heading of its inner ones.
    fn tell(&mut self, item: Item, above: &[String]) {
        self.unfresh();
        let own = item.own.text();
        let format = self.document.format;
        let names = |words: &Words| !words.references(format, &self.links).is_empty();
        let naming = item.inner.iter().filter(|inner| names(&inner.all)).count();
        let label = own.split_whitespace().count() <= 3 && item.inner.len() >= 2;
        if (naming >= 2 || (label && naming > 0) || (label && own.ends_with(':'))) && !names(&item.own) {
            let title: String = own.lines().next().unwrap_or_default().chars().take(80).collect();
            let above: Vec<String> = above.iter().cloned().chain([title]).collect();
            for inner in item.inner {
                self.tell(inner, &above);
            }
            return;
        }
        self.entry(&item.all, above);
    }

    fn end_paragraph(&mut self) {
        if self.paragraph.is_empty() {
            return;
        }
        let words = std::mem::take(&mut self.paragraph);
        let text = words.text();
        if let Some(version) = self.version.as_mut().filter(|version| version.fresh)
            && let Some(line) = versions::release_line(&text)
        {
            version.title.date = line.date.or(version.title.date.take());
            return;
        }
        let (kind, rest) = badges(&text);
        if kind.is_some() && rest.trim().is_empty() {
            self.end_prose();
            self.badge = kind;
            self.prose = Some(Words::default());
            return;
        }
        let found = words.references(self.document.format, &self.links);
        if kind.is_none()
            && !found.is_empty()
            && only_references(&words.spoken(self.document.format, &self.links))
            && self.belongs_to_last(&words, found.clone())
        {
            return;
        }
        self.unfresh();
        self.label.clear();
        if found.is_empty()
            && self.prose.is_none()
            && is_label(&text)
            && self.document.headings.kind(&text).is_some()
        {
            self.label.push(text);
            return;
        }
        if let Some(prose) = self.prose.as_mut().filter(|_| kind.is_none()) {
            prose.append(words);
        } else if kind.is_some() || !found.is_empty() {
            self.entry(&words, &[]);
        }
    }

    fn unfresh(&mut self) {
        if let Some(version) = &mut self.version {
            version.fresh = false;
        }
    }

    fn end_prose(&mut self) {
        if let Some(words) = self.prose.take().filter(|words| !words.is_empty()) {
            self.entry(&words, &[]);
        }
    }

    /// Adds a paragraph of references to the entry right before it.
    fn belongs_to_last(&mut self, words: &Words, found: Vec<Reference>) -> bool {
        let section: Vec<String> = self.titles.iter().map(|(_, title)| title.clone()).collect();
        let Some(last) = self.entries.last_mut() else {
            return false;
        };
        let near =
            last.place.last + 3 >= words.first && last.section.starts_with(&section) && self.prose.is_none();
        if near {
            last.text = format!("{}\n\n{}", last.text, words.text());
            last.place.last = words.last;
            for reference in found {
                if !last.references.iter().any(|old| old.number == reference.number) {
                    last.references.push(reference);
                }
            }
        }
        near
    }

    fn entry(&mut self, words: &Words, above: &[String]) {
        let text = words.text();
        if is_nothing(&text) {
            return;
        }
        let titles = self.titles.iter().map(|(_, title)| title);
        let section: Vec<String> = titles.clone().chain(above).cloned().collect();
        // Headings tell before labels do: what is below "Features added" and "Extensions:" is a feature. But a label that
        // says that something is none ("Bugs fixed:") is right.
        let told = |title: &String| self.document.headings.kind(title);
        let kind = badges(&text)
            .0
            .or(self.badge)
            .or_else(|| {
                above
                    .iter()
                    .rev()
                    .find_map(told)
                    .filter(|kind| !kind.is_feature())
            })
            .or_else(|| titles.rev().find_map(told))
            .or_else(|| above.iter().rev().find_map(told))
            .or_else(|| prefix(&text))
            .unwrap_or_default();
        let version = self.version.as_ref().map(|version| &version.title);
        self.entries.push(Entry {
            version: version.map(|title| title.version.clone()),
            date: version.and_then(|title| title.date.clone()),
            section,
            kind,
            references: words.references(self.document.format, &self.links),
            authors: authors(&text),
            text,
            place: Place {
                file: self.document.file.clone(),
                line: words.first,
                last: words.last,
                format: self.document.format,
            },
        });
    }
}

/// What stands where there is nothing to tell.
const NOTHING: &[&str] = &[
    "n/a",
    "no change",
    "no changes",
    "no changes yet",
    "none",
    "none yet",
    "nothing",
    "nothing new",
    "nothing yet",
];

/// Whether a text says that there is nothing to tell.
fn is_nothing(text: &str) -> bool {
    let words = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    NOTHING.contains(&words.as_str())
}

/// Whether a paragraph says what the list below it holds: `New features:`.
fn is_label(text: &str) -> bool {
    text.ends_with(':')
        && !text.ends_with("::")
        && !text.contains('\n')
        && text.split_whitespace().count() <= 6
}

/// Whether a text is nothing but references and the words that lead to them.
fn only_references(text: &str) -> bool {
    static NOISE: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"(?i)<[^>]*>|\]\([^)]*\)|:[a-z]+:`[^`]*`|\{[a-z]+\}`[^`]*`|\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|refs?|see|also|and|issues?|bugs?|pull requests?|prs?|gh)\b",
        )
    });
    !NOISE.replace_all(text, " ").chars().any(char::is_alphabetic)
}
