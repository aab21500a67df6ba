//! Two versions: instances that came, went and changed, test by test; the funnels side by side; environments.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::funnel::Step;

/// The fields of a row that hold tests, by the list's name.
const LISTS: [&str; 6] = [
    "FAIL_TO_PASS",
    "PASS_TO_PASS",
    "PASS_TO_FAIL",
    "flaky",
    "order_dependent",
    "not_addressable",
];
/// Texts up to this length are shown, longer ones by their length.
const SHOWN: usize = 80;

/// A version as this stage sees it: rows are values, so that versions of any dataset, or imported ones, can be compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// Rows by `instance_id`.
    pub instances: BTreeMap<String, Value>,
    /// Its funnel.
    pub funnel: Vec<Step>,
    /// Locks by their address: the text of each.
    pub locks: BTreeMap<String, String>,
    /// Why those that its log knows and that are not in it are not: step and evidence, by instance.
    pub ends: BTreeMap<String, String>,
    /// Fields that its rows cannot know, as those of an import.
    pub untold: BTreeSet<String>,
}

/// A test that is in another list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The test.
    pub test: String,
    /// The list that it was in; `null` for none.
    pub from: Option<String>,
    /// The list that it is in; `null` for none.
    pub to: Option<String>,
}

/// A field with another value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub field: String,
    /// What it was, shortened.
    pub from: String,
    /// What it is, shortened.
    pub to: String,
}

/// An instance of both versions that is not the same in both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The instance.
    pub instance_id: String,
    /// Fields, lists of tests left out.
    pub fields: Vec<Field>,
    /// Tests that are in another list.
    pub tests: Vec<Moved>,
}

/// A step of either funnel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Its name.
    pub step: String,
    /// In the first version.
    pub a: Option<Step>,
    /// In the second.
    pub b: Option<Step>,
}

/// Two locks that instances of both versions went from and to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocked {
    /// The lock in the first version.
    pub from: String,
    /// The lock in the second.
    pub to: String,
    /// How many instances.
    pub instances: usize,
    /// Distributions with another version: name, from, to.
    pub distributions: Vec<(String, Option<String>, Option<String>)>,
}

/// In what two versions differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// The first.
    pub a: String,
    /// The second.
    pub b: String,
    /// Instances of the second alone.
    pub added: Vec<String>,
    /// Instances of the first alone.
    pub dropped: Vec<String>,
    /// Why each of those is not in the version that lacks it, where that version's log knows it: step and evidence.
    pub why: BTreeMap<String, String>,
    /// Instances that differ.
    pub changed: Vec<Changed>,
    /// Instances that are the same.
    pub same: usize,
    /// Both funnels, step by step.
    pub funnel: Vec<Pair>,
    /// Locks that changed.
    pub locks: Vec<Relocked>,
    /// Fields that were not compared, as the rows of one side cannot know them.
    #[serde(default)]
    pub not_compared: Vec<String>,
}

/// Compares two versions.
pub fn diff(a: &Side, b: &Side) -> Diff {
    let only = |one: &Side, other: &Side| {
        let keys = one.instances.keys();
        keys.filter(|id| !other.instances.contains_key(*id))
            .cloned()
            .collect()
    };
    let untold: BTreeSet<&String> = a.untold.union(&b.untold).collect();
    let (mut changed, mut same) = (vec![], 0);
    let mut relocked: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (id, one) in &a.instances {
        let Some(other) = b.instances.get(id) else {
            continue;
        };
        let (fields, tests) = (fields(one, other, &untold), moved(one, other));
        if fields.is_empty() && tests.is_empty() {
            same += 1;
            continue;
        }
        let lock = |row: &Value| row.get("lock").and_then(Value::as_str).map(str::to_owned);
        if let (Some(from), Some(to)) = (lock(one), lock(other))
            && from != to
        {
            *relocked.entry((from, to)).or_default() += 1;
        }
        changed.push(Changed {
            instance_id: id.clone(),
            fields,
            tests,
        });
    }
    let steps: Vec<&String> = {
        let mut seen = BTreeSet::new();
        let all = a.funnel.iter().chain(&b.funnel).map(|step| &step.step);
        all.filter(|step| seen.insert(step.as_str())).collect()
    };
    let find = |side: &Side, name: &str| side.funnel.iter().find(|step| step.step == name).cloned();
    let (added, dropped): (Vec<String>, Vec<String>) = (only(b, a), only(a, b));
    let why = |ids: &[String], other: &Side| {
        let known = |id: &String| Some((id.clone(), other.ends.get(id)?.clone()));
        ids.iter().filter_map(known).collect::<Vec<_>>()
    };
    Diff {
        a: a.name.clone(),
        b: b.name.clone(),
        why: why(&added, a).into_iter().chain(why(&dropped, b)).collect(),
        added,
        dropped,
        changed,
        same,
        not_compared: untold.into_iter().cloned().collect(),
        funnel: steps
            .into_iter()
            .map(|step| Pair {
                step: step.clone(),
                a: find(a, step),
                b: find(b, step),
            })
            .collect(),
        locks: relocked
            .into_iter()
            .map(|((from, to), instances)| Relocked {
                distributions: distributions(a.locks.get(&from), b.locks.get(&to)),
                from,
                to,
                instances,
            })
            .collect(),
    }
}

