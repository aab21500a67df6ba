//! Whose words fragments hold: who brought a text, not who gave its file another name, nor who took it from a document.

use std::collections::{BTreeMap, BTreeSet};

use super::model::Entry;
use super::orphans::words;
use super::writers::{Wording, Writers, bare, key, writer_of};
use crate::domain::path::RepoPath;

/// A fragment that a commit added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    /// Its file.
    pub path: RepoPath,
    /// The number that it is named for.
    pub number: Option<u32>,
    /// Its words, as [`words`] has them.
    pub text: String,
    wording: Wording,
    /// Its lines, as [`key`] has them.
    lines: Vec<String>,
}

impl Fragment {
    /// One of these words.
    pub fn new(path: &RepoPath, number: Option<u32>, text: &str) -> Self {
        Self {
            path: path.clone(),
            number,
            text: words(text),
            wording: Wording::of(text),
            lines: text.lines().filter_map(|line| key(&bare(line))).collect(),
        }
    }

    /// Whether it is another one under another name: nearly the same words, both ways, since another change may well be
    /// told of with some of them.
    fn is_alike(&self, other: &Self) -> bool {
        let are_same = self.text == other.text;
        are_same || (self.wording.is_of(&other.wording) && other.wording.is_of(&self.wording))
    }

    /// Whether most of its lines, by their lengths, are among these.
    fn is_from(&self, lines: &BTreeSet<String>) -> bool {
        let moved = self.lines.iter().filter(|line| lines.contains(*line));
        let all: usize = self.lines.iter().map(String::len).sum();
        moved.map(String::len).sum::<usize>() * 2 > all
    }
}

/// What one commit did to fragments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// The pull request that it belongs to.
    pub pull: Option<u32>,
    /// Those that it added.
    pub added: Vec<Fragment>,
    /// Those that it removed.
    pub removed: Vec<Fragment>,
    /// What it removed from those that it left.
    pub cut: Vec<Fragment>,
    /// The lines that it removed from documents, as [`key`] has them.
    pub from_documents: BTreeSet<String>,
}

/// Every fragment that was added, with the pull request that brought its words, if it was one; `steps` come oldest first.
/// What was only renamed stays whose it was; what was taken from a document is whoever's these lines are (`writers`).
pub fn bringers(steps: Vec<Step>, writers: &Writers) -> Vec<(Fragment, Option<u32>)> {
    // A fragment that is gone stays known: another branch may still have it.
    let mut last: BTreeMap<RepoPath, Option<u32>> = BTreeMap::new();
    let mut told = vec![];
    for mut step in steps {
        let mut new = vec![];
        for added in std::mem::take(&mut step.added) {
            let pull = if let Some(old) = origin(&added, &step) {
                last.get(&old.path).copied().flatten()
            } else if added.is_from(&step.from_documents) {
                let lines: Vec<&str> = added.lines.iter().map(String::as_str).collect();
                writer_of(writers, &lines).best()
            } else {
                step.pull
            };
            new.push((added, pull));
        }
        last.extend(new.iter().map(|(added, pull)| (added.path.clone(), *pull)));
        told.extend(new);
    }
    told
}

/// Of what a commit removed, the fragment that another one was before: one of the same words first, then one of the same
/// number, then the first one, and then one of the same number that was divided: its old lines have all its words.
fn origin<'s>(added: &Fragment, step: &'s Step) -> Option<&'s Fragment> {
    if added.text.is_empty() {
        return None;
    }
    let alike = step.removed.iter().filter(|old| added.is_alike(old));
    let whole = alike.min_by_key(|old| (old.text != added.text, old.number != added.number));
    let divided = |old: &&Fragment| {
        old.number.is_some() && old.number == added.number && added.wording.is_of(&old.wording)
    };
    whole.or_else(|| step.cut.iter().find(divided))
}

/// Who brought the fragments that are named for numbers.
#[derive(Debug, Clone, Default)]
pub struct Fragments {
    by_number: BTreeMap<u32, Vec<(Wording, Option<u32>)>>,
}

impl Fragments {
    /// This pull request brought such words for this number.
    pub fn add(&mut self, number: u32, text: &str, pull: Option<u32>) {
        let known = self.by_number.entry(number).or_default();
        known.push((Wording::of(text), pull));
    }

    /// Who brought a fragment of this number.
    pub fn all(&self, number: u32) -> impl Iterator<Item = u32> {
        let known = self.by_number.get(&number).into_iter().flatten();
        known.filter_map(|(_, pull)| *pull)
    }

