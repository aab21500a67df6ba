//! The report as one page: no network, from disk as well, readable without scripts.

use std::collections::BTreeMap;

use minijinja::{Environment, context};
use serde::Serialize;

use super::Report;
use super::text::{because, counted, groups, metrics, notes, percent, rate, title};
use crate::domain::ids::InstanceId;
use crate::evaluate::result::{Class, Outcome};

const TEMPLATE: &str = include_str!("../../../data/report/evaluation.html");
const STYLE: &str = include_str!("../../../data/report/page.css");

/// How many tests of one instance the page names.
const TESTS: usize = 200;
/// How many bytes of one log the page shows: its end.
const LOG: usize = 16 << 10;

#[derive(Serialize)]
struct Row {
    name: String,
    value: String,
    counted: String,
}

#[derive(Serialize)]
struct Group {
    name: &'static str,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Count {
    name: &'static str,
    count: u64,
}

#[derive(Serialize)]
struct Test {
    name: String,
    status: String,
}

#[derive(Serialize)]
struct EditLine {
    path: String,
    kind: String,
    fate: &'static str,
}

#[derive(Serialize)]
struct LogText {
    id: String,
    text: String,
}

#[derive(Serialize)]
struct Instance {
    id: String,
    class: &'static str,
    tone: &'static str,
    repo: String,
    because: String,
    how: String,
    not_passed: Vec<Test>,
    more: usize,
    edits: Vec<EditLine>,
    logs: Vec<LogText>,
}

/// The page. `logs` are the texts to show, by instance, in the order of its runs.
///
/// # Errors
/// Never in practice: the template is this program's own.
pub fn html(report: &Report, logs: &BTreeMap<InstanceId, Vec<String>>) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.add_template("evaluation.html", TEMPLATE)?;
    let conditions = &report.conditions;
    let table: Vec<Row> = metrics(&report.scores)
        .into_iter()
        .map(|(name, metric)| Row {
            name: name.to_owned(),
            value: percent(metric.value),
            counted: counted(metric),
        })
        .collect();
    let repos: Vec<&String> = report.by_repo.keys().collect();
    let classes: Vec<Count> = Class::ALL
        .iter()
        .map(|class| Count {
            name: class.name(),
            count: report.scores.classes.get(class.name()).copied().unwrap_or(0),
        })
        .collect();
    let groups: Vec<Group> = groups(report)
        .into_iter()
        .filter(|(_, group)| !group.is_empty())
        .map(|(name, group)| Group {
            name,
            rows: group
                .iter()
                .map(|(name, scores)| Row {
                    name: name.clone(),
                    value: rate(scores.resolution.as_ref()),
                    counted: counted(&scores.success),
                })
                .collect(),
        })
        .collect();
    let instances: Vec<Instance> = report
        .outcomes
        .iter()
        .map(|outcome| instance(outcome, logs.get(&outcome.instance_id)))
        .collect();
    environment.get_template("evaluation.html")?.render(context! {
        css => STYLE,
        title => title(report),
        conditions => format!(
            "{} instances; {} run(s) each; room {}; fuzz {}; quarry {}",
            report.outcomes.len(), conditions.runs, conditions.room, conditions.fuzz, report.tool
        ),
        rate => percent(report.scores.success.value),
        rate_note => format!(
            "resolution rate: {}; Wilson's interval at 95 %: {}",
            counted(&report.scores.success),
            rate(report.scores.resolution.as_ref()),
        ),
        metrics => table,
        groups => groups,
        notes => notes(report),
        classes => classes,
        repos => repos,
        instances => instances,
    })
}

fn instance(outcome: &Outcome, logs: Option<&Vec<String>>) -> Instance {
    let texts = logs.map(Vec::as_slice).unwrap_or_default();
    let how = match &outcome.applied {
        Some(applied) if applied.fixes.is_empty() => {
            format!("patch applied: {}", word(&applied.strategy))
        }
        Some(applied) => {
            let fixes: Vec<String> = applied.fixes.iter().map(word).collect();
            format!(
                "patch applied: {}; mended: {}",
                word(&applied.strategy),
                fixes.join(", ")
            )
        }
        None => "no patch applied".to_owned(),
    };
    Instance {
        id: outcome.instance_id.to_string(),
        class: outcome.class.name(),
        tone: match outcome.class {
            Class::Resolved => "good",
            Class::Unresolved | Class::NotApplied => "bad",
            Class::Empty | Class::Missing | Class::Infra => "odd",
        },
        repo: outcome.repo.clone(),
        because: because(outcome),
        how: format!("{}; merged {}; {how}", outcome.repo, outcome.month),
        not_passed: outcome
            .not_passed
            .iter()
            .take(TESTS)
            .map(|(test, status)| Test {
                name: test.to_string(),
                status: word(status),
            })
            .collect(),
        more: outcome.not_passed.len().saturating_sub(TESTS),
        edits: outcome
            .edits
            .iter()
            .map(|edit| EditLine {
                path: edit.path.to_string(),
                kind: word(&edit.kind),
                fate: if edit.undone {
                    "undone before the tests ran"
                } else {
                    "kept"
                },
            })
            .collect(),
        logs: outcome
            .logs
            .iter()
            .enumerate()
            .map(|(index, id)| LogText {
                id: id.to_string(),
                text: texts.get(index).map_or_else(String::new, |text| end_of(text)),
            })
            .collect(),
    }
}

/// A value's word in JSON.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn end_of(text: &str) -> String {
    let mut start = text.len().saturating_sub(LOG);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    if start == 0 {
        text.to_owned()
    } else {
        format!("… {start} bytes left out …\n{}", &text[start..])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::report;
    use super::*;

    #[test]
    fn the_page_holds_everything_and_takes_nothing_from_outside() {
        let mut report = report();
        "<script>alert(1)</script> & more".clone_into(&mut report.outcomes[1].detail);
        report.outcomes[1].class = Class::NotApplied;
        let logs = BTreeMap::from([("a__b-1".into(), vec!["<b>a log</b>".to_owned()])]);
        report.outcomes[0].logs = vec![crate::domain::ids::BlobId::of(b"x")];
        let page = html(&report, &logs).unwrap();
        for id in ["a__b-1", "a__b-2", "a__b-3", "a__b-4"] {
            assert!(page.contains(&format!("<code>{id}</code>")), "{id}");
        }
        assert!(
            !page.contains("<script>alert") && page.contains("&lt;script&gt;alert"),
            "it is escaped"
        );
        assert!(page.contains("&lt;b&gt;a log"));
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("lang=\"en\""));
    }

    #[test]
    fn a_long_log_is_shown_by_its_end() {
        let text = "é".repeat(LOG);
        let shown = end_of(&text);
        assert!(shown.starts_with("… ") && shown.len() < LOG + 64);
    }
}
