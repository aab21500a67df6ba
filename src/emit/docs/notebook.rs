//! Notebooks as the words of their cells.

use std::fmt::Write as _;

use serde::Deserialize;
use similar::{ChangeTag, TextDiff};

#[derive(Deserialize)]
struct Notebook {
    cells: Option<Vec<Cell>>,
    /// Where format 3 has its cells.
    worksheets: Option<Vec<Worksheet>>,
}

#[derive(Deserialize)]
struct Worksheet {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    /// Format 3 calls a code cell's text its input.
    #[serde(alias = "input")]
    source: Source,
}

impl Notebook {
    fn cells(self) -> Option<Vec<Cell>> {
        let sheets = self.worksheets;
        self.cells
            .or_else(|| Some(sheets?.into_iter().flat_map(|sheet| sheet.cells).collect()))
    }
}

/// A cell's text, in either of the format's two shapes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Whole(String),
    Lines(Vec<String>),
}

/// The change of a notebook's cells, without outputs; `None` when either side is no notebook.
pub(super) fn diff(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Option<String> {
    let side = |bytes: Option<&[u8]>| bytes.map_or(Some(String::new()), cells);
    let (old, new) = (side(before)?, side(after)?);
    let name = |mark: &str, there: bool| {
        if there {
            format!("{mark}/{path}")
        } else {
            "/dev/null".to_owned()
        }
    };
    let (one, other) = (name("a", before.is_some()), name("b", after.is_some()));
    let hunks = hunks(&old, &new);
    Some(format!(
        "diff --git a/{path} b/{path}\n--- {one}\n+++ {other}\n{hunks}"
    ))
}

/// The hunks between two texts, with three lines around each. (The library's own heads of hunks name wrong lines of the
/// new text where a hunk begins with removed lines.)
pub(super) fn hunks(old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut out = String::new();
    let (mut added, mut removed) = (0, 0);
    for group in diff.grouped_ops(3) {
        let start = group.first().map_or(0, |first| first.old_range().start);
        let (mut lines, mut before, mut after) = (String::new(), 0, 0);
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let mark = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            before += usize::from(mark != '+');
            after += usize::from(mark != '-');
            let _ = write!(lines, "{mark}{}", change.value());
            if change.missing_newline() {
                lines.push_str("\n\\ No newline at end of file\n");
            }
        }
        // An empty side is said to be after the line before it.
        let old_start = start + usize::from(before > 0);
        let new_start = start + added - removed + usize::from(after > 0);
        let _ = write!(out, "@@ -{old_start},{before} +{new_start},{after} @@\n{lines}");
        added += after;
        removed += before;
    }
    out
}

/// Whether a line is one that tells a cell's kind.
pub(super) fn is_label(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(" cell]")
}

/// Each cell's text below a line that tells its kind.
pub(super) fn cells(bytes: &[u8]) -> Option<String> {
    let notebook: Notebook = serde_json::from_slice(bytes).ok()?;
    let mut out = String::new();
    for cell in notebook.cells()? {
        let text = match cell.source {
            Source::Whole(text) => text,
            Source::Lines(lines) => lines.concat(),
        };
        let _ = writeln!(out, "[{} cell]\n{}\n", cell.cell_type, text.trim_end());
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_of_cells_are_compared() {
        let one = br#"{"cells":[{"cell_type":"markdown","source":["a\n","b"]},{"cell_type":"code","source":"x = 1","outputs":[1]}],"nbformat":4}"#;
        let two = br#"{"cells":[{"cell_type":"markdown","source":"a\nc"},{"cell_type":"code","source":"x = 1","outputs":[2]}],"nbformat":4}"#;
        let text = diff("n.ipynb", Some(one), Some(two)).unwrap();
        assert!(
            text.contains("-b\n+c\n") && !text.contains("outputs") && text.contains(" [code cell]\n"),
            "{text}"
        );
        let old = br#"{"nbformat":3,"worksheets":[{"cells":[{"cell_type":"heading","level":1,"source":["a"]},{"cell_type":"code","input":["x = 2"],"outputs":[1]}]}]}"#;
        let text = diff("n.ipynb", Some(old), Some(two)).unwrap();
        assert!(
            text.contains("-[heading cell]\n") && text.contains("-x = 2\n"),
            "{text}"
        );
        assert_eq!(diff("n.ipynb", Some(b"{}"), Some(two)), None);
        assert!(
            diff("n.ipynb", None, Some(two))
                .unwrap()
                .contains("--- /dev/null")
        );
    }
}
