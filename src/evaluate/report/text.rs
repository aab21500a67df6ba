//! The report for a terminal, and as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Kind, Report};
use crate::domain::rate::{PassRate, Share};
use crate::domain::text::{line, markdown as escaped};
use crate::evaluate::result::{Class, Outcome};
use crate::evaluate::score::{Metric, Scores};

/// How many ids one line names.
const NAMED: usize = 8;

/// The metrics by their names, in the order of reports.
pub(super) fn metrics(scores: &Scores) -> [(&'static str, &Metric); 8] {
    [
        ("Success%", &scores.success),
        ("Applied%", &scores.applied),
        ("File%", &scores.files),
        ("RT%", &scores.regression),
        ("FV-Micro", &scores.feature_micro),
        ("FV-Macro", &scores.feature_macro),
        ("Pass fraction", &scores.pass_fraction),
        ("Resolved runs", &scores.resolved_runs),
    ]
}

/// A share as a percentage with two decimals; `none` of nothing.
pub(in crate::evaluate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "none".to_owned(), |share| format!("{:.2} %", share * 100.0))
}

/// `3 of 5 instances`; sums of shares with two decimals.
pub(super) fn counted(metric: &Metric) -> String {
    let numerator = if metric.numerator.fract() == 0.0 {
        format!("{:.0}", metric.numerator)
    } else {
        format!("{:.2}", metric.numerator)
    };
    format!("{numerator} of {} {}", metric.denominator, metric.of)
}

/// A rate with its interval; `none` of nothing.
pub(in crate::evaluate) fn rate(rate: Option<&PassRate>) -> String {
    let percent = |share: Share| percent(Some(share.value()));
    rate.map_or_else(
        || "none".to_owned(),
        |rate| {
            format!(
                "{} ({} to {})",
                percent(rate.rate),
                percent(rate.low),
                percent(rate.high)
            )
        },
    )
}

/// What is evaluated, in a line.
pub(super) fn title(report: &Report) -> String {
    let what = match report.kind {
        Kind::Predictions if report.model.is_empty() => "predictions of an unnamed model".to_owned(),
        Kind::Predictions => format!("predictions of {}", report.model),
        Kind::Gold => "the gold patches".to_owned(),
        Kind::Null => "the empty patch".to_owned(),
    };
    let part = match report.conditions.only.len() {
        0 => String::new(),
        count => format!(", {count} chosen instances alone"),
    };
    format!("{} {}: {what}{part}", report.dataset, report.version)
}

/// Why an instance is in its class, in a line.
pub(super) fn because(outcome: &Outcome) -> String {
    match outcome.class {
        Class::Resolved => "every test passed".to_owned(),
        Class::Empty => "the prediction holds no patch".to_owned(),
        Class::Missing => "there is no prediction".to_owned(),
        Class::NotApplied => first_line(&outcome.detail),
        Class::Infra => with_detail(outcome),
        Class::Unresolved if outcome.ended != "ok" => with_detail(outcome),
        Class::Unresolved => {
            let kept = outcome.pass_to_pass_passed;
            let flaky = if outcome.flaky {
                format!(
                    "; flaky: resolved in {} of {} runs",
                    outcome.resolved_runs, outcome.runs
                )
            } else {
                String::new()
            };
            format!(
                "{} of {} FAIL_TO_PASS and {kept} of {} PASS_TO_PASS passed{flaky}",
                outcome.fail_to_pass_passed, outcome.fail_to_pass, outcome.pass_to_pass
            )
        }
    }
}

