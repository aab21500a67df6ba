//! Which known name a mistyped one is nearest to.

/// The nearest of `known` to `name`, if one is near enough to be what was meant: at most a third of the letters
/// differ, or one of the two begins with the other. Ties go to the first in the order given.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        let other = candidate.to_lowercase();
        let longer = lower.chars().count().max(other.chars().count());
        let distance = strsim::damerau_levenshtein(&lower, &other);
        let stem =
            lower.len() >= 3 && other.len() >= 3 && (other.starts_with(&lower) || lower.starts_with(&other));
        let near = distance * 3 <= longer.max(3);
        // A shared beginning is weaker evidence than few typing errors.
        let score = match (near, stem) {
            (true, _) => distance,
            (false, true) => longer,
            (false, false) => continue,
        };
        if best.is_none_or(|(least, _)| score < least) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant_and_nothing_far_away() {
        let known = ["files", "paths", "python_files", "added"];
        assert_eq!(nearest("fiels", known), Some("files"));
        assert_eq!(nearest("Files", known), Some("files"));
        assert_eq!(nearest("python_file", known), Some("python_files"));
        assert_eq!(nearest("add", known), Some("added"));
        assert_eq!(nearest("labels", known), None);
        assert_eq!(nearest("", known), None);
    }
}
