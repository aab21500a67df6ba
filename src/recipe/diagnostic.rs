//! Problems in a recipe, each with the place it stands on and what to do.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// One problem, shown the way a compiler shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file as the caller named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong: a lower-case sentence without a period.
    pub message: String,
    /// What to do.
    pub hints: Vec<String>,
    /// The line it stands on, cut around the place when it is long.
    pub excerpt: String,
    /// Characters of the excerpt before the place.
    pub offset: usize,
    /// Characters that the place is wide, at least 1.
    pub width: usize,
}

/// A recipe's text with its name: turns byte ranges into places.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The file as the caller named it.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// The longest excerpt shown, in characters.
const EXCERPT: usize = 120;

impl Source<'_> {
    /// A problem at these bytes of the text (the first line of them).
    pub fn problem(&self, range: Range<usize>, message: impl Into<String>, hint: Option<String>) -> Problem {
        let start = floor(self.text, range.start);
        let end = floor(self.text, range.end.max(start));
        let line_start = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = self.text[start..]
            .find('\n')
            .map_or(self.text.len(), |newline| start + newline);
        let line = self.text[line_start..line_end].trim_end_matches('\r');
        let before = self.text[line_start..start].chars().count();
        let width = self.text[start..end.min(line_end)]
            .trim_end()
            .chars()
            .count()
            .max(1);
        let first = if before + width > EXCERPT {
            before.saturating_sub(EXCERPT / 2)
        } else {
            0
        };
        Problem {
            file: self.file.to_owned(),
            line: self.text[..start].matches('\n').count() + 1,
            column: before + 1,
            message: message.into(),
            hints: hint.into_iter().collect(),
            excerpt: line
                .chars()
                .skip(first)
                .take(EXCERPT)
                .map(|c| if c == '\t' { ' ' } else { c })
                .collect(),
            offset: before - first,
            width: width.min(EXCERPT - (before - first).min(EXCERPT - 1)),
        }
    }
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gutter = self.line.to_string().len();
        writeln!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        writeln!(f, "{:gutter$} |", "")?;
        writeln!(f, "{} | {}", self.line, self.excerpt.trim_end())?;
        write!(
            f,
            "{:gutter$} | {}{}",
            "",
            " ".repeat(self.offset),
            "^".repeat(self.width)
        )?;
        self.hints
            .iter()
            .try_for_each(|hint| write!(f, "\n{:gutter$} = hint: {hint}", ""))
    }
}

/// A recipe that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// The file cannot be read.
    #[error("read recipe `{file}`: {cause}")]
    Read {
        /// The file as the caller named it.
        file: String,
        /// Why.
        cause: std::io::Error,
    },
    /// The file is no text.
    #[error("read recipe `{file}`: byte {offset} is not UTF-8")]
    NotText {
        /// The file as the caller named it.
        file: String,
        /// The first byte that is not part of a character.
        offset: usize,
    },
    /// The recipe has problems: all of them, in the order of the text.
    #[error("load recipe `{file}`: {}", summary(problems))]
    Invalid {
        /// The file as the caller named it.
        file: String,
        /// Every problem found.
        problems: Vec<Problem>,
    },
}

fn summary(problems: &[Problem]) -> String {
    let count = match problems.len() {
        1 => "1 problem".to_owned(),
        many => format!("{many} problems"),
    };
    problems
        .iter()
        .fold(count, |text, problem| format!("{text}\n\n{problem}"))
}

impl RecipeError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Read { .. } => vec!["the shipped recipes are in `filters/`".to_owned()],
            Self::NotText { .. } => vec!["save the recipe as UTF-8".to_owned()],
            Self::Invalid { .. } => {
                vec![
                    "`quarry check RECIPE` checks a recipe, `quarry check --facts` lists what rules can read"
                        .to_owned(),
                ]
            }
        }
    }

    /// The problems of an invalid recipe.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Invalid { problems, .. } => problems,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_on_a_long_line_is_shown_with_what_is_around_it() {
        let text = format!("é = \"{}x{}\"", "a".repeat(300), "b".repeat(300));
        let at = text.find('x').unwrap();
        let problem = Source {
            file: "r.toml",
            text: &text,
        }
        .problem(at..at + 1, "no", None);
        assert_eq!(problem.column, 306);
        assert_eq!(problem.excerpt.chars().nth(problem.offset), Some('x'));
        assert_eq!(problem.excerpt.chars().count(), EXCERPT);
    }
}
