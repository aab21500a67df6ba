//! What `quarry check --facts` shows: every fact with its type, its meaning, and who knows it.

use std::fmt::Write as _;

use serde::Serialize;

use super::facts::{self, Fact, Knows, Phase, RECORDS, Scope};

/// One fact, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactRow {
    /// Its full name.
    pub name: &'static str,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// When it becomes available.
    pub phase: Phase,
    /// Whether a git mirror knows it.
    pub git: Knows,
    /// Whether a row of a published dataset knows it.
    pub rows: Knows,
    /// What it says.
    pub meaning: &'static str,
}

/// One field of a record that facts are made of, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordRow {
    /// The record's type.
    pub record: &'static str,
    /// The field.
    pub field: &'static str,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// What it says.
    pub meaning: &'static str,
}

/// Everything rules can read, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactTable {
    /// The facts.
    pub facts: Vec<FactRow>,
    /// The fields of records.
    pub records: Vec<RecordRow>,
}

/// Everything rules can read.
pub fn fact_table() -> FactTable {
    let row = |fact: &'static Fact| FactRow {
        name: &fact.name,
        ty: fact.ty.to_string(),
        phase: fact.phase,
        git: fact.git,
        rows: fact.rows,
        meaning: &fact.meaning,
    };
    let fields = RECORDS.iter().flat_map(|record| {
        record.fields.iter().map(|field| RecordRow {
            record: record.name,
            field: field.name,
            ty: field.ty.to_string(),
            meaning: field.meaning,
        })
    });
    FactTable {
        facts: facts::table().iter().map(row).collect(),
        records: fields.collect(),
    }
}

impl FactTable {
    /// The table for a reader.
    pub fn text(&self) -> String {
        let name = self.facts.iter().map(|row| row.name.len()).max().unwrap_or(0);
        let ty = self.facts.iter().map(|row| row.ty.len()).max().unwrap_or(0);
        let mut text = String::new();
        for phase in [Phase::Git, Phase::Oracle] {
            let _ = writeln!(text, "known {}:", phase.name());
            let _ = writeln!(
                text,
                "  {:name$}  {:ty$}  {:9}  {:9}  meaning",
                "fact", "type", "mirror", "row"
            );
            for row in self.facts.iter().filter(|row| row.phase == phase) {
                let (git, rows) = (row.git.name(), row.rows.name());
                let _ = writeln!(
                    text,
                    "  {:name$}  {:ty$}  {git:9}  {rows:9}  {}",
                    row.name, row.ty, row.meaning
                );
            }
            text.push('\n');
        }
        for record in RECORDS {
            let _ = writeln!(text, "a {} has:", record.name);
            for row in self.records.iter().filter(|row| row.record == record.name) {
                let _ = writeln!(text, "  {:name$}  {:ty$}  {}", row.field, row.ty, row.meaning);
            }
            text.push('\n');
        }
        let parts: Vec<&str> = Scope::ALL.iter().map(|scope| scope.group()).collect();
        let _ = writeln!(
            text,
            "`mirror` and `row` say who knows a fact: a git mirror, a row of a published dataset. What is not known leaves a\n\
             rule undecided; of a list known `at least` in part, a rule decides what more elements could not change.\n\
             GitHub, where it was asked (`source.enrich`), knows all of `pr`, `issues`, `repo` and `dates`; lists are complete then,\n\
             but for issues that it does not show.\n\
             `has(fact)` asks whether a fact is known. {} hold the same facts of different files.",
            parts.join(", ")
        );
        text
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_names_every_fact_and_field() {
        let table = super::fact_table();
        let text = table.text();
        for row in &table.facts {
            assert!(text.contains(&format!("  {} ", row.name)), "{}", row.name);
        }
        assert!(text.contains("a change has:\n  path "));
        assert!(
            text.lines().any(|line| line.starts_with("  pr.body ")
                && line.contains("string")
                && line.contains(" no "))
        );
    }
}
