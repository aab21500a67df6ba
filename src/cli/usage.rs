//! Command lines that clap refuses: with `--json` they are told as every other error is.

use std::ffi::OsString;

use super::error::CliError;

/// Whether a command line that could not be read asks for JSON.
pub(super) fn asks_for_json(words: impl Iterator<Item = OsString>) -> bool {
    words
        .skip(1)
        .take_while(|word| word != "--")
        .any(|word| word == "--json")
}

/// The error of a command line, out of what clap says of it.
pub(super) fn refusal(said: &str) -> CliError {
    let mut parts = said.split("\n\n").map(str::trim);
    let Some(what) = said.strip_prefix("error: ").and_then(|_| parts.next()) else {
        // Where the last word has others below it, clap shows what these are instead.
        let usage = said.lines().filter_map(|line| line.strip_prefix("Usage: "));
        let hints = usage.map(|usage| format!("usage: {}", words(usage)));
        return CliError::usage(
            "read the command line: a subcommand is missing",
            hints.chain([HELP.to_owned()]).collect(),
        );
    };
    let what = what.strip_prefix("error: ").unwrap_or(what);
    let mut hints = vec![];
    for part in parts {
        if let Some(usage) = part.strip_prefix("Usage: ") {
            hints.push(format!("usage: {}", words(usage)));
        } else if part.starts_with("For more information") {
            hints.push(HELP.to_owned());
        } else {
            let tips = part
                .lines()
                .map(|line| words(line.trim().trim_start_matches("tip: ")));
            hints.extend(tips.filter(|tip| !tip.is_empty()));
        }
    }
    CliError::usage(format!("read the command line: {}", words(what)), hints)
}

const HELP: &str = "`--help` says what can be given";

/// The words on one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::args::Cli;
    use super::*;

    fn refused(line: &[&str]) -> CliError {
        let line = std::iter::once("quarry").chain(line.iter().copied());
        let error = Cli::try_parse_from(line).unwrap_err();
        assert!(error.use_stderr(), "{error}");
        refusal(&error.render().to_string())
    }

    #[test]
    fn what_clap_says_is_a_message_and_hints() {
        for (line, message, hint) in [
            (
                ["run", "--sample"].as_slice(),
                "read the command line: the following required arguments were not provided: <RECIPE>",
                "usage: quarry run --sample <RECIPE>",
            ),
            (
                &["run", "x", "--sandbox", "non"],
                "read the command line: invalid value 'non' for '--sandbox <SANDBOX>' [possible values: process, docker, none]",
                "a similar value exists: 'none'",
            ),
            (
                &["statu"],
                "read the command line: unrecognized subcommand 'statu'",
                "a similar subcommand exists: 'status'",
            ),
            (
                &["--json", "annotate"],
                "read the command line: a subcommand is missing",
                HELP,
            ),
            (
                &["--jobs", "0", "status"],
                "read the command line: invalid value '0' for '--jobs <N>': 0 is not in 1..=1024",
                HELP,
            ),
        ] {
            let error = refused(line);
            assert_eq!(error.message, message, "{line:?}");
            assert!(error.hints.iter().any(|said| said == hint), "{:?}", error.hints);
            assert_eq!(error.kind(), "usage");
        }
    }

    #[test]
    fn json_is_asked_for_by_its_word_alone() {
        let asks = |line: &[&str]| asks_for_json(line.iter().map(OsString::from));
        assert!(asks(&["quarry", "run", "--json", "--", "x"]));
        assert!(!asks(&["quarry", "run", "--", "--json"]));
        assert!(!asks(&["--json", "run"]));
    }
}
