//! Which repositories on a forge a packaging file names as its project's home.

use std::collections::BTreeSet;

use crate::domain::ids::RepoName;

/// The repositories at which addresses in a text point: `https://github.com/psf/requests/issues` → `psf/requests`.
pub fn repositories(text: &str) -> BTreeSet<RepoName> {
    const HOST: &str = "github.com";
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
    let part = |text: &str| text.chars().take_while(|sign| is_part(*sign)).collect::<String>();
    let found = text.match_indices(HOST).filter_map(|(at, _)| {
        let rest = text[at + HOST.len()..].strip_prefix(['/', ':'])?;
        let owner = part(rest);
        let name = part(rest[owner.len()..].strip_prefix('/')?);
        let name = name.trim_end_matches('.');
        let name = name.strip_suffix(".git").unwrap_or(name);
        format!("{owner}/{name}").parse().ok()
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_repositories() {
        let names = |text: &str| {
            let names = repositories(text).into_iter().map(|name| name.to_string());
            names.collect::<Vec<_>>()
        };
        assert_eq!(
            names(
                "Source = 'https://github.com/pallets/flask/'\nIssues = 'https://github.com/pallets/flask/issues/'"
            ),
            ["pallets/flask"]
        );
        assert_eq!(
            names("git+ssh://git@github.com:a/b.git see https://github.com/c/d."),
            ["a/b", "c/d"]
        );
        assert_eq!(
            names("https://github.com/sponsors https://example.org/a/b github.com//x"),
            [""; 0]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(github\\.com|/|:|[a-c]|\\.git|é| ){0,20}") {
            let _ = repositories(&text);
        }
    }
}
