//! What is said about a run: per file, per documentation file, per leak, and in total.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::as_code::Use;
use super::comments::KeptComment;
use super::docs_files::Fate;
use super::policy::{Policy, Variant};
use super::python::{Facts, Stripped, Untouched};
use super::strings::StringKind;
use crate::domain::path::RepoPath;

/// The report's own version; a reader refuses what it does not know.
pub const VERSION: u32 = 1;

/// Everything a run says.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// [`VERSION`].
    pub version: u32,
    /// Which variant.
    pub variant: Variant,
    /// By which settings.
    pub policy: Policy,
    /// Sums over the tree.
    pub totals: Totals,
    /// One entry a file that was looked into, sorted by path.
    pub files: Vec<FileReport>,
    /// One entry a documentation file, sorted by path.
    pub documentation: Vec<DocumentationReport>,
    /// What natural language is left, by category, sorted.
    pub leaks: Vec<Leak>,
    /// Agent context files that went.
    pub context: Vec<ContextReport>,
    /// What is neither a file nor a link, or could not be entered.
    pub skipped: Vec<Skipped>,
}

/// Sums over a tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Totals {
    /// Files looked into.
    pub files: u64,
    /// Files that changed.
    pub stripped: u64,
    /// Files with nothing to strip.
    pub unchanged: u64,
    /// Files left alone, by reason.
    pub untouched: BTreeMap<String, u64>,
    /// Bytes of the files looked into, before.
    pub bytes_before: u64,
    /// And after.
    pub bytes_after: u64,
    /// Lines before.
    pub lines_before: u64,
    /// And after.
    pub lines_after: u64,
    /// String statements that went, by kind.
    pub removed: BTreeMap<String, u64>,
    /// Comments that went.
    pub comments: u64,
    /// `pass` statements put in.
    pub passes: u64,
    /// Comments and docstrings that stay, by reason.
    pub kept: BTreeMap<String, u64>,
    /// Places that read docstrings or source, by kind.
    pub needs: BTreeMap<String, u64>,
    /// Leaks by category.
    pub leaks: BTreeMap<String, u64>,
    /// Documentation files by what became of them.
    pub documentation: BTreeMap<String, u64>,
    /// Natural language left, as a share of the bytes after: string statements, kept docstrings, and literals of four
    /// words or more; `null` of no bytes.
    pub prose_share: Option<f64>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FileReport {
    /// Which.
    pub path: RepoPath,
    /// What became of it.
    pub status: Status,
    /// Why it was left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untouched: Option<Untouched>,
    /// Bytes before.
    pub bytes_before: u64,
    /// Bytes after.
    pub bytes_after: u64,
    /// Lines before.
    pub lines_before: u64,
    /// Lines after.
    pub lines_after: u64,
    /// String statements that went, by kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub removed: BTreeMap<String, u64>,
    /// Comments that went.
    pub comments: u64,
    /// `pass` statements put in.
    pub passes: u64,
    /// What stays, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Kept>,
    /// What reads docstrings or source: it may behave otherwise now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Bytes of natural language that are left.
    pub prose_bytes: u64,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It changed.
    Stripped,
    /// There was nothing to strip.
    Unchanged,
    /// It was left alone.
    Untouched,
}

/// Something that stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kept {
    /// Its line in the original, from 1.
    pub line: u32,
    /// Why.
    pub why: Why,
}

/// Why something stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// A comment that a tool or the interpreter reads.
    Comment(KeptComment),
    /// A docstring that the program reads.
    Docstring(Use),
}

/// A place that needs docstrings or the source as they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Need {
    /// Its line in the original, from 1.
    pub line: u32,
    /// Who reads.
    pub kind: Use,
}

/// Natural language that is left.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Leak {
    /// What kind.
    pub category: LeakCategory,
    /// In which file.
    pub path: RepoPath,
    /// On which line of the original; none for a whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Kinds of natural language that are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeakCategory {
    /// A string after an assignment.
    AttributeDocstring,
    /// Another statement that is a string.
    StringStatement,
    /// A docstring that stays because the program reads it.
    KeptDocstring,
    /// A file that could not be stripped.
    Untouched,
    /// Cython source.
    Cython,
    /// A notebook, or a cell of one that is no Python.
    Notebook,
    /// A text file.
    TextFile,
    /// A changelog without a suffix, and the like.
    FrontPage,
    /// An example.
    Example,
    /// A documentation file that stays.
    Documentation,
    /// A file that instructs coding agents.
    AgentContext,
}

