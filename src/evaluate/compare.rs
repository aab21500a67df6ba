//! Two evaluations of one version, task by task.
//!
//! Only tasks of which both say something are compared; every other one is counted by why it is not. A task says something
//! when its prediction was judged: resolved, unresolved, not applied or empty. With `scorable` it must have been run, too.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::report::{Report, percent, rate};
use super::result::{Class, Outcome};
use super::statistics::{
    Interval, Permutation, Stratified, Table, bca, bootstrap, cochran_mantel_haenszel, mcnemar_exact, mean,
    permutation,
};
use crate::domain::ids::InstanceId;
use crate::domain::rate::PassRate;
use crate::domain::text::line;

/// Bootstrap samples of each interval.
const DRAWS: usize = 10_000;

/// What tasks are put together by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strata {
    /// Their repository.
    #[default]
    Repo,
    /// Their split.
    Split,
    /// The month of their merge.
    Month,
}

/// How reports are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// What tasks are put together by.
    pub strata: Strata,
    /// Whether a task must have been run under both: predictions without a patch, or whose patch does not apply, are
    /// left out.
    pub scorable: bool,
    /// The seed of bootstrap samples and of drawn arrangements.
    pub seed: u64,
}

/// A measurement under both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Tasks that have it under both.
    pub tasks: u64,
    /// The mean under the first.
    pub mean_a: f64,
    /// The mean under the second.
    pub mean_b: f64,
    /// The stratified permutation test of second minus first.
    pub test: Permutation,
    /// The bootstrap interval (bias-corrected and accelerated) of second minus first, at 95 %.
    pub interval: Interval,
}

/// Two evaluations, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The first.
    pub a: String,
    /// The second.
    pub b: String,
    /// How.
    pub rules: Rules,
    /// Tasks that are compared.
    pub tasks: u64,
    /// Tasks that are not, by why.
    pub attrition: BTreeMap<String, Vec<InstanceId>>,
    /// `a`: resolved under both; `b`: under the first alone; `c`: under the second alone; `d`: under neither.
    pub table: Table,
    /// The first's resolution rate over these tasks, with Wilson's interval; `null`, as all that follows, over no task.
    pub rate_a: Option<PassRate>,
    /// The second's.
    pub rate_b: Option<PassRate>,
    /// The second's rate minus the first's.
    pub difference: Option<f64>,
    /// Its bootstrap interval at 95 %: tasks drawn stratum by stratum.
    pub interval: Option<Interval>,
    /// McNemar's exact p-value.
    pub mcnemar: Option<f64>,
    /// The Cochran–Mantel–Haenszel test over the strata; `null` when no stratum says anything.
    pub stratified: Option<Stratified>,
    /// Costs; `null` where the predictions tell none.
    pub cost: Option<Measured>,
    /// Steps; `null` where the predictions tell none.
    pub steps: Option<Measured>,
    /// Tasks resolved under the first alone.
    pub only_a: Vec<InstanceId>,
    /// Tasks resolved under the second alone.
    pub only_b: Vec<InstanceId>,
}

/// Why two reports cannot be compared, as a fragment of a sentence.
///
/// # Errors
/// When they are of different versions.
pub fn same_version(a: &Report, b: &Report) -> Result<(), String> {
    let of = |report: &Report| format!("{} {}", report.dataset, report.version);
    if of(a) == of(b) {
        Ok(())
    } else {
        Err(format!("one is of {}, the other of {}", of(a), of(b)))
    }
}

