//! Who wrote which line of the notes first, followed back through moves and rewordings.
//!
//! A line that moved has the same words, in whichever file. A line that was reworded has nearly the same words as lines
//! that the same commit removed: who reworded it (a typing error, another markup, a wrapped paragraph, a release's tidying)
//! did not write it, but whoever wrote those.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::credits::{credits, uncredited};
use super::model::Entry;
use crate::domain::path::RepoPath;

/// The shortest line, in bytes, that says who wrote it: shorter ones stand in many entries.
const LEAST_LINE: usize = 16;
/// How many tenths of a line's words must stand in what was removed for it to be that, reworded. Measured on histories of
/// "what's new" pages: from seven on nearly all are the same sentence; about six tenths many are another sentence about the
/// same function, and titles of versions.
const ALIKE: usize = 7;
/// The same of those words that say what it is about: one less, since another form of a word is another word.
const ALIKE_OWN: usize = 6;
/// A paragraph that is wrapped anew has a line's words on up to so many old lines.
const WINDOW: usize = 3;
/// A word that stands on more removed lines than this finds none of them.
const COMMON: usize = 50;
/// So many of the removed lines that share the most words are compared.
const LIKELY: usize = 8;
/// Words of markup and of addresses: they make lines look alike that are not.
const MARKUP: &[&str] = &[
    "attr", "class", "com", "doc", "func", "gh", "github", "http", "https", "issue", "meth", "mod", "org",
    "pr", "pull", "py", "ref",
];

/// Words that any sentence has: they alone make no sentence another one's wording.
const FUNCTION: &[&str] = &[
    "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "do",
    "does", "for", "from", "has", "have", "if", "in", "into", "is", "it", "its", "may", "more", "no", "not",
    "now", "of", "on", "only", "or", "possible", "so", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "to", "was", "we", "were", "when", "where", "which", "will", "with",
    "you", "your",
];

/// For each line of the notes, as [`key`] has it, the pull request that wrote it first, if it was one.
pub type Writers = HashMap<String, Option<u32>>;

/// How much of some lines each wrote.
type Votes = BTreeMap<Option<u32>, usize>;

/// What one commit did to the notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// The pull request that it belongs to.
    pub pull: Option<u32>,
    /// Whether it undoes another one.
    pub reverts: bool,
    /// How many lines it added to documents.
    pub size: usize,
    /// The lines that it added.
    pub added: Vec<String>,
    /// The lines that it removed.
    pub removed: Vec<String>,
}

/// A line as [`Writers`] has it; `None` for one that is too short to tell anything.
pub fn key(line: &str) -> Option<String> {
    Some(plain(line)).filter(|text| text.len() >= LEAST_LINE)
}

/// A line without a list's mark: fragments and notes hold the same words.
pub fn bare(line: &str) -> String {
    line.trim_start()
        .trim_start_matches(['-', '*', '+', '•'])
        .trim()
        .to_owned()
}

