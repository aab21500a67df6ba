//! A test's id as a word, and a run's log as SWE-bench's graders read it: one line `STATUS id` a test, between two marks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::ids::TestId;
use super::outcome::TestStatus;

/// What graders look for before the outcomes.
pub const START: &str = ">>>>> Start Test Output";
/// And after them.
pub const END: &str = ">>>>> End Test Output";

/// An id as one word: graders split a line at white space. An id without any stays as it is; in another, white space and
/// `%` are written as percent-encoded UTF-8.
pub fn word(id: &str) -> String {
    if !id.contains(char::is_whitespace) {
        return id.to_owned();
    }
    let mut text = String::with_capacity(id.len() + 8);
    for sign in id.chars() {
        if sign.is_whitespace() || sign == '%' {
            let mut bytes = [0; 4];
            for byte in sign.encode_utf8(&mut bytes).bytes() {
                let _ = write!(text, "%{byte:02X}");
            }
        } else {
            text.push(sign);
        }
    }
    text
}

/// Ids as words, in their order.
pub fn words(ids: &[TestId]) -> Vec<String> {
    ids.iter().map(|id| word(id.as_str())).collect()
}

/// The log of a run: `parse_log_pytest` of SWE-bench reads from it what the run told. What failed as it was marked to has
/// not passed, and an absent test is in no line.
pub fn log(outcomes: &BTreeMap<TestId, TestStatus>) -> String {
    let mut text = format!("+ : '{START}'\n");
    for (test, status) in outcomes {
        let said = match status {
            TestStatus::Passed | TestStatus::Xpassed => "PASSED",
            TestStatus::Failed | TestStatus::Xfailed => "FAILED",
            TestStatus::Errored | TestStatus::CollectionError => "ERROR",
            TestStatus::Skipped => "SKIPPED",
            TestStatus::Absent => continue,
        };
        let _ = writeln!(text, "{said} {}", word(test.as_str()));
    }
    let _ = writeln!(text, "+ : '{END}'");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_with_white_space_change() {
        for (id, expected) in [
            ("a.py::t[1%2]", "a.py::t[1%2]"),
            ("a.py::t[x y%]", "a.py::t[x%20y%25]"),
            ("a.py::t[\u{a0}é]", "a.py::t[%C2%A0é]"),
        ] {
            assert_eq!(word(id), expected);
        }
    }

    #[test]
    fn a_log_has_a_line_a_test_that_ran() {
        let outcomes = [
            ("a::p", TestStatus::Passed),
            ("a::s k", TestStatus::Skipped),
            ("a::x", TestStatus::Xfailed),
            ("a::z", TestStatus::Absent),
        ];
        let outcomes = outcomes.map(|(id, status)| (TestId::from(id), status)).into();
        let text = log(&outcomes);
        assert_eq!(
            text,
            "+ : '>>>>> Start Test Output'\nPASSED a::p\nSKIPPED a::s%20k\nFAILED a::x\n+ : '>>>>> End Test Output'\n"
        );
    }
}
