//! Addresses: their schemes, and how they may be shown and kept, without the user and the password that may stand before
//! the host.

/// An address's scheme in small letters, and what stands after it; `None` for what is none, such as a path.
pub fn parts(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then(|| (scheme.to_ascii_lowercase(), rest))
}

/// The schemes of addresses that are known as such where a path's normal form has left one slash of two.
const NAMED: [&str; 6] = ["http", "https", "ssh", "git", "ftp", "ftps"];

/// A text with every address in it as it may be shown, and kept. What stands before the host goes (a token may stand there
/// alone); `ssh` keeps the user, whom the other side needs to be told and who is no secret.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(":/") {
        let (before, after) = rest.split_at(at);
        let (mark, after) = after.split_at(if after.starts_with("://") { 3 } else { 2 });
        out.push_str(before);
        out.push_str(mark);
        let scheme = before
            .rsplit(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        if mark.len() < 3 && !NAMED.contains(&scheme.as_str()) {
            rest = after;
            continue;
        }
        let (secret, host) = split(after);
        if scheme == "ssh"
            && let Some(secret) = secret
        {
            out.push_str(secret.split(':').next().unwrap_or_default());
            out.push('@');
        }
        rest = host;
    }
    out.push_str(rest);
    out
}

/// What stands before an address's host, and all the rest.
fn split(after_scheme: &str) -> (Option<&str>, &str) {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '<' | '>');
    let address = &after_scheme[..after_scheme.find(is_end).unwrap_or(after_scheme.len())];
    let authority = address.split(['/', '?', '#']).next().unwrap_or(address);
    let at = authority.rfind('@').or_else(|| {
        // A password in which such a letter stands as it is: what seems to be the port is none.
        let (_, port) = authority.split_once(':')?;
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
        address
            .rfind('@')
            .filter(|_| !is_port && !authority.starts_with('['))
    });
    match at {
        Some(at) => (Some(&after_scheme[..at]), &after_scheme[at + 1..]),
        None => (None, after_scheme),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_read_in_any_letters() {
        for (text, expected) in [
            ("https://host/a", Some("https host/a")),
            ("HTTPS://Host/A", Some("https Host/A")),
            ("git+ssh://host/a", Some("git+ssh host/a")),
            ("file:///a", Some("file /a")),
            ("git@host:a/b", None),
            ("/srv/a://b", None),
            ("://b", None),
            ("c:/x", None),
        ] {
            let read = parts(text).map(|(scheme, rest)| format!("{scheme} {rest}"));
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_stands_before_the_host_is_not_shown() {
        for (text, expected) in [
            ("https://ann:s3cret@host:1/a/b.git", "https://host:1/a/b.git"),
            ("https://s3cret@host/a/b", "https://host/a/b"),
            ("https://ann:s3/cr@et@host/a/b", "https://host/a/b"),
            ("https://ann:@host/a/b", "https://host/a/b"),
            ("ssh://git@host/a/b", "ssh://git@host/a/b"),
            ("ssh://git:s3cret@host/a/b", "ssh://git@host/a/b"),
            ("SSH://git:s3cret@host/a/b", "SSH://git@host/a/b"),
            ("HTTPS://ann:s3cret@host/a/b", "HTTPS://host/a/b"),
            (
                "fatal: no 'https://s3cret@host/a': see http://x:y@z and more@all",
                "fatal: no 'https://host/a': see http://z and more@all",
            ),
            ("https://host:443/@scope/name", "https://host:443/@scope/name"),
            ("http://[::1]:80/a@b/c", "http://[::1]:80/a@b/c"),
            ("git@host:a/b.git", "git@host:a/b.git"),
            ("/w/https:/ann:s3cret@host/a/b", "/w/https:/host/a/b"),
            ("c:/x/a@b", "c:/x/a@b"),
            ("file:///a@b/c", "file:///a@b/c"),
            ("/srv/a@b/mirror", "/srv/a@b/mirror"),
            ("", ""),
        ] {
            assert_eq!(shown(text), expected);
            assert_eq!(shown(expected), expected, "it stays so");
        }
    }
}
