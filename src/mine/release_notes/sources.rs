//! Which files of a tree are release notes, and what they are written in: by their paths and contents, never by the
//! repository's name.

use super::fragments::{FragmentName, PROSE, fragment, is_home};
use super::headings::Headings;
use super::model::{Entry, Format, Place, Reference, ReferenceKind};
use super::outline::{self, Document};
use super::references::{authors, references};
use super::versions;
use super::words::spoken_text;
use super::{markdown, rst};
use crate::domain::charset;
use crate::domain::path::RepoPath;
use crate::mine::defaults;

/// A file of release notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A document with sections.
    Document,
    /// A file for one entry.
    Fragment(FragmentName),
}

/// Names of folders, and begins of names of files, that hold release notes.
const NAMES: &[&str] = &[
    "whats_new",
    "whats-new",
    "whatsnew",
    "release_notes",
    "release-notes",
    "releasenotes",
    "release_note",
    "changelog",
    "prev_whats_new",
];

/// Folders, beside those of tests, whose files are others' work, or not about the project's own versions.
const FOREIGN: &[&str] = &[
    "vendor",
    "vendors",
    "vendored",
    "node_modules",
    "bower_components",
    "site-packages",
    "third_party",
    "third-party",
    "thirdparty",
    "3rdparty",
    "extern",
    "externals",
    "subprojects",
    "example",
    "examples",
    "fixtures",
];

/// What a path is; `None` for a file that holds no release notes.
pub fn source(path: &RepoPath) -> Option<Source> {
    let text = path.to_str()?;
    let lower = text.to_ascii_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let (stem, ending) = name
        .rsplit_once('.')
        .filter(|(stem, _)| !stem.is_empty())
        .unwrap_or((name, ""));
    let by_path = defaults::is_release_note(path);
    let prose =
        ending.is_empty() || PROSE.contains(&ending) || ending.bytes().all(|byte| byte.is_ascii_digit());
    if is_foreign(path) || (folders.starts_with('.') && !folders.starts_with(".change")) {
        return None;
    }
    if let Some(name) = fragment(path) {
        return Some(Source::Fragment(name));
    }
    let known = NAMES
        .iter()
        .any(|word| stem.starts_with(word) || folders.split('/').any(|folder| folder == *word));
    let aside = ["readme", "template", "_template", "index", "contributing"].contains(&stem)
        && !prose_index(folders, stem)
        || is_template(folders, name);
    ((by_path || known) && prose && !aside && !stem.starts_with('_')).then_some(Source::Document)
}

/// Whether a file is in a folder of tests, or of others' work.
pub(super) fn is_foreign(path: &RepoPath) -> bool {
    let mut folders = path.components();
    folders.next_back();
    folders.any(|folder| {
        let folder = String::from_utf8_lossy(folder).to_ascii_lowercase();
        folder.starts_with("test") || FOREIGN.contains(&folder.trim_start_matches('_'))
    })
}

/// What a program fills in to write notes, by its name: what it says may well be about templates.
fn is_template(folders: &str, name: &str) -> bool {
    let mut parts = name.split('.');
    let stem = parts.next().unwrap_or_default();
    let of_fragments = folders.split('/').any(is_home);
    stem.ends_with("template")
        || (of_fragments && stem.contains("template"))
        || parts.any(|part| ["jinja", "jinja2", "j2", "tmpl"].contains(&part))
}

/// pylint keeps whole versions in files that are called `index`.
fn prose_index(folders: &str, stem: &str) -> bool {
    stem == "index"
        && folders
            .rsplit('/')
            .next()
            .is_some_and(|last| last.starts_with(|c: char| c.is_ascii_digit()))
}

/// The words of a file, without a byte order mark.
pub fn decoded(bytes: &[u8]) -> String {
    charset::decode(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).into_owned()
}

