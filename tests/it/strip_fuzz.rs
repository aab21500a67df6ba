//! The stripper on generated and on mutated sources: whatever goes in, what comes out is proven, at rest, and the rest
//! of the bytes are the original's.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use quarry::strip::python::{Dialect, strip};
use quarry::strip::run::pool;
use quarry::strip::{Check, Keep, Policy, Remove};

fn policies() -> Vec<Policy> {
    let safe = Policy::default();
    vec![
        safe.clone(),
        Policy {
            keep_lines: true,
            ..safe.clone()
        },
        Policy {
            remove: [Remove::AttributeDocstrings, Remove::StringStatements].into(),
            ..safe.clone()
        },
        Policy {
            keep: [Keep::Noqa, Keep::Licence, Keep::TypeIgnore].into(),
            keep_lines: true,
            ..safe
        },
    ]
}

/// Everything that holds for any input.
fn holds(source: &[u8]) -> Result<(), String> {
    for policy in policies() {
        let once = strip(source, Dialect::Module, &policy);
        if let Some(why) = once.untouched.filter(quarry::strip::python::Untouched::is_fault) {
            return Err(format!("{why} under {policy:?}"));
        }
        let Some(out) = once.bytes else { continue };
        let tree = Policy {
            check: Check::Tree,
            ..policy.clone()
        };
        if strip(source, Dialect::Module, &tree).bytes.as_ref() != Some(&out) {
            return Err(format!("the proofs differ under {policy:?}"));
        }
        if strip(&out, Dialect::Module, &policy).bytes.is_some() {
            return Err(format!(
                "it is not at rest under {policy:?}: {}",
                out.escape_ascii()
            ));
        }
        if policy.keep_lines && lines(&out) != lines(source) {
            return Err("lines moved".into());
        }
        // Nothing is new but `pass` and continuations.
        let count = |bytes: &[u8], wanted: u8| memchr::memchr_iter(wanted, bytes).count();
        let more =
            (0..=255).find(|byte| !b"pass\\ \t".contains(byte) && count(&out, *byte) > count(source, *byte));
        if let Some(byte) = more {
            return Err(format!(
                "it holds more of {byte:?} than the original under {policy:?}"
            ));
        }
    }
    Ok(())
}

fn lines(bytes: &[u8]) -> usize {
    let ends = bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    ends - bytes.windows(2).filter(|pair| pair == b"\r\n").count()
}

fn corpus() -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/strip"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
    files.sort();
    assert!(files.len() > 40, "the corpus is there");
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn the_corpus_and_its_mutants_hold() {
    const WORDS: &[&str] = &[
        "#",
        "# c\n",
        "\"",
        "'''",
        "\"\"\"",
        "\"doc\"",
        "\\\n",
        "\n",
        "\r",
        "\r\n",
        "\x0c",
        ";",
        ":",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "f\"",
        "f'''",
        "b''",
        "pass",
        "def f():",
        "class A:",
        "if x:",
        "else:",
        "    ",
        "\t",
        " ",
        "x = 1",
        "\u{e9}",
        "\u{feff}",
        "# noqa",
        "# type: int",
        "# coding: latin-1\n",
        "# Copyright\n",
        "lambda:",
        "match x:\n",
        "return",
        "\0",
        "!",
        "=",
        ",",
        "@d\n",
        "async ",
        "...",
        "0",
        "r\"\\\"",
    ];
    let corpus = corpus();
    // A linear congruential generator: the same mutants on every machine.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = move |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % limit.max(1)
    };
    pool(1).unwrap().install(|| {
        for source in &corpus {
            holds(source).unwrap_or_else(|why| panic!("{why}: {}", source.escape_ascii()));
        }
        for _ in 0..6_000 {
            let mut source = corpus[below(corpus.len())].clone();
            for _ in 0..=below(4) {
                let at = below(source.len() + 1);
                let end = (at + below(12)).min(source.len());
                match below(5) {
                    0 => drop(source.drain(at..end)),
                    1 => drop(source.splice(at..at, WORDS[below(WORDS.len())].bytes())),
                    2 => drop(source.splice(at..end, WORDS[below(WORDS.len())].bytes())),
                    3 => {
                        let other = &corpus[below(corpus.len())];
                        let from = below(other.len() + 1);
                        let to = (from + below(40)).min(other.len());
                        drop(source.splice(at..at, other[from..to].to_vec()));
                    }
                    _ => {
                        let piece = source[at..end].to_vec();
                        drop(source.splice(at..at, piece));
                    }
                }
            }
            holds(&source).unwrap_or_else(|why| panic!("{why}: {}", source.escape_ascii()));
        }
    });
}