fn plain(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Who wrote each line first; `steps` come oldest first. A commit that added more than `most` lines (a release that
/// collects fragments, a file that was rewritten) wrote none of its own accord: what it did not only move or reword is
/// nobody's. What a revert removed was never written: who lands it again wrote it.
pub fn first_writers(steps: &[Step], most: usize) -> Writers {
    let mut writers = Writers::new();
    for step in steps {
        let added: BTreeSet<String> = step.added.iter().filter_map(|line| key(line)).collect();
        let gone: Vec<String> = step.removed.iter().map(|line| plain(line)).collect();
        // A line that was only moved is not what another one was before.
        let gone: Vec<String> = gone.into_iter().filter(|line| !added.contains(line)).collect();
        let new: Vec<&String> = added.iter().filter(|line| !writers.contains_key(*line)).collect();
        let past = (!new.is_empty() && !gone.is_empty()).then(|| Past::new(&gone));
        let own = step.pull.filter(|_| step.size <= most);
        let mut told: Vec<(String, Option<u32>)> = vec![];
        for line in new {
            let before = past.as_ref().and_then(|past| past.before(line));
            let writer = before.map_or(own, |before| writers.get(before).copied().flatten());
            told.push((line.clone(), writer));
        }
        if step.reverts {
            for line in &gone {
                writers.remove(line);
            }
        }
        writers.extend(told);
    }
    writers
}

/// Who wrote most of some lines, by their lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenBy {
    /// Of those that say what changed.
    pub words: Option<u32>,
    /// Of those that only credit somebody: whoever mends an entry's words leaves its thanks alone.
    pub credits: Option<u32>,
}

impl WrittenBy {
    /// Who is known for it, the words first.
    pub fn best(self) -> Option<u32> {
        self.words.or(self.credits)
    }
}

/// Who wrote these lines, where it was a pull request.
pub fn writer_of(writers: &Writers, lines: &[&str]) -> WrittenBy {
    let (mut words, mut of_credits) = (Votes::new(), Votes::new());
    for (line, is_credit) in lines.iter().zip(credits(lines)) {
        if let Some(key) = key(line)
            && let Some(writer) = writers.get(&key)
        {
            let votes = if is_credit { &mut of_credits } else { &mut words };
            *votes.entry(*writer).or_default() += key.len();
        }
    }
    let most = |votes: Votes| {
        let most = votes
            .into_iter()
            .max_by_key(|(writer, votes)| (*votes, writer.is_some()));
        most.and_then(|(writer, _)| writer)
    };
    WrittenBy {
        words: most(words),
        credits: most(of_credits),
    }
}

/// Forgets the lines that stand in several entries of one file (who is thanked, the head of a table): they would give one
/// entry to who wrote another. A line that an item has with the paragraph around it stands there once.
pub fn forget_shared(writers: &mut Writers, read: &[(Entry, Vec<String>)]) {
    let mut firsts: BTreeMap<(&RepoPath, String), &Entry> = BTreeMap::new();
    for (entry, lines) in read {
        for line in lines.iter().filter_map(|line| key(line)) {
            let place = (&entry.place.file, line);
            let first = *firsts.entry(place.clone()).or_insert(entry);
            let overlaps = first.place.line <= entry.place.last && entry.place.line <= first.place.last;
            // The same entry may stand under two versions.
            if first.text != entry.text && !overlaps {
                writers.remove(&place.1);
            }
        }
    }
}

/// The lines that a commit removed, with their words.
struct Past<'s> {
    lines: Vec<(&'s str, Wording)>,
    places: HashMap<String, Vec<usize>>,
}

impl<'s> Past<'s> {
    fn new(gone: &'s [String]) -> Self {
        let lines: Vec<(&str, Wording)> = gone
            .iter()
            .map(|line| (line.as_str(), Wording::of(line)))
            .collect();
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, (_, wording)) in lines.iter().enumerate() {
            for word in wording.words.keys() {
                places.entry(word.clone()).or_default().push(place);
            }
        }
        Self { lines, places }
    }

    /// What a line was before it was reworded: the removed line that shares the most words with it.
    fn before(&self, line: &str) -> Option<&'s str> {
        // Who only adds a credit did not write what is before it.
        let words = uncredited(line);
        let wording = Wording::of(if words.len() < LEAST_LINE { line } else { words });
        let mut hits: BTreeMap<usize, usize> = BTreeMap::new();
        for word in wording.words.keys() {
            let places = self.places.get(word).map_or(&[][..], Vec::as_slice);
            if places.len() <= COMMON {
                for place in places {
                    *hits.entry(*place).or_default() += 1;
                }
            }
        }
        let mut likely: Vec<(usize, usize)> = hits.into_iter().collect();
        likely.sort_by_key(|(place, hits)| (Reverse(*hits), *place));
        let mut likely = likely.into_iter().take(LIKELY).map(|(place, _)| place);
        let place = likely.find(|place| self.is_alike(&wording, *place))?;
        Some(self.lines[place].0)
    }

    /// Whether lines that follow each other, this one among them, hold this wording.
    fn is_alike(&self, wording: &Wording, place: usize) -> bool {
        (place.saturating_sub(WINDOW - 1)..=place).any(|first| {
            let last = (first + WINDOW).min(self.lines.len());
            let window = &self.lines[first..last];
            wording.is_among(|word| window.iter().any(|(_, there)| there.words.contains_key(word)))
        })
    }
}

/// The words of a text, without numbers and markup, each with whether it says what the text is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Wording {
    words: BTreeMap<String, bool>,
}

impl Wording {
    /// A text's.
    pub(super) fn of(text: &str) -> Self {
        let words = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .map(|word| word.trim_matches('_').to_lowercase())
            .filter(|word| word.len() > 1 && !word.bytes().all(|byte| byte.is_ascii_digit()))
            .filter(|word| !MARKUP.contains(&word.as_str()))
            .map(|word| {
                let is_own = !FUNCTION.contains(&word.as_str());
                (word, is_own)
            });
        Self {
            words: words.collect(),
        }
    }

