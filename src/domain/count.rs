//! Numbers of things, in words.

/// `1 candidate`, `2 candidates`: a number of things whose plural takes an `s`.
pub fn count(number: u64, thing: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_plural() {
        let told = [0, 1, 2].map(|number| count(number, "candidate"));
        assert_eq!(told, ["0 candidates", "1 candidate", "2 candidates"]);
    }
}
