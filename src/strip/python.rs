//! One Python file: bytes in, bytes and findings out. Pure; nothing here can fail, only leave a file as it was.

use schemars::JsonSchema;
use serde::Serialize;

use super::as_code::Use;
use super::check;
use super::comments::KeptComment;
use super::depth;
use super::edit;
use super::policy::{Check, Policy};
use super::strings::{self, StringKind};
use super::syntax;
pub use super::syntax::Dialect;
use super::text::{self, Lines, Undecodable};

/// Files above this many bytes are left alone.
pub const MAX_BYTES: usize = 64 << 20;

/// What became of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stripped {
    /// The new bytes; `None` when the file stays as it is.
    pub bytes: Option<Vec<u8>>,
    /// Why it was left alone, when it was.
    pub untouched: Option<Untouched>,
    /// What was done, and what was seen.
    pub facts: Facts,
}

/// Why a file is left as it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Untouched {
    /// It does not parse (Python 2, a template, an error on purpose).
    Syntax {
        /// The line of the first error, from 1.
        line: u32,
        /// What the parser says.
        message: String,
    },
    /// Its bytes are no text in the codec it names (or in UTF-8).
    Undecodable {
        /// That codec.
        codec: String,
    },
    /// It names a codec that is not known here.
    UnknownCodec {
        /// That codec.
        codec: String,
    },
    /// It has UTF-8's byte order mark and names another codec.
    CodecConflict {
        /// That codec.
        codec: String,
    },
    /// It holds a NUL byte, which Python refuses.
    Nul,
    /// It is larger than [`MAX_BYTES`].
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// It nests deeper than any interpreter takes.
    TooDeep,
    /// Its result was not proven to be the same program. This is a fault of the stripper; the file stays.
    Unproven {
        /// What the check saw.
        doubt: String,
    },
    /// It could not be read.
    Unreadable {
        /// What the system said.
        message: String,
    },
    /// The stripper failed on it. This is a fault of the stripper; the file stays.
    Fault {
        /// What it said.
        message: String,
    },
}

impl Untouched {
    /// Whether the stripper is to blame and not the file.
    pub const fn is_fault(&self) -> bool {
        matches!(self, Self::Unproven { .. } | Self::Fault { .. })
    }

    /// The reason's name in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "syntax",
            Self::Undecodable { .. } => "undecodable",
            Self::UnknownCodec { .. } => "unknown-codec",
            Self::CodecConflict { .. } => "codec-conflict",
            Self::Nul => "nul",
            Self::TooLarge { .. } => "too-large",
            Self::TooDeep => "too-deep",
            Self::Unproven { .. } => "unproven",
            Self::Unreadable { .. } => "unreadable",
            Self::Fault { .. } => "fault",
        }
    }
}

impl std::fmt::Display for Untouched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Syntax { line, message } => write!(f, "line {line}: {message}"),
            Self::Undecodable { codec } => write!(f, "its bytes are not text in {codec}"),
            Self::UnknownCodec { codec } => write!(f, "it names the unknown codec {codec}"),
            Self::CodecConflict { codec } => write!(f, "it has a UTF-8 byte order mark and names {codec}"),
            Self::Nul => f.write_str("it holds a NUL byte"),
            Self::TooLarge { bytes } => write!(f, "{bytes} bytes are more than {MAX_BYTES}"),
            Self::TooDeep => f.write_str("it nests too deeply"),
            Self::Unproven { doubt } => write!(f, "the result {doubt}"),
            Self::Unreadable { message } => write!(f, "it could not be read: {message}"),
            Self::Fault { message } => write!(f, "the stripper failed: {message}"),
        }
    }
}

/// What was done to a file, and what was seen in it. Lines count from 1 and are the original's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// String statements that went, by kind, sorted.
    pub removed: Vec<(StringKind, u64)>,
    /// Comments that went.
    pub comments: u64,
    /// `pass` statements put in.
    pub passes: u64,
    /// Comments that stay: line and reason.
    pub kept_comments: Vec<(u32, KeptComment)>,
    /// Docstrings that stay: line and who reads them.
    pub kept_docstrings: Vec<(u32, Use)>,
    /// String statements that stay: line and kind.
    pub left: Vec<(u32, StringKind)>,
    /// Reads of docstrings and of the source: line and kind.
    pub uses: Vec<(u32, Use)>,
    /// Cells of a notebook that are no Python and stay as they are: the line of their source in the file.
    pub unread_cells: Vec<u32>,
    /// Bytes of natural language that stay: string statements, kept docstrings, literals that read as prose.
    pub prose_bytes: u64,
}

/// Strips one file.
pub fn strip(bytes: &[u8], dialect: Dialect, policy: &Policy) -> Stripped {
    match attempt(bytes, dialect, policy) {
        Ok(stripped) => stripped,
        Err(untouched) => Stripped {
            untouched: Some(untouched),
            ..Stripped::default()
        },
    }
}