    /// Whether another text has this wording.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        self.is_among(|word| other.words.contains_key(word))
    }

    /// Whether nearly all of these words, and most of those that say what it is about, are there; a text without words is
    /// nobody's wording.
    fn is_among(&self, is_there: impl Fn(&str) -> bool) -> bool {
        let (mut there, mut own, mut own_there) = (0, 0, 0);
        for (word, is_own) in &self.words {
            let found = usize::from(is_there(word));
            let counts = usize::from(*is_own);
            there += found;
            own += counts;
            own_there += found * counts;
        }
        !self.words.is_empty() && there * 10 >= self.words.len() * ALIKE && own_there * 10 >= own * ALIKE_OWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(pull: u32, removed: &[&str], added: &[&str]) -> Step {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        Step {
            pull: Some(pull),
            reverts: false,
            size: added.len(),
            added: lines(added),
            removed: lines(removed),
        }
    }

    #[test]
    fn the_first_writer_of_a_line_counts_unless_it_wrote_a_whole_file() {
        let mut large = step(2, &[], &["  a line  of some length", "another long line of it"]);
        large.size = 99;
        let found = first_writers(&[step(1, &[], &["a line of some length"]), large], 40);
        assert_eq!(found["a line of some length"], Some(1));
        assert_eq!(found["another long line of it"], None);
    }

    #[test]
    fn who_reworded_a_line_did_not_write_it() {
        let first = "Support reading lines from a file with :func:`read_lines` (GH12)";
        let mended = "Supports reading lines from a file with :py:func:`read_lines` (:issue:`12`)";
        let wrapped = [
            "Supports reading lines from a",
            "file with :py:func:`read_lines` (:issue:`12`)",
        ];
        let other = "Support writing of whole tables into an archive with `write_tables`";
        let found = first_writers(
            &[
                step(1, &[], &[first]),
                step(2, &[first], &[mended, other]),
                step(3, &[mended], &wrapped),
            ],
            40,
        );
        assert_eq!((found[mended], found[other]), (Some(1), Some(2)));
        assert_eq!((found[wrapped[0]], found[wrapped[1]]), (Some(1), Some(1)));
    }

    #[test]
    fn words_that_any_sentence_has_make_no_wording() {
        let old = "It is now possible to set the order of the legend when it was drawn";
        let new = "It is now possible to disable the legend";
        let found = first_writers(&[step(1, &[], &[old]), step(2, &[old], &[new])], 40);
        assert_eq!(found[new], Some(2));
    }

    #[test]
    fn who_only_adds_a_name_to_the_thanks_did_not_write_an_entry() {
        let own = "Added the method `read_lines`.";
        let old = "By `Ada Lines <https://host/ada>`_.";
        let new = [
            "By `Ada Lines <https://host/ada>`_ and `Robert Rows the Second",
            "<https://host/people/bob>`_.",
        ];
        let found = first_writers(&[step(1, &[], &[own, old]), step(2, &[old], &new)], 40);
        assert_eq!((found[own], found[new[0]]), (Some(1), Some(2)));
        let told = |words: &str| writer_of(&found, &[words, new[0], new[1]]);
        let both = WrittenBy {
            words: Some(1),
            credits: Some(2),
        };
        assert_eq!((told(own), told(own).best()), (both, Some(1)));
        assert_eq!(told("Nobody knows this line.").best(), Some(2));
    }

    #[test]
    fn who_adds_a_credit_to_a_short_line_did_not_write_it() {
        let old = "Cows say moo, all of them.";
        let new = "Cows say moo, all of them. Thanks @ada-lines and @bob-rows.";
        let found = first_writers(&[step(1, &[], &[old]), step(2, &[old], &[new])], 40);
        assert_eq!(found[new], Some(1));
    }

    #[test]
    fn a_new_entry_beside_moved_ones_is_its_writers_own() {
        let old = "The old entry about reading of lines from files";
        let new = "The new entry about reading of lines from archives";
        let found = first_writers(&[step(1, &[], &[old]), step(2, &[old], &[old, new])], 40);
        assert_eq!((found[old], found[new]), (Some(1), Some(2)));
    }

    #[test]
    fn a_large_commit_that_rewrites_a_file_keeps_its_writers() {
        let old = "Reading of lines from files is twice as fast";
        let new = "- |Feature| Reading of lines from files is twice as fast";
        let mut large = step(2, &[old], &[new, "A line that nobody knows yet"]);
        large.size = 99;
        let found = first_writers(&[step(1, &[], &[old]), large], 40);
        assert_eq!(
            (found[new], found["A line that nobody knows yet"]),
            (Some(1), None)
        );
    }

    #[test]
    fn what_a_revert_removed_is_written_by_who_lands_it_again() {
        let line = "A brand new option for the colour of wool";
        let mut revert = step(2, &[line], &[]);
        let without = first_writers(
            &[step(1, &[], &[line]), revert.clone(), step(3, &[], &[line])],
            40,
        );
        revert.reverts = true;
        let with = first_writers(&[step(1, &[], &[line]), revert, step(3, &[], &[line])], 40);
        assert_eq!((without[line], with[line]), (Some(1), Some(3)));
    }
}
