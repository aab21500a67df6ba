//! What headings mean: a recipe's own words first, then those that many projects use.

use std::collections::BTreeMap;

use super::kinds::of_title;
use super::model::Kind;
use super::towncrier::FragmentType;

/// The meaning of headings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headings {
    /// Words of a heading, in lower case, with their kinds; the longest first.
    own: Vec<(String, Kind)>,
    /// Types of fragments, in lower case, that the project itself explains.
    types: BTreeMap<String, Kind>,
}

impl Headings {
    /// With a recipe's own: words that a heading holds, whatever their case. Of several that fit, the longest count.
    pub fn new<'w>(own: impl IntoIterator<Item = (&'w str, Kind)>) -> Self {
        let own = own
            .into_iter()
            .map(|(words, kind)| (words.trim().to_lowercase(), kind));
        let mut own: Vec<(String, Kind)> = own.filter(|(words, _)| !words.is_empty()).collect();
        own.sort_by(|one, other| other.0.len().cmp(&one.0.len()).then_with(|| one.cmp(other)));
        Self {
            own,
            types: BTreeMap::new(),
        }
    }

    /// With a project's own types of fragments: by their words, else by their headings'; what readers are not shown is
    /// internal. Of several of one name the first counts.
    pub(super) fn with_types<'t>(mut self, types: impl IntoIterator<Item = &'t FragmentType>) -> Self {
        for known in types {
            let hidden = (!known.is_shown).then_some(Kind::Internal);
            let kind = self.kind(&known.word).or_else(|| self.kind(&known.title));
            if let Some(kind) = kind.or(hidden) {
                self.types.entry(known.word.to_lowercase()).or_insert(kind);
            }
        }
        self
    }

    /// What a fragment's type says.
    pub fn of_fragment(&self, word: &str) -> Option<Kind> {
        self.types
            .get(&word.to_lowercase())
            .copied()
            .or_else(|| self.kind(word))
    }

    /// What a heading says of the entries below it.
    pub fn kind(&self, title: &str) -> Option<Kind> {
        let lower = title.to_lowercase();
        let own = self.own.iter().find(|(words, _)| lower.contains(words.as_str()));
        own.map(|(_, kind)| *kind).or_else(|| of_title(title))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipes_words_count_first_and_the_longest_of_them() {
        let headings = Headings::new([
            ("fresh", Kind::Feature),
            ("fresh bugs", Kind::Fix),
            (" ", Kind::Removal),
        ]);
        assert_eq!(headings.kind("What is Fresh"), Some(Kind::Feature));
        assert_eq!(headings.kind("Fresh bugs"), Some(Kind::Fix));
        assert_eq!(headings.kind("Removed"), Some(Kind::Removal));
        assert_eq!(headings.kind("Words"), None);
    }

    #[test]
    fn a_projects_own_types_are_known_by_their_words() {
        let known = |word: &str, title: &str, is_shown| FragmentType {
            word: word.to_owned(),
            title: title.to_owned(),
            is_shown,
        };
        let types = [
            known("Shiny", "New features", true),
            known("bugfix", "Improvements", true),
            known("glow", "Fresh things", true),
            known("dull", "Words", false),
            known("odd", "Words", true),
        ];
        let headings = Headings::new([("fresh", Kind::NewCheck)]).with_types(&types);
        for (word, kind) in [
            ("shiny", Some(Kind::Feature)),
            ("bugfix", Some(Kind::Fix)),
            ("glow", Some(Kind::NewCheck)),
            ("dull", Some(Kind::Internal)),
            ("odd", None),
            ("removal", Some(Kind::Removal)),
        ] {
            assert_eq!(headings.of_fragment(word), kind, "{word}");
        }
        assert_eq!(headings.kind("shiny"), None);
    }
}