/// One documentation file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DocumentationReport {
    /// Which.
    pub path: RepoPath,
    /// What became of it.
    pub fate: Fate,
    /// Its size before.
    pub bytes: u64,
    /// Which files refer to it, still.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub referrers: Vec<RepoPath>,
}

/// One agent context file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ContextReport {
    /// Which.
    pub path: RepoPath,
    /// Who reads it.
    pub reader: String,
}

/// Something that was passed over.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Skipped {
    /// Which.
    pub path: RepoPath,
    /// Why.
    pub reason: String,
    /// Whether the system refused it: what is in it is not in the result, and the exit code says so.
    pub refused: bool,
}

/// A variant's name in kebab case, by its own serialisation.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => format!("{other:?}"),
    }
}

impl FileReport {
    /// Puts a file's facts into the report's shape.
    pub fn new(
        path: RepoPath,
        before: &[u8],
        after: Option<&[u8]>,
        untouched: Option<Untouched>,
        facts: &Facts,
    ) -> Self {
        let lines_before = super::text::count_lines(before);
        let status = match (&untouched, after) {
            (Some(_), _) => Status::Untouched,
            (None, Some(_)) => Status::Stripped,
            (None, None) => Status::Unchanged,
        };
        let comments = facts.kept_comments.iter().map(|(line, why)| Kept {
            line: *line,
            why: Why::Comment(*why),
        });
        let docstrings = facts.kept_docstrings.iter().map(|(line, why)| Kept {
            line: *line,
            why: Why::Docstring(*why),
        });
        Self {
            path,
            status,
            untouched,
            bytes_before: before.len() as u64,
            bytes_after: after.unwrap_or(before).len() as u64,
            lines_before,
            lines_after: after.map_or(lines_before, super::text::count_lines),
            removed: facts
                .removed
                .iter()
                .map(|(kind, count)| (word(kind), *count))
                .collect(),
            comments: facts.comments,
            passes: facts.passes,
            kept: comments.chain(docstrings).collect(),
            needs: facts
                .uses
                .iter()
                .map(|(line, kind)| Need {
                    line: *line,
                    kind: *kind,
                })
                .collect(),
            prose_bytes: facts.prose_bytes,
        }
    }

    /// The leaks that a file's facts name.
    pub fn leaks(path: &RepoPath, untouched: bool, facts: &Facts) -> Vec<Leak> {
        let at = |category, line| Leak {
            category,
            path: path.clone(),
            line,
        };
        let left = facts.left.iter().map(|(line, kind)| {
            let category = match kind {
                StringKind::AttributeDocstring => LeakCategory::AttributeDocstring,
                _ => LeakCategory::StringStatement,
            };
            at(category, Some(*line))
        });
        let kept = facts
            .kept_docstrings
            .iter()
            .map(|(line, _)| at(LeakCategory::KeptDocstring, Some(*line)));
        let cells = facts
            .unread_cells
            .iter()
            .map(|line| at(LeakCategory::Notebook, Some(*line)));
        let whole = untouched.then(|| at(LeakCategory::Untouched, None));
        left.chain(kept).chain(cells).chain(whole).collect()
    }
}

impl Report {
    /// The report on one file that was stripped alone.
    pub fn of_one(path: RepoPath, before: &[u8], stripped: &Stripped, policy: &Policy) -> Self {
        let Stripped {
            bytes,
            untouched,
            facts,
        } = stripped;
        let mut report = Self {
            version: VERSION,
            variant: Variant::CodeOnly,
            policy: policy.clone(),
            totals: Totals::default(),
            leaks: FileReport::leaks(&path, untouched.is_some(), facts),
            files: vec![FileReport::new(
                path,
                before,
                bytes.as_deref(),
                untouched.clone(),
                facts,
            )],
            documentation: vec![],
            context: vec![],
            skipped: vec![],
        };
        report.finish();
        report
    }

