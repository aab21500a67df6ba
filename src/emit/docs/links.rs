//! Labels of links in Markdown that lead to an issue, a pull request or somebody (`[12]: https://…/pull/12`).

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::people::profile_of;
use super::references::{Kind, Reference, is_word, number_of};

const DEFINITION: &str = r"^.[ \t>]*\[([^\[\]\n]+)\]:[ \t]*<?([^\s>]+)";
const LABEL: &str = r"\[([^\[\]\n]+)\]";
/// A link whose text ends in a number, and its label.
const LINK: &str = r"\[([^\[\]\n]*?)([0-9]+)\]\[#?([0-9]+)\]";

struct Forms {
    definition: Regex,
    label: Regex,
    link: Regex,
}

impl Forms {
    fn new() -> Option<Self> {
        Some(Self {
            definition: Regex::new(DEFINITION).ok()?,
            label: Regex::new(LABEL).ok()?,
            link: Regex::new(LINK).ok()?,
        })
    }
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(Forms::new);

/// The labels that a statement defines.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// Those that end in the number to which they lead.
    numbers: BTreeSet<String>,
    /// Those that are the account's name to which they lead.
    people: BTreeSet<String>,
}

impl Labels {
    /// Takes the label that a line defines.
    pub(super) fn take(&mut self, line: &str) {
        let Some(found) = FORMS.as_ref().and_then(|forms| forms.definition.captures(line)) else {
            return;
        };
        let (label, address) = (&found[1], &found[2]);
        if number_of(address).is_some_and(|number| &label[digits(label)] == number) {
            self.numbers.insert(label.to_lowercase());
        } else if profile_of(address).is_some_and(|name| label.eq_ignore_ascii_case(name)) {
            self.people.insert(label.to_lowercase());
        }
    }

    /// The parts of a line's labels that name something, in no order; two may overlap.
    pub(super) fn find(&self, line: &str) -> Vec<Reference> {
        let Some(forms) = &*FORMS else { return vec![] };
        let mut found = vec![];
        for label in forms.label.captures_iter(line).filter_map(|found| found.get(1)) {
            let lowered = label.as_str().to_lowercase();
            if self.numbers.contains(&lowered) {
                let digits = digits(label.as_str());
                let place = label.start() + digits.start..label.start() + digits.end;
                found.push(number(place));
            } else if self.people.contains(&lowered) {
                found.push(Reference {
                    place: label.range(),
                    kind: Kind::Person,
                });
            }
        }
        for link in forms.link.captures_iter(line) {
            let before = &line[..link.get(0).map_or(0, |link| link.start())];
            // `a[12][12]` is no link, and `[1][1]` or `[Part 1][1]` rather a note.
            let is_link = !before.ends_with(|c: char| is_word(c) || matches!(c, ']' | ')'));
            let is_number = link[2].len() > 1 || link[1].ends_with(['#', '-', '!']);
            if is_link && is_number && link[2] == link[3] {
                found.extend(
                    [2, 3]
                        .into_iter()
                        .filter_map(|part| link.get(part))
                        .map(|part| number(part.range())),
                );
            }
        }
        found
    }
}

fn number(place: Range<usize>) -> Reference {
    Reference {
        place,
        kind: Kind::Number,
    }
}

/// Where the digits stand in which a label ends.
fn digits(label: &str) -> Range<usize> {
    label.trim_end_matches(|c: char| c.is_ascii_digit()).len()..label.len()
}