fn fields(one: &Value, other: &Value, untold: &BTreeSet<&String>) -> Vec<Field> {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else {
        return vec![];
    };
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names
        .into_iter()
        .filter(|name| !LISTS.contains(&name.as_str()) && !untold.contains(name))
        .filter(|name| one.get(*name) != other.get(*name))
        .filter(|name| untold.is_empty() || !is_same_patch(one.get(*name), other.get(*name)))
        .map(|name| Field {
            field: name.clone(),
            from: short(one.get(name)),
            to: short(other.get(name)),
        })
        .collect()
}

/// Whether two texts are one patch, apart from its `index` lines: published sets shorten the objects' names, or leave them out.
fn is_same_patch(one: Option<&Value>, other: Option<&Value>) -> bool {
    let lines = |value: Option<&Value>| -> Option<Vec<String>> {
        let text = value?.as_str().filter(|text| text.starts_with("diff --git "))?;
        let told = text.split('\n').filter(|line| !line.starts_with("index "));
        Some(told.map(str::to_owned).collect())
    };
    lines(one).is_some_and(|one| Some(one) == lines(other))
}

fn short(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) if text.len() > SHOWN || text.contains('\n') => {
            format!("{} bytes, {} lines", text.len(), text.lines().count())
        }
        Some(value) => {
            let text = value.to_string();
            if text.chars().count() > SHOWN {
                text.chars().take(SHOWN).chain("…".chars()).collect()
            } else {
                text
            }
        }
    }
}

/// Which list each test of a row is in.
fn lists(row: &Value) -> BTreeMap<&str, &'static str> {
    let mut found = BTreeMap::new();
    for list in LISTS {
        let tests = row.get(list).and_then(Value::as_array).into_iter().flatten();
        for test in tests {
            // Flaky and order-dependent tests are objects.
            if let Some(name) = test.as_str().or_else(|| test.get("test")?.as_str()) {
                found.insert(name, list);
            }
        }
    }
    found
}

fn moved(one: &Value, other: &Value) -> Vec<Moved> {
    let (from, to) = (lists(one), lists(other));
    let tests: BTreeSet<&str> = from.keys().chain(to.keys()).copied().collect();
    tests
        .into_iter()
        .filter(|test| from.get(test) != to.get(test))
        .map(|test| Moved {
            test: test.to_owned(),
            from: from.get(test).map(|list| (*list).to_owned()),
            to: to.get(test).map(|list| (*list).to_owned()),
        })
        .collect()
}

fn distributions(
    from: Option<&String>,
    to: Option<&String>,
) -> Vec<(String, Option<String>, Option<String>)> {
    let read = |lock: Option<&String>| -> BTreeMap<String, String> {
        let lines = lock.map(String::as_str).unwrap_or_default().lines();
        lines
            .filter_map(|line| {
                let (name, rest) = line.split_once("==")?;
                let version = rest.split([' ', ';', '\\']).next().unwrap_or_default();
                let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
                name.chars()
                    .all(is_name)
                    .then(|| (name.to_owned(), version.to_owned()))
            })
            .collect()
    };
    let (from, to) = (read(from), read(to));
    let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
    names
        .into_iter()
        .filter(|name| from.get(*name) != to.get(*name))
        .map(|name| (name.clone(), from.get(name).cloned(), to.get(name).cloned()))
        .collect()
}

