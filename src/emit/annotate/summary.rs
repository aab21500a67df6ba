//! How well annotators agree, and for which reasons instances go.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::agreement::{cohen, fleiss};
use super::questions::Question;
use super::record::{
    Agreement, Annotation, AnnotationRow, Coefficient, Combination, Drawn, Kappa, Pair, ReasonCount,
};
use crate::domain::rate::Share;

/// What came of it all. It follows from the rows: a check makes it again.
pub fn summary(questions: &[Question], rows: &[AnnotationRow], sample: Option<Drawn>) -> Annotation {
    let annotators: BTreeSet<&String> = rows.iter().flat_map(|row| row.answers.keys()).collect();
    let annotators: Vec<String> = annotators.into_iter().cloned().collect();
    let mut agreement: Vec<Agreement> = questions
        .iter()
        .map(|question| of_question(question, &annotators, rows))
        .collect();
    agreement.push(of_fate(questions, &annotators, rows));
    let mut combinations: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.reasons.is_empty()) {
        *combinations.entry(row.reasons.clone()).or_default() += 1;
    }
    let count = |of: &dyn Fn(&AnnotationRow) -> bool| rows.iter().filter(|row| of(row)).count() as u64;
    let reasons = questions.iter().map(|question| ReasonCount {
        reason: question.reason.clone(),
        instances: count(&|row| row.reasons.contains(&question.reason)),
    });
    Annotation {
        reasons: reasons.collect(),
        questions: questions.to_vec(),
        annotators,
        sample,
        annotated: rows.len() as u64,
        adjudicated: count(&|row| !row.adjudicated.is_empty()),
        kept: count(&|row| row.reasons.is_empty()),
        dropped: count(&|row| !row.reasons.is_empty()),
        agreement,
        combinations: combinations
            .into_iter()
            .map(|(reasons, instances)| Combination { reasons, instances })
            .collect(),
    }
}

/// Two annotators, by their places in the list.
fn pairs(annotators: &[String]) -> impl Iterator<Item = (&String, &String)> {
    let firsts = annotators.iter().enumerate();
    firsts.flat_map(|(place, first)| {
        annotators
            .iter()
            .skip(place + 1)
            .map(move |second| (first, second))
    })
}

fn of_question(question: &Question, annotators: &[String], rows: &[AnnotationRow]) -> Agreement {
    let answer = |row: &AnnotationRow, who: &str| question.place(row.answers.get(who)?.get(&question.id)?);
    let against = |row: &AnnotationRow, who: &str| {
        let said = row.answers.get(who)?.get(&question.id)?;
        Some(usize::from(question.drops(said)))
    };
    let size = question.answers.len();
    let pairs = pairs(annotators).map(|(first, second)| {
        let table = table(rows, size, &|row| {
            Some((answer(row, first)?, answer(row, second)?))
        });
        let drops = self::table(rows, 2, &|row| {
            Some((against(row, first)?, against(row, second)?))
        });
        Pair {
            weighted: question.ordered.then(|| kappa(&table, true)).flatten(),
            drops: kappa(&drops, false),
            ..pair(first, second, &table)
        }
    });
    Agreement {
        question: question.id.clone(),
        pairs: pairs.collect(),
        fleiss: among(annotators, rows, size, &answer),
    }
}

/// On whether each instance stays, by each one's own answers.
fn of_fate(questions: &[Question], annotators: &[String], rows: &[AnnotationRow]) -> Agreement {
    let fate = |row: &AnnotationRow, who: &str| {
        let answers = row.answers.get(who)?;
        let against =
            |question: &Question| answers.get(&question.id).is_some_and(|said| question.drops(said));
        Some(usize::from(questions.iter().any(against)))
    };
    let pairs = pairs(annotators).map(|(first, second)| {
        let table = table(rows, 2, &|row| Some((fate(row, first)?, fate(row, second)?)));
        Pair {
            drops: kappa(&table, false),
            ..pair(first, second, &table)
        }
    });
    Agreement {
        question: String::new(),
        pairs: pairs.collect(),
        fleiss: among(annotators, rows, 2, &fate),
    }
}

