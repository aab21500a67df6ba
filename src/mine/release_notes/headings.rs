//! What headings mean: a recipe's own words first, then those that many projects use.

use super::kinds::of_title;
use super::model::Kind;

/// The meaning of headings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headings {
    /// Words of a heading, in lower case, with their kinds; the longest first.
    own: Vec<(String, Kind)>,
}

impl Headings {
    /// With a recipe's own: words that a heading holds, whatever their case. Of several that fit, the longest count.
    pub fn new<'w>(own: impl IntoIterator<Item = (&'w str, Kind)>) -> Self {
        let own = own
            .into_iter()
            .map(|(words, kind)| (words.trim().to_lowercase(), kind));
        let mut own: Vec<(String, Kind)> = own.filter(|(words, _)| !words.is_empty()).collect();
        own.sort_by(|one, other| other.0.len().cmp(&one.0.len()).then_with(|| one.cmp(other)));
        Self { own }
    }

    /// What a heading, or a fragment's type, says of the entries below it.
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
}