/// Reads a document.
pub fn read_document(path: &RepoPath, bytes: &[u8], headings: &Headings) -> Vec<Entry> {
    let text = decoded(bytes);
    let format = format(path, &text);
    let version = version_in_path(path);
    let document = Document {
        file: path,
        format,
        version: version.as_deref(),
        date: None,
        headings,
    };
    let entries = read(document, &text);
    // A file in which nothing is of any version (a project's history as a story) holds no release notes.
    if entries.iter().any(|entry| entry.version.is_some()) {
        entries
    } else {
        vec![]
    }
}

/// Reads the text of a release on a forge.
pub fn read_release(body: &ReleaseBody, headings: &Headings) -> Vec<Entry> {
    let version = versions::of_heading(&body.tag).map_or_else(|| body.tag.clone(), |title| title.version);
    let document = Document {
        file: &RepoPath::from(body.tag.as_bytes()),
        format: Format::Release,
        version: Some(&version),
        date: body.date.as_deref(),
        headings,
    };
    read(document, &body.text)
}

/// A release on a forge, as the API tells it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ReleaseBody {
    /// Its tag.
    pub tag: String,
    /// When it was published: `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Its text, in Markdown.
    pub text: String,
}

fn read(document: Document<'_>, text: &str) -> Vec<Entry> {
    match document.format {
        Format::Rst => outline::entries(document, &rst::pieces(text)),
        _ => outline::entries(document, &markdown::pieces(text)),
    }
}

/// By the ending; where that does not tell, by the headings.
fn format(path: &RepoPath, text: &str) -> Format {
    let is = |ending: &str| path.has_extension(ending);
    if is("md") || is("markdown") {
        return Format::Markdown;
    }
    let atx = text
        .lines()
        .filter(|line| line.starts_with("## ") || line.starts_with("### "))
        .count();
    if !is("rst") && atx >= 2 {
        Format::Markdown
    } else {
        Format::Rst
    }
}

/// `doc/whatsnew/v0.12.0.rst`, `whats_new_3.5.0.rst`, `2/2.6/summary.rst`.
fn version_in_path(path: &RepoPath) -> Option<String> {
    let text = path.to_str()?;
    let name = text.rsplit('/').next()?;
    let stem = name
        .rsplit_once('.')
        .filter(|(_, ending)| PROSE.contains(ending))
        .map_or(name, |(stem, _)| stem);
    let last = stem.rsplit(['_', '-']).next()?;
    let folder = text.rsplit('/').nth(1).unwrap_or_default();
    [stem, last, folder]
        .iter()
        .find(|part| {
            part.trim_start_matches('v')
                .starts_with(|c: char| c.is_ascii_digit())
        })
        .and_then(|part| versions::of_heading(part))
        .map(|title| title.version)
}

/// Reads a fragment: the whole file is one entry; `None` for an empty one.
pub fn read_fragment(
    path: &RepoPath,
    name: &FragmentName,
    bytes: &[u8],
    headings: &Headings,
) -> Option<Entry> {
    let text = decoded(bytes).trim().to_owned();
    if text.is_empty() {
        return None;
    }
    let is_markdown = path.has_extension("md") || path.has_extension("markdown");
    let said = if is_markdown {
        spoken_text(&text, &markdown::pieces(&text), true)
    } else {
        spoken_text(&text, &rst::pieces(&text), false)
    };
    let file_name = String::from_utf8_lossy(path.file_name()).into_owned();
    let first = name.number.map(|number| Reference {
        repo: None,
        number,
        kind: ReferenceKind::Unknown,
        text: file_name,
    });
    let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    Some(Entry {
        version: Some("unreleased".to_owned()),
        date: None,
        section: name.folders.clone(),
        kind: headings.of_fragment(&name.kind).unwrap_or_default(),
        references: references(&said, first),
        authors: authors(&text),
        text,
        place: Place {
            file: path.clone(),
            line: 1,
            last: lines.max(1),
            format: Format::Fragment,
        },
    })
}