/// Compares two reports of one version; `names` are what they are called.
pub fn compare(names: (&str, &str), a: &Report, b: &Report, rules: Rules) -> Comparison {
    let by_id = |report: &'_ Report| -> BTreeMap<InstanceId, Outcome> {
        let outcomes = report.outcomes.iter().cloned();
        outcomes
            .map(|outcome| (outcome.instance_id.clone(), outcome))
            .collect()
    };
    let (first, second) = (by_id(a), by_id(b));
    let ids: BTreeSet<&InstanceId> = first.keys().chain(second.keys()).collect();
    let mut attrition: BTreeMap<String, Vec<InstanceId>> = BTreeMap::new();
    let mut pairs: Vec<(&Outcome, &Outcome)> = vec![];
    for id in ids {
        let (one, other) = (first.get(id), second.get(id));
        let causes = [(names.0, one), (names.1, other)].map(|(name, outcome)| {
            why_not(outcome, rules.scorable).map(|cause| format!("{cause} under {name}"))
        });
        match (one, other, causes) {
            (Some(one), Some(other), [None, None]) => pairs.push((one, other)),
            (_, _, causes) => {
                let cause: Vec<String> = causes.into_iter().flatten().collect();
                attrition.entry(cause.join(", ")).or_default().push(id.clone());
            }
        }
    }
    let is = |outcome: &Outcome| outcome.class == Class::Resolved;
    let mut table = Table::default();
    let (mut only_a, mut only_b) = (vec![], vec![]);
    let mut strata: BTreeMap<&str, Vec<(&Outcome, &Outcome)>> = BTreeMap::new();
    for (one, other) in &pairs {
        match (is(one), is(other)) {
            (true, true) => table.a += 1,
            (true, false) => {
                table.b += 1;
                only_a.push(one.instance_id.clone());
            }
            (false, true) => {
                table.c += 1;
                only_b.push(one.instance_id.clone());
            }
            (false, false) => table.d += 1,
        }
        let stratum = match rules.strata {
            Strata::Repo => one.repo.as_str(),
            Strata::Split => one.split.as_deref().unwrap_or(""),
            Strata::Month => one.month.as_str(),
        };
        strata.entry(stratum).or_default().push((one, other));
    }
    let tables: Vec<Table> = strata.values().map(|pairs| conditions(pairs)).collect();
    let differences: Vec<Vec<f64>> = strata
        .values()
        .map(|pairs| {
            let signs = pairs
                .iter()
                .map(|(one, other)| f64::from(i8::from(is(other)) - i8::from(is(one))));
            signs.collect()
        })
        .collect();
    let tasks = pairs.len() as u64;
    let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    Comparison {
        a: names.0.to_owned(),
        b: names.1.to_owned(),
        rules,
        tasks,
        attrition,
        rate_a: (tasks > 0).then(|| PassRate::of(small(table.a + table.b), small(tasks))),
        rate_b: (tasks > 0).then(|| PassRate::of(small(table.a + table.c), small(tasks))),
        difference: (tasks > 0).then(|| mean(&differences.concat())),
        interval: (tasks > 0).then(|| interval(&differences, rules.seed)),
        mcnemar: (tasks > 0).then(|| mcnemar_exact(table.b, table.c)),
        stratified: cochran_mantel_haenszel(&tables),
        cost: measured(&strata, rules.seed, |outcome| outcome.cost),
        steps: measured(&strata, rules.seed, |outcome| outcome.steps),
        table,
        only_a,
        only_b,
    }
}

/// Why a task says nothing under a condition.
fn why_not(outcome: Option<&Outcome>, scorable: bool) -> Option<&'static str> {
    match outcome.map(|outcome| outcome.class) {
        None => Some("not evaluated"),
        Some(Class::Missing) => Some("no prediction"),
        Some(Class::Infra) => Some("broken off by the outside"),
        Some(Class::Empty) if scorable => Some("no patch"),
        Some(Class::NotApplied) if scorable => Some("patch does not apply"),
        Some(Class::Resolved | Class::Unresolved | Class::NotApplied | Class::Empty) => None,
    }
}

/// A stratum as conditions by outcomes.
fn conditions(pairs: &[(&Outcome, &Outcome)]) -> Table {
    let count =
        |is: &dyn Fn(&(&Outcome, &Outcome)) -> bool| pairs.iter().filter(|pair| is(pair)).count() as u64;
    let a = count(&|(one, _)| one.class == Class::Resolved);
    let c = count(&|(_, other)| other.class == Class::Resolved);
    let n = pairs.len() as u64;
    Table {
        a,
        b: n - a,
        c,
        d: n - c,
    }
}

fn interval(strata: &[Vec<f64>], seed: u64) -> Interval {
    bca(&strata.concat(), &bootstrap(strata, DRAWS, seed))
}