fn attempt(bytes: &[u8], dialect: Dialect, policy: &Policy) -> Result<Stripped, Untouched> {
    if bytes.len() > MAX_BYTES {
        return Err(Untouched::TooLarge {
            bytes: bytes.len() as u64,
        });
    }
    if memchr::memchr(0, bytes).is_some() {
        return Err(Untouched::Nul);
    }
    let source = text::decode(bytes).map_err(|why| match why {
        Undecodable::Bytes { codec } => Untouched::Undecodable { codec },
        Undecodable::Codec { codec } => Untouched::UnknownCodec { codec },
        Undecodable::Conflict { codec } => Untouched::CodecConflict { codec },
    })?;
    let original = source.body.as_ref();
    if !depth::is_bearable(original) {
        return Err(Untouched::TooDeep);
    }
    let parsed = syntax::parse(original, dialect);
    let lines = Lines::new(original);
    if let Some(error) = parsed.errors().first()
        && !policy.python2
    {
        let line = lines.of(error.location.start().to_usize());
        return Err(Untouched::Syntax {
            line,
            message: error.error.to_string(),
        });
    }
    let is_valid = parsed.errors().is_empty();
    let strings = strings::find(original, parsed.suite(), parsed.tokens(), dialect, policy);
    let plan = edit::plan(original, parsed.tokens(), &strings, policy);
    let mut facts = Facts::of(original, &lines, parsed.tokens(), &strings, &plan);
    if plan.edits.is_empty() {
        return Ok(Stripped {
            bytes: None,
            untouched: None,
            facts,
        });
    }
    let doubt = |doubt: String| Untouched::Unproven { doubt };
    let out = edit::apply(original, &plan.edits).ok_or_else(|| doubt("has cuts that overlap".into()))?;
    if policy.keep_lines && policy.check != Check::None {
        check::lines(original, &plan, &out).map_err(doubt)?;
    }
    let proof = match policy.check {
        Check::None => Ok(()),
        Check::Tokens => check::tokens(original, parsed.tokens(), &plan, &out, dialect),
        Check::Tree => Err("is to be parsed again".into()),
    };
    if let Err(why) = proof {
        // A tree with gaps proves nothing.
        if !is_valid {
            return Err(doubt(why));
        }
        check::tree(parsed.into_syntax(), &strings.removals, &out, dialect, policy).map_err(doubt)?;
    }
    facts.passes = plan.groups.iter().filter(|group| group.pass).count() as u64;
    let bytes = source
        .encode(&out)
        .ok_or_else(|| doubt("cannot be written in the file's codec".into()))?;
    if !source.same_codec(&bytes) {
        return Err(doubt("would be read in another codec".into()));
    }
    Ok(Stripped {
        bytes: Some(bytes),
        untouched: None,
        facts,
    })
}

impl Facts {
    /// Adds another text's facts; its lines are its own, so places are not taken over.
    pub fn add(&mut self, other: &Self) {
        for (kind, count) in &other.removed {
            match self.removed.iter_mut().find(|(known, _)| known == kind) {
                Some((_, sum)) => *sum += count,
                None => self.removed.push((*kind, *count)),
            }
        }
        self.removed.sort_unstable();
        self.comments += other.comments;
        self.passes += other.passes;
        self.prose_bytes += other.prose_bytes;
    }

    fn of(
        text: &str,
        lines: &Lines<'_>,
        tokens: &[syntax::Token],
        strings: &strings::Strings,
        plan: &edit::Plan,
    ) -> Self {
        let count = |kind| {
            strings
                .removals
                .iter()
                .filter(|removal| removal.kind == kind)
                .count() as u64
        };
        let kinds = [
            StringKind::Docstring,
            StringKind::AttributeDocstring,
            StringKind::StringStatement,
        ];
        let (kept, left): (Vec<&strings::Left>, Vec<&strings::Left>) =
            strings.left.iter().partition(|left| left.because.is_some());
        let standing: usize = strings.left.iter().map(|left| left.end - left.start).sum();
        Self {
            unread_cells: vec![],
            removed: kinds
                .into_iter()
                .map(|kind| (kind, count(kind)))
                .filter(|(_, count)| *count > 0)
                .collect(),
            comments: plan.comments,
            passes: 0,
            kept_comments: plan
                .kept
                .iter()
                .map(|kept| (lines.of(kept.start), kept.why))
                .collect(),
            kept_docstrings: kept
                .iter()
                .filter_map(|left| left.because.map(|because| (lines.of(left.start), because)))
                .collect(),
            left: left
                .iter()
                .map(|left| (lines.of(left.start), left.kind))
                .collect(),
            uses: strings
                .uses
                .iter()
                .map(|found| (lines.of(found.offset), found.kind))
                .collect(),
            prose_bytes: standing as u64 + literal_prose(text, tokens, strings),
        }
    }
}

/// Bytes of string literals inside code that read as prose: four words or more.
fn literal_prose(text: &str, tokens: &[syntax::Token], strings: &strings::Strings) -> u64 {
    use syntax::TokenKind::{FStringMiddle, String, TStringMiddle};
    let mut gone = strings.removals.iter().peekable();
    let mut left = strings.left.iter().peekable();
    let mut bytes = 0;
    for (at, token) in tokens.iter().enumerate() {
        if !matches!(token.kind(), String | FStringMiddle | TStringMiddle) {
            continue;
        }
        while gone.peek().is_some_and(|removal| removal.end <= at) {
            gone.next();
        }
        let (start, end) = (syntax::start(token), syntax::end(token));
        while left.peek().is_some_and(|statement| statement.end <= start) {
            left.next();
        }
        let counted = gone.peek().is_some_and(|removal| removal.first <= at)
            || left.peek().is_some_and(|statement| statement.start <= start);
        if !counted && is_prose(&text[start..end]) {
            bytes += (end - start) as u64;
        }
    }
    bytes
}

fn is_prose(text: &str) -> bool {
    let spaced = text.len() >= 16 && memchr::memchr_iter(b' ', text.as_bytes()).nth(2).is_some();
    spaced
        && text
            .split_ascii_whitespace()
            .filter(|word| {
                word.len() > 1
                    && word
                        .chars()
                        .all(|c| c.is_alphabetic() || matches!(c, '.' | ',' | '\'' | '"'))
            })
            .nth(3)
            .is_some()
}
