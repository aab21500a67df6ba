//! How large the tasks of a set are, as Doc2Feat-Bench reports them (section 3, figure 4; section 5.3 for single files).

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::diff::file_changes;
use crate::domain::patch::{ChangeKind, FileChange};
use crate::emit::assemble::MANIFEST;
use crate::emit::check::Problem;
use crate::emit::instance::{Instance, PatchField};
use crate::emit::manifest::Manifest;

/// What is measured of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Words of the statement.
    pub words: usize,
    /// Files of the gold patch.
    pub files: usize,
    /// Its hunks.
    pub hunks: u64,
    /// Lines that it adds and removes.
    pub lines: u64,
    /// Whether it makes a new file.
    pub new_file: bool,
}

impl Size {
    /// Measures a task by its statement and the files of its gold patch.
    pub fn of<'f>(statement: &str, gold: impl Iterator<Item = &'f FileChange>) -> Self {
        let mut size = Self {
            words: statement.split_whitespace().count(),
            files: 0,
            hunks: 0,
            lines: 0,
            new_file: false,
        };
        for file in gold {
            size.files += 1;
            size.hunks += u64::from(file.hunks);
            size.lines += u64::from(file.added) + u64::from(file.removed);
            size.new_file |= file.change == ChangeKind::Added;
        }
        size
    }
}

/// A number with two decimals: a mean, or a share in percent. It is kept in hundredths, so that equal sets have equal
/// numbers, and written as what it is (`425.76`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hundredths(pub u64);

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{:02}", self.0 / 100, self.0 % 100))
    }
}

impl Serialize for Hundredths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0 as f64 / 100.0)
    }
}

impl<'de> Deserialize<'de> for Hundredths {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is between 0 and 10^15"
    )]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        let parts = (value * 100.0).round();
        if (0.0..1e15).contains(&parts) {
            Ok(Self(parts as u64))
        } else {
            Err(serde::de::Error::custom(format!(
                "{value} is no mean and no share"
            )))
        }
    }
}

/// The characteristics of some tasks: means and shares to two decimals.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Characteristics {
    /// How many tasks there are.
    pub tasks: u64,
    /// Mean words of the statement.
    #[schemars(with = "f64", range(min = 0.0))]
    pub mean_words: Hundredths,
    /// Mean files of the gold patch.
    #[schemars(with = "f64", range(min = 0.0))]
    pub mean_files: Hundredths,
    /// Mean hunks of the gold patch.
    #[schemars(with = "f64", range(min = 0.0))]
    pub mean_hunks: Hundredths,
    /// Mean lines that the gold patch adds and removes.
    #[schemars(with = "f64", range(min = 0.0))]
    pub mean_lines: Hundredths,
    /// Tasks that need a new file, in percent.
    #[schemars(with = "f64", range(min = 0.0, max = 100.0))]
    pub new_files_percent: Hundredths,
    /// Tasks whose gold patch is one file, in percent.
    #[schemars(with = "f64", range(min = 0.0, max = 100.0))]
    pub single_file_percent: Hundredths,
    /// Tasks whose gold patch edits more than 200 lines, in percent.
    #[schemars(with = "f64", range(min = 0.0, max = 100.0))]
    pub over_200_lines_percent: Hundredths,
}

/// The characteristics of a set, by repository and (under the empty name) of all.
pub fn characteristics(sizes: &[(String, Size)]) -> BTreeMap<String, Characteristics> {
    let mut groups: BTreeMap<String, Vec<Size>> = BTreeMap::new();
    for (repo, size) in sizes {
        groups.entry(repo.clone()).or_default().push(*size);
        groups.entry(String::new()).or_default().push(*size);
    }
    groups
        .into_iter()
        .map(|(repo, sizes)| (repo, of(&sizes)))
        .collect()
}

