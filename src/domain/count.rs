//! Numbers of things, in words.

/// `1 candidate`, `2 candidates`: a number of things whose plural takes an `s`.
pub fn count(number: u64, thing: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{end}")
}

/// The first `most` of some things, and how many more there are, with `between` before each but the first.
pub fn first(things: impl ExactSizeIterator<Item = String>, most: usize, between: &str) -> String {
    let more = things.len().saturating_sub(most);
    let mut told: Vec<String> = things.take(most).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told.join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_to_tell_is_counted() {
        let told = |most| first(["a", "b", "c"].map(str::to_owned).into_iter(), most, "; ");
        assert_eq!(
            [1, 2, 3].map(told),
            ["a; and 2 more", "a; b; and 1 more", "a; b; c"]
        );
    }

    #[test]
    fn one_thing_is_no_plural() {
        let told = [0, 1, 2].map(|number| count(number, "candidate"));
        assert_eq!(told, ["0 candidates", "1 candidate", "2 candidates"]);
    }
}