    /// Sorts everything and adds it up.
    pub fn finish(&mut self) {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.documentation.sort_by(|a, b| a.path.cmp(&b.path));
        self.context.sort_by(|a, b| a.path.cmp(&b.path));
        self.leaks.sort();
        self.skipped.sort();
        let mut totals = Totals::default();
        let mut prose = 0;
        for file in &self.files {
            totals.files += 1;
            match file.status {
                Status::Stripped => totals.stripped += 1,
                Status::Unchanged => totals.unchanged += 1,
                Status::Untouched => {}
            }
            if let Some(why) = &file.untouched {
                *totals.untouched.entry(why.name().to_owned()).or_default() += 1;
            }
            totals.bytes_before += file.bytes_before;
            totals.bytes_after += file.bytes_after;
            totals.lines_before += file.lines_before;
            totals.lines_after += file.lines_after;
            for (kind, count) in &file.removed {
                *totals.removed.entry(kind.clone()).or_default() += count;
            }
            totals.comments += file.comments;
            totals.passes += file.passes;
            for kept in &file.kept {
                let reason = match kept.why {
                    Why::Comment(why) => word(&why),
                    Why::Docstring(why) => word(&why),
                };
                *totals.kept.entry(reason).or_default() += 1;
            }
            for need in &file.needs {
                *totals.needs.entry(word(&need.kind)).or_default() += 1;
            }
            prose += file.prose_bytes;
        }
        for leak in &self.leaks {
            *totals.leaks.entry(word(&leak.category)).or_default() += 1;
        }
        for file in &self.documentation {
            *totals.documentation.entry(word(&file.fate)).or_default() += 1;
        }
        totals.prose_share = (totals.bytes_after > 0).then(|| prose as f64 / totals.bytes_after as f64);
        self.totals = totals;
    }

    /// The report as `--report` writes it: JSON for readers, with a line end.
    ///
    /// # Errors
    /// Never in practice: a report has a JSON form.
    pub fn document(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// How many files were left alone by the stripper's own fault, and how many files and folders could not be read.
    pub fn faults(&self) -> u64 {
        let bad = |file: &&FileReport| {
            file.untouched
                .as_ref()
                .is_some_and(|why| why.is_fault() || matches!(why, Untouched::Unreadable { .. }))
        };
        let refused = self.skipped.iter().filter(|skipped| skipped.refused);
        (self.files.iter().filter(bad).count() + refused.count()) as u64
    }

    /// The totals as a table for a terminal.
    pub fn table(&self) -> String {
        use std::fmt::Write as _;
        let totals = &self.totals;
        let mut text = String::new();
        let mut row = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<24} {value}");
        };
        if self.variant != Variant::CodeOnly {
            // Nothing is stripped: sums of what was would be noughts.
            let what = match self.variant {
                Variant::NoContext => "every file as it is, without those that instruct coding agents",
                _ => "every file as it is",
            };
            row(&word(&self.variant), what.to_owned());
            for file in &self.context {
                row("agent file removed", format!("{} ({})", file.path, file.reader));
            }
            for file in &self.skipped {
                row("passed over", format!("{} ({})", file.path, file.reason));
            }
            return text;
        }
        row(
            "files",
            format!(
                "{} ({} stripped, {} unchanged)",
                totals.files, totals.stripped, totals.unchanged
            ),
        );
        row(
            "bytes",
            format!("{} → {}", totals.bytes_before, totals.bytes_after),
        );
        row(
            "lines",
            format!("{} → {}", totals.lines_before, totals.lines_after),
        );
        row("comments removed", totals.comments.to_string());
        for (name, groups) in [
            ("removed", &totals.removed),
            ("left alone", &totals.untouched),
            ("kept", &totals.kept),
            ("reads docstrings/source", &totals.needs),
            ("documentation", &totals.documentation),
            ("leaks", &totals.leaks),
        ] {
            let list: Vec<String> = groups
                .iter()
                .map(|(kind, count)| format!("{count} {kind}"))
                .collect();
            if !list.is_empty() {
                row(name, list.join(", "));
            }
        }
        row("pass inserted", totals.passes.to_string());
        row(
            "natural language left",
            totals.prose_share.map_or_else(
                || "none".to_owned(),
                |share| format!("{:.1} % of bytes", share * 100.0),
            ),
        );
        if !self.context.is_empty() {
            row("agent context removed", self.context.len().to_string());
        }
        text
    }
}

/// The report's JSON Schema.
pub fn schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Report>().into()
}
