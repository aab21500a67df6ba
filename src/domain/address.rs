//! Addresses: their schemes, and how they may be shown and kept, without the user and the password that may stand before
//! the host, and without the values of a query.

use std::borrow::Cow;

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
/// alone), and so does every value of a query; `ssh` keeps the user, whom the other side needs to be told and who is no
/// secret. A user and a secret before a host go also where the scheme was forgotten, or a program told them without it.
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
        let (address, after) = host.split_at(host.find(is_end).unwrap_or(host.len()));
        match address.split_once('?') {
            Some((place, query)) => {
                out.push_str(place);
                out.push('?');
                without_values(&mut out, query);
                rest = after;
            }
            None => rest = host,
        }
    }
    out.push_str(rest);
    if out.contains('@') {
        out.split_inclusive(|c| is_end(c) || c == '/')
            .map(without_secret)
            .collect()
    } else {
        out
    }
}

/// What an address in a text ends with.
fn is_end(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '<' | '>')
}

/// A query without what its names are given; what has no name is a value itself.
fn without_values(out: &mut String, query: &str) {
    let (query, fragment) = query.split_at(query.find('#').unwrap_or(query.len()));
    for (index, pair) in query.split('&').enumerate() {
        if index > 0 {
            out.push('&');
        }
        match pair.split_once('=') {
            Some((name, _)) => {
                out.push_str(name);
                out.push_str("=…");
            }
            None if pair.is_empty() => {}
            None => out.push('…'),
        }
    }
    out.push_str(fragment);
}

/// A part of a word, as it stands between slashes, without `user:secret@` at its beginning. An image with its tag and its
/// digest looks alike, and stays.
fn without_secret(part: &str) -> Cow<'_, str> {
    let Some((before, host)) = part.rsplit_once('@') else {
        return Cow::Borrowed(part);
    };
    let Some((user, secret)) = before.split_once(':') else {
        return Cow::Borrowed(part);
    };
    let (opening, user) = user.split_at(user.len() - user.trim_start_matches(['(', '[', '{']).len());
    let is_host = host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[');
    let is_digest = ["sha256:", "sha384:", "sha512:"]
        .iter()
        .any(|name| host.starts_with(name));
    let is_mail = user.eq_ignore_ascii_case("mailto");
    if user.is_empty() || user.contains('@') || secret.is_empty() || !is_host || is_digest || is_mail {
        return Cow::Borrowed(part);
    }
    Cow::Owned(format!("{opening}{host}"))
}

/// An address without what stands before its host, and that: a user, and after `:` a password. `None` where nothing does.
pub fn apart(address: &str) -> Option<(String, &str)> {
    let (scheme, rest) = parts(address)?;
    let (secret, host) = split(rest);
    Some((format!("{scheme}://{host}"), secret?))
}

/// What stands before an address's host, and all the rest.
fn split(after_scheme: &str) -> (Option<&str>, &str) {
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
            ("git://ann:s3cret@host:1/a/b", "git://host:1/a/b"),
            ("ann:s3cret@host:a/b.git", "host:a/b.git"),
            ("/w/ann:s3cr@et@127.0.0.1:1", "/w/127.0.0.1:1"),
            ("//ann:s3cret@host/a/b", "//host/a/b"),
            (
                "fatal: unable to look up ann:s3cret@host:1 (port 9418)",
                "fatal: unable to look up host:1 (port 9418)",
            ),
            ("(ann:s3cret@host: denied)", "(host: denied)"),
            ("git@host: Permission denied", "git@host: Permission denied"),
            ("see mailto:ann@host, ann@host", "see mailto:ann@host, ann@host"),
            ("r:5000/a/b:1.2@sha256:ab", "r:5000/a/b:1.2@sha256:ab"),
            ("main:x@{1} and a: @b", "main:x@{1} and a: @b"),
            ("https://host/a?token=s3cret", "https://host/a?token=…"),
            (
                "`https://ann:x@host/?a=s3&s3cret&b=#c`: no",
                "`https://host/?a=…&…&b=…#c`: no",
            ),
            (
                "https://host/?to=http://a:b@c/ https://d:e@f",
                "https://host/?to=… https://f",
            ),
            ("is it so? a=b", "is it so? a=b"),
            ("/srv/a@b/mirror", "/srv/a@b/mirror"),
            ("", ""),
        ] {
            assert_eq!(shown(text), expected);
            assert_eq!(shown(expected), expected, "it stays so");
        }
    }
}