fn of(sizes: &[Size]) -> Characteristics {
    let tasks = sizes.len() as u64;
    // Hundredths of what is counted, for each task, rounded.
    let rounded = |sum: u64| Hundredths((sum + tasks / 2).checked_div(tasks).unwrap_or_default());
    let mean = |value: fn(&Size) -> u64| rounded(sizes.iter().map(value).sum::<u64>() * 100);
    let share = |is: fn(&Size) -> bool| rounded(sizes.iter().filter(|size| is(size)).count() as u64 * 10_000);
    Characteristics {
        tasks,
        mean_words: mean(|size| size.words as u64),
        mean_files: mean(|size| size.files as u64),
        mean_hunks: mean(|size| size.hunks),
        mean_lines: mean(|size| size.lines),
        new_files_percent: share(|size| size.new_file),
        single_file_percent: share(|size| size.files == 1),
        over_200_lines_percent: share(|size| size.lines > 200),
    }
}

/// The characteristics of a version's instances, whose statements are documentation.
pub fn of_instances<'i>(instances: impl Iterator<Item = &'i Instance>) -> BTreeMap<String, Characteristics> {
    let sizes: Vec<(String, Size)> = instances
        .map(|instance| {
            let statement = instance.problem_statement.as_deref().unwrap_or_default();
            let gold = file_changes(&instance.patch_bytes(PatchField::Patch).unwrap_or_default());
            (instance.repo.to_string(), Size::of(statement, gold.iter()))
        })
        .collect();
    characteristics(&sizes)
}

/// Says whether what a manifest tells is that of the instances. Manifests of earlier versions tell nothing.
pub(in crate::emit) fn agree(
    manifest: &Manifest,
    instances: &[Instance],
    is_docs: bool,
    problems: &mut Vec<Problem>,
) {
    let told = &manifest.characteristics;
    if told.is_empty() {
        return;
    }
    let same = is_docs && *told == of_instances(instances.iter());
    if !same {
        let what = "they are not those of the instances";
        problems.push(Problem::at(MANIFEST, "characteristics", what));
    }
}

/// A table for a reader.
pub fn table(groups: &BTreeMap<String, Characteristics>) -> String {
    let mut text = format!(
        "{:<28} {:>6} {:>9} {:>7} {:>7} {:>9} {:>10} {:>12} {:>10}\n",
        "repository", "tasks", "words", "files", "hunks", "lines", "new file", "single file", "> 200"
    );
    for (repo, one) in groups {
        let _ = writeln!(
            text,
            "{:<28} {:>6} {:>9} {:>7} {:>7} {:>9} {:>9}% {:>11}% {:>9}%",
            if repo.is_empty() { "all" } else { repo },
            one.tasks,
            one.mean_words,
            one.mean_files,
            one.mean_hunks,
            one.mean_lines,
            one.new_files_percent,
            one.single_file_percent,
            one.over_200_lines_percent,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_shares_are_of_the_group() {
        let size = |words, files, lines| Size {
            words,
            files,
            hunks: 3,
            lines,
            new_file: files > 1,
        };
        let sizes = [
            ("a/b".to_owned(), size(10, 1, 201)),
            ("a/b".to_owned(), size(11, 2, 4)),
            ("c/d".to_owned(), size(4, 1, 5)),
        ];
        let groups = characteristics(&sizes);
        assert_eq!(
            serde_json::to_string(&groups["a/b"]).unwrap(),
            r#"{"tasks":2,"mean_words":10.5,"mean_files":1.5,"mean_hunks":3.0,"mean_lines":102.5,"new_files_percent":50.0,"single_file_percent":50.0,"over_200_lines_percent":50.0}"#
        );
        assert_eq!(
            serde_json::to_string(&groups[""]).unwrap(),
            r#"{"tasks":3,"mean_words":8.33,"mean_files":1.33,"mean_hunks":3.0,"mean_lines":70.0,"new_files_percent":33.33,"single_file_percent":66.67,"over_200_lines_percent":33.33}"#
        );
        assert_eq!(
            table(&groups).lines().nth(1).map(|line| line.contains(" 8.33 ")),
            Some(true)
        );
        assert!(table(&groups).lines().nth(1).unwrap().starts_with("all "));
        assert!(characteristics(&[]).is_empty());
        let text = serde_json::to_string(&groups).unwrap();
        let read: BTreeMap<String, Characteristics> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, groups);
        assert!(serde_json::from_str::<Hundredths>("-0.1").is_err());
    }
}
