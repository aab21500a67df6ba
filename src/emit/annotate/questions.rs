//! What people are asked of each instance.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::error::{AnnotateError, Fault};
use super::sheet;

/// The questions of Doc2Feat-Bench, section 2.2.2.
pub const DEFAULT: &str = include_str!("../../../data/annotation/doc2feat.toml");

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Heads its column: lower-case letters, digits and `-`.
    pub id: String,
    /// The question.
    pub text: String,
    /// What a dropped instance is counted under.
    pub reason: String,
    /// Whether the answers are a scale from first to last.
    pub ordered: bool,
    /// What can be answered.
    pub answers: Vec<Answer>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What is written into the sheet.
    pub value: String,
    /// What it means.
    pub text: String,
    /// Whether it speaks against the instance.
    #[serde(default)]
    pub drops: bool,
}

impl Question {
    /// The place of an answer among the question's answers.
    pub fn place(&self, value: &str) -> Option<usize> {
        self.answers.iter().position(|answer| answer.value == value)
    }

    /// Whether this answer speaks against the instance.
    pub fn drops(&self, value: &str) -> bool {
        self.answers
            .iter()
            .any(|answer| answer.drops && answer.value == value)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    question: Vec<Spanned<Question>>,
}

/// The questions that the program ships.
///
/// # Errors
/// Never: a test reads them.
pub fn default_questions() -> Result<Vec<Question>, AnnotateError> {
    parse("data/annotation/doc2feat.toml", DEFAULT)
}

/// Reads a file of questions.
///
/// # Errors
/// [`AnnotateError::Text`] with the line of each fault.
pub fn parse(file: &str, text: &str) -> Result<Vec<Question>, AnnotateError> {
    let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    let raw: Raw = toml::from_str(text).map_err(|error| {
        let fault = Fault {
            // What is said of the whole text is of no line.
            line: error
                .span()
                .filter(|span| span.start > 0 || span.end < text.len())
                .map(|span| line(span.start)),
            what: error.message().trim().to_owned(),
            hint: "a question is `[[question]]` with `id`, `text`, `reason`, `ordered` and `answers`; `quarry annotate export` \
                   writes a file of questions to begin with"
                .to_owned(),
        };
        AnnotateError::text("questions", file, fault)
    })?;
    let (mut ids, mut reasons) = (BTreeSet::new(), BTreeSet::new());
    let mut faults: Vec<Fault> = raw
        .question
        .iter()
        .filter_map(|question| {
            let at = line(question.span().start);
            fault(question.get_ref(), &mut ids, &mut reasons).map(|(what, hint)| Fault {
                line: Some(at),
                what,
                hint,
            })
        })
        .collect();
    if raw.question.is_empty() {
        faults.push(Fault {
            line: None,
            what: "it has no question".to_owned(),
            hint: "add a `[[question]]`".to_owned(),
        });
    }
    if faults.is_empty() {
        Ok(raw.question.into_iter().map(Spanned::into_inner).collect())
    } else {
        Err(AnnotateError::Text {
            what: "questions",
            file: file.to_owned(),
            faults,
        })
    }
}

fn is_word(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(fits)
}

/// What is wrong with a question, and what to do.
fn fault(
    question: &Question,
    ids: &mut BTreeSet<String>,
    reasons: &mut BTreeSet<String>,
) -> Option<(String, String)> {
    let Question {
        id, reason, answers, ..
    } = question;
    let told = |what: String, hint: &str| Some((what, hint.to_owned()));
    let mut values = BTreeSet::new();
    if !is_word(id) || !is_word(reason) {
        told(
            format!("the id `{id}` or the reason `{reason}` is no word"),
            "write both with lower-case letters, digits and `-`",
        )
    } else if sheet::FIXED.contains(&id.as_str()) || id == sheet::REMARKS {
        told(
            format!("`{id}` heads a column that every sheet has"),
            "give the question another id",
        )
    } else if !ids.insert(id.clone()) {
        told(
            format!("a question `{id}` is there before"),
            "give each its own id",
        )
    } else if !reasons.insert(reason.clone()) {
        told(
            format!("a question with the reason `{reason}` is there before"),
            "give each its own reason",
        )
    } else if answers.len() < 2 {
        told(
            format!("`{id}` has fewer than two answers"),
            "add one, such as `{ value = \"no\", text = \"No\" }`",
        )
    } else if answers.iter().any(|answer| {
        let value = answer.value.as_str();
        value.is_empty() || value.trim() != value || !values.insert(value.to_ascii_lowercase())
    }) {
        told(
            format!("an answer of `{id}` is empty, has blanks around it, or is there twice"),
            "give each its own short `value`; letters' case does not tell two apart",
        )
    } else if answers.iter().all(|answer| answer.drops) || !answers.iter().any(|answer| answer.drops) {
        told(
            format!("no answer of `{id}` decides whether an instance stays"),
            "mark those that speak against it with `drops = true`, and leave one without",
        )
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_shipped_questions_are_the_papers() {
        let questions = default_questions().unwrap();
        let shape: Vec<(&str, &str, usize, usize)> = questions
            .iter()
            .map(|question| {
                let against = question.answers.iter().filter(|answer| answer.drops).count();
                (
                    question.id.as_str(),
                    question.reason.as_str(),
                    question.answers.len(),
                    against,
                )
            })
            .collect();
        assert_eq!(
            shape,
            [
                ("task-clarity", "unclear-task", 4, 2),
                ("test-accuracy", "inaccurate-tests", 4, 2),
                ("other-problem", "other-problem", 2, 1),
            ]
        );
    }

    #[test]
    fn a_fault_is_told_with_its_line() {
        let of = |id: &str, answers: &str| {
            format!(
                "\n[[question]]\nid = \"{id}\"\ntext = \"?\"\nreason = \"{id}\"\nordered = false\nanswers = [{answers}]\n"
            )
        };
        let two = "{ value = \"n\", text = \"\" }, { value = \"y\", text = \"\", drops = true }";
        let good = of("a", two);
        assert_eq!(parse("q", &good).unwrap().len(), 1);
        for (text, said) in [
            (format!("{good}{good}"), "line 9: a question `a` is there before"),
            (
                of("remarks", two),
                "line 2: `remarks` heads a column that every sheet has",
            ),
            (
                of("A b", two),
                "line 2: the id `A b` or the reason `A b` is no word",
            ),
            (
                of("a", "{ value = \"n\", text = \"\" }"),
                "line 2: `a` has fewer than two answers",
            ),
            (
                of(
                    "a",
                    "{ value = \"n\", text = \"\" }, { value = \"N\", text = \"\" }",
                ),
                "line 2: an answer of `a` is empty, has blanks around it, or is there twice",
            ),
            (
                of(
                    "a",
                    "{ value = \"n\", text = \"\" }, { value = \"m\", text = \"\" }",
                ),
                "line 2: no answer of `a` decides whether an instance stays",
            ),
            (format!("{good}extra = 1\n"), "line 8: "),
            ("question = []".to_owned(), "it has no question"),
            (String::new(), "missing field `question`"),
        ] {
            let error = parse("q", &text).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("read the questions `q`: {said}")),
                "{error}\n{text}"
            );
            assert_eq!(error.hints().len(), 1);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in r#"(\[\[question\]\]|id = "a"|\n|answers = \[|\]|é|"){0,12}"#) {
            if let Err(error) = parse("q", &text) {
                prop_assert!(!error.hints().is_empty());
            }
        }
    }
}
