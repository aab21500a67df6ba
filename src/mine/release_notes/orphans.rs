//! Fragments that no number is the name of: whose they are only their history tells.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Entry, Format};
use crate::domain::path::RepoPath;

/// The pull requests that added fragments without a number.
#[derive(Debug, Clone, Default)]
pub struct Orphans {
    by_path: BTreeMap<RepoPath, BTreeSet<u32>>,
    by_words: BTreeMap<String, BTreeSet<u32>>,
}

impl Orphans {
    /// A pull request added such a fragment, with these words.
    pub fn add(&mut self, path: &RepoPath, text: &str, pull: u32) {
        self.by_path.entry(path.clone()).or_default().insert(pull);
        let words = words(text);
        if !words.is_empty() {
            self.by_words.entry(words).or_default().insert(pull);
        }
    }

    /// Those whose fragment an entry is, or was made of.
    pub fn of(&self, entry: &Entry) -> BTreeSet<u32> {
        let by_path = (entry.place.format == Format::Fragment)
            .then(|| self.by_path.get(&entry.place.file))
            .flatten();
        let by_words = || self.by_words.get(&words(&entry.text));
        by_path.or_else(by_words).cloned().unwrap_or_default()
    }
}

/// A text without what a document that collects fragments may change: line ends, and the mark of an item.
pub fn words(text: &str) -> String {
    let text = text.trim_start().trim_start_matches(['-', '*', '+', '•']);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mine::release_notes::{Headings, Source, read_document, read_fragment, source};

    #[test]
    fn an_entry_is_told_by_its_fragments_path_or_words() {
        let path = RepoPath::from("news/+ab.feature.md");
        let mut orphans = Orphans::default();
        orphans.add(&path, "Less\nnoise.\n", 7);
        orphans.add(&RepoPath::from("news/+cd.feature.md"), "- More.", 8);
        let Some(Source::Fragment(name)) = source(&path) else {
            panic!("no fragment")
        };
        // Its words were mended since.
        let here = read_fragment(&path, &name, b"Less noise!", &Headings::default()).unwrap();
        assert_eq!(orphans.of(&here), BTreeSet::from([7]));
        let log = b"# 1.0\n- Less noise.\n- More.\n- Other.\n";
        let told: Vec<BTreeSet<u32>> =
            read_document(&RepoPath::from("CHANGES.md"), log, &Headings::default())
                .iter()
                .map(|entry| orphans.of(entry))
                .collect();
        let wanted = vec![BTreeSet::from([7]), BTreeSet::from([8]), BTreeSet::new()];
        assert_eq!(told, wanted);
    }
}