fn measured(
    strata: &BTreeMap<&str, Vec<(&Outcome, &Outcome)>>,
    seed: u64,
    value: impl Fn(&Outcome) -> Option<f64>,
) -> Option<Measured> {
    let strata: Vec<Vec<(f64, f64)>> = strata
        .values()
        .map(|pairs| {
            let both = pairs
                .iter()
                .filter_map(|(one, other)| Some((value(one)?, value(other)?)));
            both.collect()
        })
        .collect();
    let differences: Vec<Vec<f64>> = strata
        .iter()
        .map(|pairs| pairs.iter().map(|(one, other)| other - one).collect())
        .collect();
    let all = strata.concat();
    let test = permutation(&differences.concat(), seed)?;
    Some(Measured {
        tasks: all.len() as u64,
        mean_a: mean(&all.iter().map(|(one, _)| *one).collect::<Vec<_>>()),
        mean_b: mean(&all.iter().map(|(_, other)| *other).collect::<Vec<_>>()),
        test,
        interval: interval(&differences, seed),
    })
}

/// The comparison for a terminal.
pub fn text(comparison: &Comparison) -> String {
    let table = &comparison.table;
    let (a, b) = (line(&comparison.a), line(&comparison.b));
    let (a, b) = (a.as_ref(), b.as_ref());
    let mut lines = vec![format!("{b} against {a}: {} tasks under both", comparison.tasks)];
    for (cause, ids) in &comparison.attrition {
        let named: Vec<&str> = ids.iter().take(5).map(InstanceId::as_str).collect();
        let more = if ids.len() > named.len() { " …" } else { "" };
        lines.push(format!(
            "  left out: {} {} ({}{more})",
            ids.len(),
            line(cause),
            named.join(" ")
        ));
    }
    let (Some(difference), Some(interval), Some(mcnemar)) =
        (comparison.difference, comparison.interval, comparison.mcnemar)
    else {
        lines.push("there is nothing to compare: of no task do both say something".to_owned());
        return lines.join("\n") + "\n";
    };
    let width = a.len().max(b.len()).max(8);
    lines.extend([
        String::new(),
        format!("  {:width$}  {b}: resolved  not resolved", ""),
        format!("  {a:width$}  resolved      {:>6}  {:>6}", table.a, table.b),
        format!("  {:width$}  not resolved  {:>6}  {:>6}", "", table.c, table.d),
        String::new(),
    ]);
    for (name, of) in [(a, &comparison.rate_a), (b, &comparison.rate_b)] {
        lines.push(format!("  {name:width$}  {}", rate(of.as_ref())));
    }
    lines.push(format!(
        "  difference {} (bootstrap 95 %: {} to {})",
        percent(Some(difference)),
        percent(Some(interval.low)),
        percent(Some(interval.high))
    ));
    lines.push(format!("  McNemar exact            p = {}", p(mcnemar)));
    lines.push(match &comparison.stratified {
        Some(test) => format!(
            "  Cochran–Mantel–Haenszel  p = {} (chi² {:.4}, {} strata, odds ratio {})",
            p(test.p),
            test.statistic,
            test.strata,
            test.odds_ratio
                .map_or_else(|| "not finite".to_owned(), |odds| format!("{odds:.3}"))
        ),
        None => "  Cochran–Mantel–Haenszel  no stratum says anything".to_owned(),
    });
    for (name, measured) in [("cost", &comparison.cost), ("steps", &comparison.steps)] {
        if let Some(measured) = measured {
            lines.push(format!(
                "  {name}: mean {:.4} against {:.4}, difference {:.4} (bootstrap 95 %: {:.4} to {:.4}), permutation p = {}{}, \
                 {} tasks",
                measured.mean_b,
                measured.mean_a,
                measured.test.difference,
                measured.interval.low,
                measured.interval.high,
                p(measured.test.p),
                if measured.test.exact { "" } else { " (drawn)" },
                measured.tasks
            ));
        }
    }
    for (name, ids) in [(a, &comparison.only_a), (b, &comparison.only_b)] {
        if !ids.is_empty() {
            let ids: Vec<&str> = ids.iter().map(InstanceId::as_str).collect();
            lines.push(format!("  only {name}: {}", ids.join(" ")));
        }
    }
    lines.join("\n") + "\n"
}