type Both<'a> = &'a dyn Fn(&AnnotationRow) -> Option<(usize, usize)>;
type One<'a> = &'a dyn Fn(&AnnotationRow, &str) -> Option<usize>;

/// How often two gave which answers.
fn table(rows: &[AnnotationRow], size: usize, of: Both<'_>) -> Vec<Vec<u64>> {
    let mut table = vec![vec![0; size]; size];
    for (first, second) in rows.iter().filter_map(of) {
        table[first][second] += 1;
    }
    table
}

fn kappa(table: &[Vec<u64>], linear: bool) -> Option<Kappa> {
    cohen(table, linear).map(super::agreement::Estimate::bounds)
}

fn pair(first: &str, second: &str, table: &[Vec<u64>]) -> Pair {
    let all: u64 = table.iter().flatten().sum();
    let same: u64 = table.iter().enumerate().map(|(place, row)| row[place]).sum();
    let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    Pair {
        first: first.to_owned(),
        second: second.to_owned(),
        same,
        share: Share::of(small(same), small(all)),
        kappa: kappa(table, false),
        weighted: None,
        drops: None,
    }
}

fn among(annotators: &[String], rows: &[AnnotationRow], size: usize, of: One<'_>) -> Option<Coefficient> {
    if annotators.len() < 3 {
        return None;
    }
    let things: Vec<Vec<u64>> = rows
        .iter()
        .map(|row| {
            let mut counts = vec![0; size];
            for answer in annotators.iter().filter_map(|who| of(row, who)) {
                counts[answer] += 1;
            }
            counts
        })
        .collect();
    fleiss(&things).map(Coefficient::within)
}

impl Annotation {
    /// What came of it, for a terminal.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.agreement_text(), self.reasons_text())
    }

    /// How well annotators agree, for a terminal.
    pub fn agreement_text(&self) -> String {
        let mut text = String::from("agreement\n");
        let bounds = |kappa: Option<Kappa>| {
            kappa.map_or_else(
                || "–".to_owned(),
                |kappa| {
                    // The standard error is one of large samples (see `agreement`): of few answers it may be 0, and tells nothing.
                    if kappa.low == kappa.high {
                        return format!("{:.4} (no bounds can be told)", kappa.kappa.value());
                    }
                    format!(
                        "{:.4} ({:.4} to {:.4})",
                        kappa.kappa.value(),
                        kappa.low.value(),
                        kappa.high.value()
                    )
                },
            )
        };
        for agreement in &self.agreement {
            let name = if agreement.question.is_empty() {
                "stays or goes"
            } else {
                &agreement.question
            };
            for pair in &agreement.pairs {
                let _ = write!(
                    text,
                    "  {name}: {} and {} agree on {} of {} ({:.2} %), kappa {}",
                    pair.first,
                    pair.second,
                    pair.same,
                    self.annotated,
                    pair.share.value() * 100.0,
                    bounds(pair.kappa)
                );
                if pair.weighted.is_some() {
                    let _ = write!(text, ", linear {}", bounds(pair.weighted));
                }
                if !agreement.question.is_empty() {
                    let _ = write!(text, ", of whether it goes {}", bounds(pair.drops));
                }
                text.push('\n');
            }
            if let Some(fleiss) = agreement.fleiss {
                let _ = writeln!(text, "  {name}: Fleiss' kappa of all {:.4}", fleiss.value());
            }
        }
        text
    }

    /// What stays and what goes, for a terminal.
    fn reasons_text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{} looked at, {} decided, {} stay, {} go",
            self.annotated, self.adjudicated, self.kept, self.dropped
        );
        for reason in &self.reasons {
            let _ = writeln!(text, "  {:>5}  {}", reason.instances, reason.reason);
        }
        if !self.combinations.is_empty() {
            text.push_str("of these for exactly\n");
        }
        for combination in &self.combinations {
            let _ = writeln!(
                text,
                "  {:>5}  {}",
                combination.instances,
                combination.reasons.join(" + ")
            );
        }
        text
    }
}
