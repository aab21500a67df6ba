//! How large the tasks of a set are, as Doc2Feat-Bench reports them (section 3, figure 4; section 5.3 for single files).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::domain::patch::{ChangeKind, FileChange};

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

/// The characteristics of some tasks. Means are in hundredths, shares in hundredths of a percent: no float of ours is
/// written anywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Characteristics {
    /// How many tasks there are.
    pub tasks: u64,
    /// Mean words of the statement.
    pub words: u64,
    /// Mean files of the gold patch.
    pub files: u64,
    /// Mean hunks.
    pub hunks: u64,
    /// Mean lines added and removed.
    pub lines: u64,
    /// Share of tasks that need a new file.
    pub new_files: u64,
    /// Share of tasks whose gold patch is one file.
    pub single_file: u64,
    /// Share of tasks whose gold patch edits more than 200 lines.
    pub over_200_lines: u64,
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
    let mean =
        |value: fn(&Size) -> u64| (sizes.iter().map(value).sum::<u64>() * 100 + tasks / 2).checked_div(tasks);
    let share = |is: fn(&Size) -> bool| {
        let count = sizes.iter().filter(|size| is(size)).count() as u64;
        (count * 10_000 + tasks / 2)
            .checked_div(tasks)
            .unwrap_or_default()
    };
    Characteristics {
        tasks,
        words: mean(|size| size.words as u64).unwrap_or_default(),
        files: mean(|size| size.files as u64).unwrap_or_default(),
        hunks: mean(|size| size.hunks).unwrap_or_default(),
        lines: mean(|size| size.lines).unwrap_or_default(),
        new_files: share(|size| size.new_file),
        single_file: share(|size| size.files == 1),
        over_200_lines: share(|size| size.lines > 200),
    }
}

/// A table for a reader.
pub fn table(groups: &BTreeMap<String, Characteristics>) -> String {
    let mut text = format!(
        "{:<28} {:>6} {:>9} {:>7} {:>7} {:>9} {:>10} {:>12} {:>10}\n",
        "repository", "tasks", "words", "files", "hunks", "lines", "new file", "single file", "> 200"
    );
    let hundredths = |value: u64| format!("{}.{:02}", value / 100, value % 100);
    for (repo, one) in groups {
        let _ = writeln!(
            text,
            "{:<28} {:>6} {:>9} {:>7} {:>7} {:>9} {:>9}% {:>11}% {:>9}%",
            if repo.is_empty() { "all" } else { repo },
            one.tasks,
            hundredths(one.words),
            hundredths(one.files),
            hundredths(one.hunks),
            hundredths(one.lines),
            hundredths(one.new_files),
            hundredths(one.single_file),
            hundredths(one.over_200_lines),
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
            (
                groups["a/b"].words,
                groups["a/b"].files,
                groups["a/b"].single_file
            ),
            (1050, 150, 5000)
        );
        assert_eq!(
            (groups[""].tasks, groups[""].words, groups[""].over_200_lines),
            (3, 833, 3333)
        );
        assert!(table(&groups).lines().nth(1).unwrap().starts_with("all "));
        assert!(characteristics(&[]).is_empty());
    }
}