impl Diff {
    /// The difference for a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("{} → {}\n", self.a, self.b);
        let _ = writeln!(
            text,
            "{} added, {} dropped, {} changed, {} the same\n",
            self.added.len(),
            self.dropped.len(),
            self.changed.len(),
            self.same
        );
        if !self.not_compared.is_empty() {
            let _ = writeln!(
                text,
                "not compared, as one side cannot know them: {}\n",
                self.not_compared.join(", ")
            );
        }
        for (sign, ids) in [('+', &self.added), ('-', &self.dropped)] {
            for id in ids {
                let why = self
                    .why
                    .get(id)
                    .map_or_else(String::new, |why| format!("  ({why})"));
                let _ = writeln!(text, "{sign} {id}{why}");
            }
        }
        let or_none = |list: &Option<String>| list.clone().unwrap_or_else(|| "nowhere".to_owned());
        for changed in &self.changed {
            let _ = writeln!(text, "~ {}", changed.instance_id);
            for field in &changed.fields {
                let _ = writeln!(text, "    {}: {} → {}", field.field, field.from, field.to);
            }
            for moved in &changed.tests {
                let _ = writeln!(
                    text,
                    "    {}: {} → {}",
                    moved.test,
                    or_none(&moved.from),
                    or_none(&moved.to)
                );
            }
        }
        for lock in &self.locks {
            let _ = writeln!(
                text,
                "lock {} → {} ({} instance{})",
                lock.from.get(..12).unwrap_or(&lock.from),
                lock.to.get(..12).unwrap_or(&lock.to),
                lock.instances,
                if lock.instances == 1 { "" } else { "s" }
            );
            for (name, from, to) in &lock.distributions {
                let _ = writeln!(text, "    {name}: {} → {}", or_none(from), or_none(to));
            }
        }
        let width = self
            .funnel
            .iter()
            .map(|pair| pair.step.len())
            .max()
            .unwrap_or(0)
            .max(4);
        let _ = writeln!(
            text,
            "\n{:width$}  {:>15}  {:>15}",
            "step", "in → out", "in → out"
        );
        for pair in &self.funnel {
            let side = |step: &Option<Step>| {
                step.as_ref().map_or_else(
                    || "–".to_owned(),
                    |step| format!("{} → {}", step.entered, step.out),
                )
            };
            let _ = writeln!(
                text,
                "{:width$}  {:>15}  {:>15}",
                pair.step,
                side(&pair.a),
                side(&pair.b)
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn versions_are_compared_field_by_field_and_test_by_test() {
        let row = |lock: &str, fail: &[&str], pass: &[&str], patch: &str| {
            json!({"instance_id": "x", "lock": lock, "FAIL_TO_PASS": fail, "PASS_TO_PASS": pass, "patch": patch,
                   "flaky": [{"test": "f", "passed_before": 1}]})
        };
        let step = |name: &str, out| Step {
            step: name.to_owned(),
            entered: 9,
            out,
            ..Step::default()
        };
        let side = |name: &str, rows: &[(&str, Value)], funnel: Vec<Step>| Side {
            name: name.to_owned(),
            instances: rows
                .iter()
                .map(|(id, row)| ((*id).to_owned(), row.clone()))
                .collect(),
            funnel,
            ends: [("gone".to_owned(), "old-rule: because".to_owned())].into(),
            locks: [
                (
                    "l1".to_owned(),
                    "click==8.0 \\\n    --hash=sha256:0\nflask==2.0\n".to_owned(),
                ),
                (
                    "l2".to_owned(),
                    "click==8.1 ; python_version < '4'\nflask==2.0\nnew==1\n".to_owned(),
                ),
            ]
            .into(),
            untold: BTreeSet::new(),
        };
        let same = row("l1", &["a"], &["b"], "p");
        let a = side(
            "t 1.0.0",
            &[
                ("gone", same.clone()),
                ("same", same.clone()),
                ("x", row("l1", &["a", "c"], &["b"], "p\nq")),
            ],
            vec![step("mine", 5), step("old-rule", 3)],
        );
        let b = side(
            "t 1.1.0",
            &[
                ("same", same.clone()),
                ("x", row("l2", &["a"], &["c"], "p")),
                ("new", same),
            ],
            vec![step("mine", 6)],
        );
        let found = diff(&a, &b);
        insta::assert_snapshot!(found.text(), @r#"
        t 1.0.0 → t 1.1.0
        1 added, 1 dropped, 1 changed, 1 the same

        + new
        - gone  (old-rule: because)
        ~ x
            lock: "l1" → "l2"
            patch: 3 bytes, 2 lines → "p"
            b: PASS_TO_PASS → nowhere
            c: FAIL_TO_PASS → PASS_TO_PASS
        lock l1 → l2 (1 instance)
            click: 8.0 → 8.1
            new: nowhere → 1

        step             in → out         in → out
        mine                9 → 5            9 → 6
        old-rule            9 → 3                –
        "#);
        assert_eq!(diff(&a, &a).changed, []);
    }
    #[test]
    fn what_one_side_cannot_know_is_no_difference() {
        let side = |name: &str, row: Value, untold: &[&str]| Side {
            name: name.to_owned(),
            instances: [("x".to_owned(), row)].into(),
            untold: untold.iter().map(|name| (*name).to_owned()).collect(),
            ..Side::default()
        };
        let patch =
            |index: &str| format!("diff --git a/a b/a\n{index}--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n");
        let published = json!({"lock": null, "patch": patch(""), "FAIL_TO_PASS": ["a"]});
        let verified = json!({"lock": "l", "patch": patch("index 1..2 100644\n"), "FAIL_TO_PASS": ["a"]});
        let known = diff(
            &side("a", published.clone(), &[]),
            &side("b", verified.clone(), &[]),
        );
        assert_eq!((known.changed.len(), known.same), (1, 0));
        let found = diff(&side("a", published, &["lock"]), &side("b", verified, &[]));
        assert_eq!((found.changed.len(), found.same), (0, 1));
        assert!(
            found
                .text()
                .contains("not compared, as one side cannot know them: lock"),
            "{}",
            found.text()
        );
    }
}