/// A statement, or a comment, or a docstring, at some depth.
fn suite(depth: u32) -> BoxedStrategy<Vec<String>> {
    let simple = prop_oneof![
        Just("x = 1".to_owned()),
        Just("'doc'; y = 2".to_owned()),
        Just("\"doc\"".to_owned()),
        Just("('a'".to_owned() + "\n  # in\n 'b')"),
        Just("'''two\n   lines\u{e9}'''".to_owned()),
        Just("z = f'{x # c\n}' if 0 else [1, # c\n # d\n 2]".to_owned()),
        Just("w = 1 + \\\n 2".to_owned()),
        Just("'''a\nb'''; v = 3; 'end'".to_owned()),
    ];
    let line = (
        simple,
        prop_oneof![3 => Just(""), 1 => Just("  # c\u{e9}"), 1 => Just("  # noqa"), 1 => Just(";")],
    )
        .prop_map(|(code, tail)| vec![format!("{code}{tail}")]);
    let comment = prop_oneof![
        Just("# c"),
        Just(""),
        Just("# type: int"),
        Just("\x0c# Copyright")
    ]
    .prop_map(|text| vec![text.to_owned()]);
    if depth == 0 {
        return prop_oneof![line, comment].boxed();
    }
    let head = prop_oneof![
        Just("def f():"),
        Just("class A:  # c"),
        Just("if x:"),
        Just("for x in y:"),
        Just("async def g(a, # c\n b):")
    ];
    let block = (head, prop::collection::vec(suite(depth - 1), 1..4), any::<bool>()).prop_map(
        |(head, body, tabs)| {
            let indent = if tabs { "\t" } else { "   " };
            let mut lines = vec![head.to_owned()];
            lines.extend(body.concat().into_iter().map(|line| format!("{indent}{line}")));
            lines.push(format!("{indent}'doc'"));
            lines
        },
    );
    prop_oneof![2 => line, 1 => comment, 2 => block].boxed()
}

fn source() -> impl Strategy<Value = String> {
    prop::collection::vec(suite(3), 0..6).prop_map(|parts| parts.concat().join("\n") + "\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_programs_hold(text in source()) {
        prop_assert_eq!(holds(text.as_bytes()), Ok(()));
    }

    #[test]
    fn line_ends_and_codecs_do_not_matter(text in source()) {
        let policy = Policy::default();
        let out = |bytes: &[u8]| {
            let stripped = strip(bytes, Dialect::Module, &policy);
            (stripped.untouched.is_some(), stripped.bytes.unwrap_or_else(|| bytes.to_vec()))
        };
        let (untouched, plain) = out(text.as_bytes());
        for end in ["\r\n", "\r"] {
            let (same, ended) = out(text.replace('\n', end).as_bytes());
            prop_assert_eq!(same, untouched);
            prop_assert_eq!(ended, String::from_utf8(plain.clone()).unwrap().replace('\n', end).into_bytes());
        }
        let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        let cookie = &b"# coding: latin-1\n"[..];
        let (same, encoded) = out(&[cookie, &latin].concat());
        let wanted: Vec<u8> = String::from_utf8(plain).unwrap().chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        prop_assert_eq!(same, untouched);
        prop_assert_eq!(encoded, [cookie, &wanted].concat());
    }
}