    /// Whose fragment of this number an entry may be made of: those whose words it has. All of them where it has nobody's,
    /// since words are mended, or only words of who wrote notes and no more (`slight`): another one's are of the change.
    pub fn of(&self, number: u32, entry: &Entry, slight: &BTreeSet<u32>) -> BTreeSet<u32> {
        let known = self.by_number.get(&number).map_or(&[][..], Vec::as_slice);
        let mut fit: Vec<Option<u32>> = vec![];
        if known.len() > 1 {
            let told = Wording::of(&entry.text);
            let alike = known.iter().filter(|(wording, _)| wording.is_of(&told));
            fit.extend(alike.map(|(_, pull)| *pull));
        }
        if fit
            .iter()
            .all(|pull| pull.is_some_and(|pull| slight.contains(&pull)))
        {
            return self.all(number).collect();
        }
        fit.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mine::release_notes::{Headings, read_document};

    fn fragment(name: &str, text: &str) -> Fragment {
        let number = name.split('.').next().and_then(|number| number.parse().ok());
        Fragment::new(&RepoPath::from(name), number, text)
    }

    fn step(pull: u32, removed: &[Fragment], added: &[Fragment]) -> Step {
        Step {
            pull: (pull > 0).then_some(pull),
            added: added.to_vec(),
            removed: removed.to_vec(),
            cut: vec![],
            from_documents: BTreeSet::new(),
        }
    }

    fn pulls(steps: Vec<Step>) -> Vec<Option<u32>> {
        let writers = Writers::from([
            ("Reads lines from a file".to_owned(), Some(1)),
            ("with one call of a function.".to_owned(), Some(1)),
        ]);
        let told = bringers(steps, &writers);
        told.into_iter().map(|(_, pull)| pull).collect()
    }

    #[test]
    fn who_gives_a_fragment_another_name_did_not_bring_its_words() {
        let text = "Reads lines from a file with one call of ``read_lines``.";
        let first = fragment("12.feature.rst", text);
        let kind = fragment("12.improvement.rst", text);
        let number = fragment("13.improvement.rst", &format!("{text}\n\nRefs #13"));
        let orphan = fragment("+ab.feature.rst", text);
        let steps = vec![
            step(1, &[], std::slice::from_ref(&first)),
            step(2, std::slice::from_ref(&first), std::slice::from_ref(&kind)),
            step(3, std::slice::from_ref(&kind), std::slice::from_ref(&number)),
            step(0, std::slice::from_ref(&number), std::slice::from_ref(&orphan)),
        ];
        assert_eq!(pulls(steps), [Some(1); 4]);
    }

    #[test]
    fn another_fragment_in_the_place_of_one_is_its_writers_own() {
        let first = fragment("12.feature.rst", "Reads lines from a file with one call.");
        let other = fragment(
            "12.removal.rst",
            "Reads tables no more: use another package for it.",
        );
        let longer = fragment(
            "14.feature.rst",
            "Reads lines from a file with one call, counts them on the way, and tells which of them no other \
             line of the archive is like, in the order of their lengths.",
        );
        let steps = vec![
            step(1, &[], std::slice::from_ref(&first)),
            step(2, std::slice::from_ref(&first), &[other, longer]),
        ];
        assert_eq!(pulls(steps), [Some(1), Some(2), Some(2)]);
    }

    #[test]
    fn a_fragment_that_was_divided_stays_its_writers_in_both_parts() {
        let both = "Reads lines from a file with one call, and names the message ``too-long``.";
        let mut divides = step(
            2,
            &[],
            &[fragment("12.check.rst", "Names the message ``too-long``.")],
        );
        divides.cut = vec![fragment("12.fix.rst", both)];
        let mut elsewhere = divides.clone();
        elsewhere.cut = vec![fragment("13.fix.rst", both)];
        let first = step(
            1,
            &[],
            &[fragment("12.fix.rst", both), fragment("13.fix.rst", both)],
        );
        assert_eq!(pulls(vec![first.clone(), divides]), [Some(1); 3]);
        assert_eq!(pulls(vec![first, elsewhere]), [Some(1), Some(1), Some(2)]);
    }

    #[test]
    fn what_was_taken_from_a_document_is_who_wrote_it_there() {
        let text = "- Reads lines from a file\n  with one call of a function.\n";
        let taken = fragment("12.feature.rst", text);
        let own = fragment("13.feature.rst", "Fragments are files now, one for each change.");
        let mut collects = step(3, &[], &[taken.clone(), own]);
        let gone = ["Reads lines from a file", "with one call of a function."];
        collects.from_documents = gone.map(str::to_owned).into();
        let moves = step(4, &[taken], &[fragment("12.doc.rst", text)]);
        assert_eq!(pulls(vec![collects, moves]), [Some(1), Some(3), Some(1)]);
        // A fragment of the same lines that was no document's is who added it.
        assert_eq!(
            pulls(vec![step(5, &[], &[fragment("12.a.rst", text)])]),
            [Some(5)]
        );
    }

    #[test]
    fn of_several_fragments_of_a_number_an_entry_is_made_of_the_one_with_its_words() {
        let mut known = Fragments::default();
        known.add(12, "Reads lines from a file with one call.", Some(1));
        known.add(12, "The option ``--tables`` is gone.", Some(2));
        let log =
            b"# 1.0\n- Reads lines from one file with one call. (#12)\n- Wholly reworded since. (#12)\n";
        let entries = read_document(&RepoPath::from("CHANGES.md"), log, &Headings::default());
        let told = |slight: &BTreeSet<u32>| -> Vec<BTreeSet<u32>> {
            entries.iter().map(|entry| known.of(12, entry, slight)).collect()
        };
        let both = BTreeSet::from([1, 2]);
        assert_eq!(told(&BTreeSet::new()), [BTreeSet::from([1]), both.clone()]);
        // Who wrote but the fragment tells of what the other one did.
        assert_eq!(told(&BTreeSet::from([1])), [both.clone(), both]);
    }
}