fn with_detail(outcome: &Outcome) -> String {
    if outcome.detail.is_empty() {
        outcome.ended.clone()
    } else {
        format!("{}: {}", outcome.ended, first_line(&outcome.detail))
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// What is to be said beside the scores.
pub(super) fn notes(report: &Report) -> Vec<String> {
    let mut notes = vec![];
    let mut note = |what: &str, names: Vec<String>| {
        if !names.is_empty() {
            let more = names.len().saturating_sub(NAMED);
            let mut shown: Vec<String> = names.into_iter().take(NAMED).collect();
            if more > 0 {
                shown.push(format!("and {more} more"));
            }
            notes.push(format!("{what}: {}", shown.join(", ")));
        }
    };
    let beside = &report.beside;
    let place = |named: &super::Named| format!("{} ({})", named.instance, named.place);
    note(
        &format!("{} for no instance of this version", beside.unknown.len()),
        beside.unknown.iter().map(place).collect(),
    );
    note(
        &format!(
            "{} replaced by a later one for the same instance",
            beside.replaced.len()
        ),
        beside.replaced.iter().map(place).collect(),
    );
    note(
        &format!("{} without a prediction", beside.missing.len()),
        beside.missing.iter().map(ToString::to_string).collect(),
    );
    note(
        &format!("{} without a patch", beside.empty.len()),
        beside.empty.iter().map(ToString::to_string).collect(),
    );
    note(
        &format!("{} whose runs do not say the same", report.flaky.len()),
        report.flaky.iter().map(ToString::to_string).collect(),
    );
    let infra = report
        .outcomes
        .iter()
        .filter(|outcome| outcome.class == Class::Infra);
    let infra: Vec<String> = infra
        .map(|outcome| format!("{} ({})", outcome.instance_id, outcome.ended))
        .collect();
    let counted = if report.conditions.count_infra {
        "counted as not resolved"
    } else {
        "left out of every rate"
    };
    note(
        &format!("{} broken off by the outside, {counted}", infra.len()),
        infra,
    );
    let edited = report.outcomes.iter().filter(|outcome| !outcome.edits.is_empty());
    let edited: Vec<String> = edited
        .map(|outcome| {
            let files: Vec<String> = outcome.edits.iter().map(|edit| edit.path.to_string()).collect();
            format!("{} ({})", outcome.instance_id, files.join(" "))
        })
        .collect();
    note(
        &format!("{} that edit what has a say in how tests run", edited.len()),
        edited,
    );
    let forged = report.outcomes.iter().filter(|outcome| outcome.forged_lines > 0);
    let forged: Vec<String> = forged.map(|outcome| outcome.instance_id.to_string()).collect();
    note(
        &format!("{} whose tests wrote results of their own", forged.len()),
        forged,
    );
    notes
}

/// The report for a terminal.
pub fn table(report: &Report) -> String {
    let mut text = format!("{}\n\n", line(&title(report)));
    let widest = report
        .outcomes
        .iter()
        .map(|outcome| outcome.instance_id.as_str().len())
        .max()
        .unwrap_or(0);
    for outcome in report.outcomes.iter().filter(|one| one.class != Class::Resolved) {
        let _ = writeln!(
            text,
            "{:widest$}  {:<11}  {}",
            line(outcome.instance_id.as_str()),
            outcome.class.name(),
            line(&because(outcome))
        );
    }
    let classes: Vec<String> = Class::ALL
        .iter()
        .filter_map(|class| {
            let count = report.scores.classes.get(class.name()).copied().unwrap_or(0);
            (count > 0).then(|| format!("{count} {}", class.name()))
        })
        .collect();
    let _ = writeln!(
        text,
        "{} instances: {}\n",
        report.outcomes.len(),
        classes.join(", ")
    );
    let _ = writeln!(
        text,
        "Resolution rate  {}, Wilson 95 %",
        rate(report.scores.resolution.as_ref())
    );
    for (name, metric) in metrics(&report.scores) {
        let _ = writeln!(
            text,
            "{name:<15}  {:>8}  {}",
            percent(metric.value),
            counted(metric)
        );
    }
    for (head, group) in groups(report) {
        if group.len() > 1 {
            let _ = writeln!(text, "\n{head}");
            for (name, scores) in group {
                let _ = writeln!(
                    text,
                    "  {:<24}  {}  {}",
                    line(name),
                    rate(scores.resolution.as_ref()),
                    counted(&scores.success)
                );
            }
        }
    }
    let notes = notes(report);
    if !notes.is_empty() {
        text.push('\n');
        for note in notes {
            let _ = writeln!(text, "{}", line(&note));
        }
    }
    text
}

/// The groups of a report, with their heads.
pub(super) fn groups(report: &Report) -> [(&'static str, &BTreeMap<String, Scores>); 3] {
    [
        ("By repository", &report.by_repo),
        ("By split", &report.by_split),
        ("By month of merge", &report.by_month),
    ]
}

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut text = format!("# {}\n\n", escaped(&title(report)));
    let conditions = &report.conditions;
    let _ = writeln!(
        text,
        "{} instances, {} run(s) each, room `{}`, fuzz {}; outcomes of class infra are {}.\n",
        report.outcomes.len(),
        conditions.runs,
        conditions.room,
        conditions.fuzz,
        if conditions.count_infra {
            "counted as not resolved"
        } else {
            "left out of every rate"
        }
    );
    let _ = writeln!(
        text,
        "Resolution rate: **{}**, Wilson 95 %.\n",
        rate(report.scores.resolution.as_ref())
    );
    text.push_str("| metric | value | counted |\n|---|---:|---|\n");
    for (name, metric) in metrics(&report.scores) {
        let _ = writeln!(
            text,
            "| {name} | {} | {} |",
            percent(metric.value),
            counted(metric)
        );
    }
    text.push_str("\n| class | instances |\n|---|---:|\n");
    for class in Class::ALL {
        let count = report.scores.classes.get(class.name()).copied().unwrap_or(0);
        let _ = writeln!(text, "| {} | {count} |", class.name());
    }
    for (head, group) in groups(report) {
        if !group.is_empty() {
            let _ = writeln!(
                text,
                "\n## {head}\n\n| | resolution rate | resolved |\n|---|---|---|"
            );
            for (name, scores) in group {
                let _ = writeln!(
                    text,
                    "| {} | {} | {} |",
                    escaped(name),
                    rate(scores.resolution.as_ref()),
                    counted(&scores.success)
                );
            }
        }
    }
    let notes = notes(report);
    if !notes.is_empty() {
        text.push_str("\n## To be said beside\n\n");
        for note in notes {
            let _ = writeln!(text, "- {}", escaped(&note));
        }
    }
    text.push_str("\n## Instances\n\n| instance | class | why |\n|---|---|---|\n");
    for outcome in &report.outcomes {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            escaped(outcome.instance_id.as_str()),
            outcome.class.name(),
            escaped(&because(outcome))
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::report;
    use super::*;

    #[test]
    fn the_table_tells_what_is_not_resolved_and_what_the_rates_are_of() {
        insta::assert_snapshot!(table(&report()), @r"
        tiny 1.0.0: predictions of m_7

        a__b-2  unresolved   1 of 4 FAIL_TO_PASS and 4 of 4 PASS_TO_PASS passed; flaky: resolved in 1 of 3 runs
        a__b-3  not_applied  error: patch failed: src/a.py:3
        a__b-4  missing      there is no prediction
        a__b-5  infra        disk-full
        5 instances: 1 resolved, 1 unresolved, 1 not_applied, 1 missing, 1 infra

        Resolution rate  25.00 % (4.55 % to 69.94 %), Wilson 95 %
        Success%          25.00 %  1 of 4 instances
        Applied%          50.00 %  2 of 4 instances
        File%              0.00 %  0 of 4 instances
        RT%               50.00 %  2 of 4 instances
        FV-Micro          37.50 %  3 of 8 FAIL_TO_PASS tests
        FV-Macro          31.25 %  1.25 of 4 instances
        Pass fraction     40.62 %  1.62 of 4 instances
        Resolved runs     50.00 %  2 of 4 runs

        By month of merge
          2024-01                   33.33 % (6.14 % to 79.24 %)  1 of 3 instances
          2024-02                   0.00 % (0.00 % to 79.35 %)  0 of 1 instances

        1 without a prediction: a__b-4
        1 whose runs do not say the same: a__b-2
        1 broken off by the outside, left out of every rate: a__b-5 (disk-full)
        ");
    }

    #[test]
    fn markdown_holds_its_tables_together() {
        let mut report = report();
        "<img src=x>\u{1b}[2J\n| x".clone_into(&mut report.model);
        let text = markdown(&report);
        assert!(!text.contains("<img") && !text.contains('\u{1b}'), "{text}");
        let rows = text.lines().filter(|line| line.starts_with("| a"));
        for row in rows {
            assert_eq!(row.replace(r"\|", "").matches('|').count(), 4, "{row}");
        }
        assert!(
            text.contains("| Success% | 25.00 % | 1 of 4 instances |"),
            "{text}"
        );
    }
}
