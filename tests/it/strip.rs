//! The stripper on its literate tests: Markdown files of before and after.

use std::fs;
use std::path::Path;

use clap::Parser as _;
use quarry::cli::strip::PolicyArgs;
use quarry::strip::python::{Dialect, strip};
use quarry::strip::{Check, Policy};

/// The options of a block, read as the command line reads them.
#[derive(clap::Parser)]
struct Options {
    #[command(flatten)]
    policy: PolicyArgs,
}

struct Block {
    line: usize,
    /// The words after the fence: how it is written, what it is, options.
    words: Vec<String>,
    bytes: Vec<u8>,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found = vec![];
    let mut open: Option<(Block, Vec<&str>)> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let words = info.split_whitespace().map(str::to_owned).collect();
                open = Some((
                    Block {
                        line: number + 1,
                        words,
                        bytes: vec![],
                    },
                    vec![],
                ));
            }
            (Some(_), Some(_)) => {
                let (block, lines) = open.take().unwrap();
                let is_escaped = block.words[0] == "escaped";
                let body = lines.join("\n");
                let bytes = if is_escaped {
                    unescape(&body)
                } else if body.is_empty() {
                    vec![]
                } else {
                    format!("{body}\n").into_bytes()
                };
                found.push(Block { bytes, ..block });
            }
            (Some((_, lines)), None) => lines.push(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block does not end");
    found
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = vec![];
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next().unwrap() {
            b'n' => b'\n',
            b'r' => b'\r',
            b'\\' => b'\\',
            b'x' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            other => panic!("unknown escape {}", char::from(other)),
        });
    }
    bytes
}

fn policy(words: &[String]) -> Policy {
    let options = Options::parse_from(std::iter::once("test").chain(words.iter().map(String::as_str)));
    options.policy.policy(Check::Tokens)
}

fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\n", "\\n\n")
}

/// Runs one file of literate tests; gives how many pairs it held.
fn run(name: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/strip")
        .join(name);
    let blocks = blocks(&fs::read_to_string(path).unwrap());
    let mut pairs = 0;
    let mut rest = blocks.as_slice();
    while let Some((block, tail)) = rest.split_first() {
        rest = tail;
        let at = format!("{name}:{}", block.line);
        match block.words[1].as_str() {
            "before" => {
                let (after, tail) = rest.split_first().unwrap();
                rest = tail;
                assert_eq!(after.words[1], "after", "{at}");
                holds(&at, &block.bytes, &after.bytes, &policy(&block.words[2..]));
            }
            "refused" => {
                let stripped = strip(&block.bytes, Dialect::Module, &policy(&block.words[3..]));
                assert_eq!(stripped.bytes, None, "{at}");
                assert_eq!(
                    stripped.untouched.map(|why| why.name()),
                    Some(block.words[2].as_str()),
                    "{at}"
                );
            }
            other => panic!("{at}: a block that is `{other}`"),
        }
        pairs += 1;
    }
    pairs
}

fn holds(at: &str, before: &[u8], after: &[u8], policy: &Policy) {
    // Every proof lets the same bytes through.
    for check in [Check::Tokens, Check::Tree, Check::None] {
        if policy.python2 && check == Check::Tree {
            continue;
        }
        let policy = Policy {
            check,
            ..policy.clone()
        };
        let stripped = strip(before, Dialect::Module, &policy);
        assert_eq!(stripped.untouched, None, "{at}");
        let out = stripped.bytes.unwrap_or_else(|| before.to_vec());
        assert_eq!(shown(&out), shown(after), "{at}");
        let again = strip(&out, Dialect::Module, &policy);
        assert_eq!(
            (again.untouched, again.bytes),
            (None, None),
            "{at}, the second time"
        );
    }
}

#[test]
fn docstrings_as_documented() {
    assert!(run("docstrings.md") >= 15);
}

#[test]
fn comments_as_documented() {
    assert!(run("comments.md") >= 8);
}

#[test]
fn kept_lines_as_documented() {
    assert!(run("lines.md") >= 4);
}

#[test]
fn bytes_as_documented() {
    assert!(run("bytes.md") >= 15);
}
