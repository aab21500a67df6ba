//! A user and a password that stand in an address, handed to git where nobody else reads them: a program's arguments are
//! everybody's on the machine, its environment is its user's alone.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::process::Command;

use crate::domain::address::{apart, parts};

const USER: &str = "QUARRY_GIT_USER";
const PASSWORD: &str = "QUARRY_GIT_PASSWORD";

/// Answers git's question for a user and a password; what it is told to keep or to forget is no question.
const HELPER: &str = r#"!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$QUARRY_GIT_USER" "$QUARRY_GIT_PASSWORD"; }; f"#;

/// The address that git is given instead of `url`. What it must know besides is set on the command, for that host alone; the
/// command has no verb yet.
pub(super) fn hide(command: &mut Command, url: &str) -> String {
    let Some((address, secret)) = apart(url) else {
        return url.to_owned();
    };
    let (user, password) = secret.split_once(':').unwrap_or((secret, ""));
    let Some((scheme, rest)) = parts(&address) else {
        return url.to_owned();
    };
    match scheme.as_str() {
        // No password goes over `ssh`'s command line, and git's own protocol knows no user.
        "ssh" => format!("ssh://{user}@{rest}"),
        "git" => address,
        "http" | "https" => {
            let (user, password) = (decoded(user), decoded(password));
            if user.iter().chain(&password).any(u8::is_ascii_control) {
                // Git refuses such an address itself.
                return url.to_owned();
            }
            let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
            command
                .arg("-c")
                .arg(format!("credential.{scheme}://{host}.helper={HELPER}"))
                .env(USER, OsString::from_vec(user))
                .env(PASSWORD, OsString::from_vec(password));
            address
        }
        _ => url.to_owned(),
    }
}

/// Text of an address with its `%40`s as the bytes that they stand for.
fn decoded(text: &str) -> Vec<u8> {
    let mut out = vec![];
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|two| two.iter().all(u8::is_ascii_hexdigit));
        let value = digits
            .filter(|_| *byte == b'%')
            .and_then(|two| std::str::from_utf8(two).ok())
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        if let Some(value) = value {
            out.push(value);
            rest = &after[2..];
        } else {
            out.push(*byte);
            rest = after;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_argument_holds_a_secret() {
        for (url, given, user, password) in [
            (
                "https://ann:s3%40cr%Et@h:1/a/b?x=1",
                "https://h:1/a/b?x=1",
                "ann",
                "s3@cr%Et",
            ),
            ("http://s3cret@h/a", "http://h/a", "s3cret", ""),
            ("ssh://git:s3cret@h/a", "ssh://git@h/a", "", ""),
            ("git://ann:s3cret@h/a", "git://h/a", "", ""),
            ("git@h:a/b", "git@h:a/b", "", ""),
            ("https://h/a", "https://h/a", "", ""),
            ("file:///a@b/c", "file:///a@b/c", "", ""),
            ("https://a%0ab:c@h/d", "https://a%0ab:c@h/d", "", ""),
        ] {
            let mut command = Command::new("git");
            assert_eq!(hide(&mut command, url), given);
            let said: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
            let said = said.join(" ");
            assert!(!said.contains("s3"), "{said}");
            let set = |name: &str| {
                let mut all = command.get_envs();
                let value = all.find(|(key, _)| *key == name).and_then(|(_, value)| value);
                value.map(|value| value.to_string_lossy().into_owned())
            };
            assert_eq!(set(USER).unwrap_or_default(), user);
            assert_eq!(set(PASSWORD).unwrap_or_default(), password);
            if !user.is_empty() {
                let (scheme, rest) = given.split_once("://").unwrap();
                let host = rest.split('/').next().unwrap();
                assert!(said.starts_with(&format!("-c credential.{scheme}://{host}.helper=!f")));
            }
        }
    }

    #[test]
    fn the_helper_answers_with_what_was_set() {
        let answer = |asked: &str| {
            let mut shell = Command::new("sh");
            let script = format!("{} {asked}", &HELPER[1..]);
            shell.arg("-c").arg(script).env(USER, "a n").env(PASSWORD, "'$x%");
            String::from_utf8(shell.output().unwrap().stdout).unwrap()
        };
        assert_eq!(answer("get"), "username=a n\npassword='$x%\n");
        assert_eq!(answer("store"), "");
    }
}