fn p(value: f64) -> String {
    if value < 0.0001 {
        format!("{value:.2e}")
    } else {
        format!("{value:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::outcome;
    use super::super::report::{Beside, Conditions, Kind, Parts};
    use super::*;

    fn report(model: &str, outcomes: Vec<Outcome>) -> Report {
        Report::new(Parts {
            tool: "0.1.0".to_owned(),
            dataset: "tiny".to_owned(),
            version: "1.0.0".to_owned(),
            kind: Kind::Predictions,
            model: model.to_owned(),
            conditions: Conditions {
                runs: 1,
                fuzz: 0,
                count_infra: false,
                room: "process".to_owned(),
                only: vec![],
            },
            beside: Beside::default(),
            outcomes,
        })
    }

    /// The roundtrip paper's tasks: 58 under both, 33 and 29 resolved, five by the first alone and one by the second.
    fn paper() -> (Report, Report) {
        let class = |yes: bool| if yes { Class::Resolved } else { Class::Unresolved };
        let tasks = |is: &dyn Fn(usize) -> bool, cost: f64| {
            let task = |index: usize| {
                let mut outcome = outcome(&format!("a__b-{index:02}"), class(is(index)), (1, 1), (1, 1));
                outcome.repo = format!("a/{}", index % 3);
                outcome.cost = Some(cost + f64::from(u32::try_from(index % 4).unwrap()));
                outcome
            };
            (0..58).map(task).collect::<Vec<_>>()
        };
        let mut first = tasks(&|index| index < 33, 1.0);
        let mut second = tasks(&|index| (5..33).contains(&index) || index == 40, 2.0);
        first.push(outcome("a__b-90", Class::Infra, (0, 1), (0, 1)));
        second.push(outcome("a__b-90", Class::Missing, (0, 1), (0, 1)));
        second.push(outcome("a__b-91", Class::Resolved, (1, 1), (1, 1)));
        (report("issue", first), report("compact", second))
    }

    #[test]
    fn paired_tasks_alone_are_compared_and_the_rest_is_counted_by_its_cause() {
        let (a, b) = paper();
        assert_eq!(same_version(&a, &b), Ok(()));
        let found = compare(("issue", "compact"), &a, &b, Rules::default());
        assert_eq!(
            (found.tasks, found.table),
            (
                58,
                Table {
                    a: 28,
                    b: 5,
                    c: 1,
                    d: 24
                }
            )
        );
        assert_eq!(format!("{:.2}", found.mcnemar.unwrap()), "0.22");
        assert_eq!(found.stratified.unwrap().strata, 3);
        let cost = found.cost.as_ref().unwrap();
        assert!((cost.test.difference - 1.0).abs() < 1e-9 && !cost.test.exact && cost.test.p < 1e-4);
        assert_eq!(found.steps, None);
        let (interval, difference) = (found.interval.unwrap(), found.difference.unwrap());
        assert!(interval.low < difference && difference < interval.high);
        let causes: Vec<(&str, usize)> = found
            .attrition
            .iter()
            .map(|(cause, ids)| (cause.as_str(), ids.len()))
            .collect();
        assert_eq!(
            causes,
            [
                (
                    "broken off by the outside under issue, no prediction under compact",
                    1
                ),
                ("not evaluated under issue", 1)
            ]
        );
        assert_eq!(
            found,
            compare(("issue", "compact"), &a, &b, Rules::default()),
            "it is the same again"
        );
        let text = text(&found);
        assert!(text.contains("McNemar exact            p = 0.218"), "{text}");
        assert!(text.contains("only compact: a__b-40"), "{text}");
    }

    #[test]
    fn over_no_task_there_is_nothing_to_compare() {
        let (a, mut b) = paper();
        b.outcomes.clear();
        let found = compare(("a", "b"), &a, &b, Rules::default());
        let json = serde_json::to_value(&found).unwrap();
        for key in [
            "rate_a",
            "rate_b",
            "difference",
            "interval",
            "mcnemar",
            "stratified",
        ] {
            assert!(json[key].is_null(), "{json}");
        }
        let text = text(&found);
        assert!(
            text.contains("there is nothing to compare") && !text.contains('%'),
            "{text}"
        );
    }

    #[test]
    fn what_was_not_run_is_left_out_on_demand() {
        let (a, mut b) = paper();
        b.outcomes[0].class = Class::NotApplied;
        b.outcomes[1].class = Class::Empty;
        let rules = Rules {
            scorable: true,
            ..Rules::default()
        };
        assert_eq!(compare(("a", "b"), &a, &b, Rules::default()).tasks, 58);
        let found = compare(("a", "b"), &a, &b, rules);
        assert_eq!((found.tasks, found.table.b), (56, 3));
        assert_eq!(found.attrition["patch does not apply under b"].len(), 1);
        b.version = "2.0.0".to_owned();
        assert!(same_version(&a, &b).is_err());
    }
}
