//! A repository's own files → the licence that it says it is under, by its SPDX identifier.
//!
//! What packaging declares comes first (an SPDX expression, after PEP 639); else the text of a licence file at the root is
//! recognised by the words that no other licence has. What neither tells is unknown, never guessed.

/// Names of files at a tree's root that hold a licence.
const FILES: [&str; 12] = [
    "LICENSE",
    "LICENSE.txt",
    "LICENSE.md",
    "LICENSE.rst",
    "LICENCE",
    "LICENCE.txt",
    "LICENCE.md",
    "LICENCE.rst",
    "COPYING",
    "COPYING.txt",
    "COPYING.md",
    "COPYING.rst",
];

/// The licence of a tree, read by file name; `None` where nothing tells.
pub fn of_tree(read: &dyn Fn(&str) -> Option<Vec<u8>>) -> Option<String> {
    declared(read).or_else(|| {
        let mut texts = FILES.iter().filter_map(|name| read(name));
        texts.find_map(|text| recognised(&String::from_utf8_lossy(&text)).map(str::to_owned))
    })
}

/// What `pyproject.toml` declares.
fn declared(read: &dyn Fn(&str) -> Option<Vec<u8>>) -> Option<String> {
    let text = String::from_utf8(read("pyproject.toml")?).ok()?;
    let table: toml::Table = text.parse().ok()?;
    let project = table.get("project").and_then(|project| project.get("license"));
    let poetry = table
        .get("tool")
        .and_then(|tool| tool.get("poetry")?.get("license"));
    let named = |value: &toml::Value| {
        let text = value
            .as_str()
            .or_else(|| value.get("text").and_then(toml::Value::as_str))?;
        is_expression(text).then(|| text.to_owned())
    };
    project.and_then(named).or_else(|| poetry.and_then(named))
}

/// Whether a text is an SPDX expression and not a licence's words or its name in prose.
fn is_expression(text: &str) -> bool {
    let words: Vec<&str> = text
        .split([' ', '(', ')'])
        .filter(|word| !word.is_empty())
        .collect();
    let is_name = |word: &str| {
        word.len() > 1
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-.+:".contains(&byte))
    };
    let joins = |word: &str| matches!(word, "AND" | "OR" | "WITH");
    words.len() % 2 == 1
        && words.iter().enumerate().all(|(at, word)| {
            if at % 2 == 0 {
                is_name(word) && !joins(word)
            } else {
                joins(word)
            }
        })
}

/// The licence whose text this is.
fn recognised(text: &str) -> Option<&'static str> {
    let text = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase();
    let has = |words: &str| text.contains(words);
    // Others name these licences further down.
    let head: String = text.chars().take(300).collect();
    let begins = |words: &str| head.contains(words);
    let version = |number: &str| head.contains(&format!("version {number}"));
    if begins("gnu affero general public license") && version("3") {
        Some("AGPL-3.0")
    } else if begins("gnu lesser general public license") && version("3") {
        Some("LGPL-3.0")
    } else if begins("gnu lesser general public license") && version("2.1") {
        Some("LGPL-2.1")
    } else if begins("gnu general public license") && version("3") {
        Some("GPL-3.0")
    } else if begins("gnu general public license") && version("2") {
        Some("GPL-2.0")
    } else if begins("mozilla public license") && version("2.0") {
        Some("MPL-2.0")
    } else if begins("apache license") && version("2.0") {
        Some("Apache-2.0")
    } else if has("permission is hereby granted, free of charge, to any person obtaining a copy") {
        Some("MIT")
    } else if has("redistribution and use in source and binary forms") {
        Some(
            if has("neither the name") || has("may not be used to endorse or promote") {
                "BSD-3-Clause"
            } else {
                "BSD-2-Clause"
            },
        )
    } else if has("permission to use, copy, modify, and/or distribute this software for any purpose") {
        Some("ISC")
    } else if has("this is free and unencumbered software released into the public domain") {
        Some("Unlicense")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Option<String> {
        of_tree(&|name| {
            let found = files.iter().find(|(path, _)| *path == name);
            found.map(|(_, text)| text.as_bytes().to_vec())
        })
    }

    #[test]
    fn what_packaging_declares_comes_before_a_files_words() {
        let mit = "Permission is hereby granted,\n  free of charge, to any person obtaining a copy\nof";
        let project = "[project]\nlicense = \"BSD-3-Clause\"\n";
        assert_eq!(
            of(&[("pyproject.toml", project), ("LICENSE", mit)]).as_deref(),
            Some("BSD-3-Clause")
        );
        for (project, expected) in [
            ("[project]\nlicense = {text = \"Apache-2.0\"}\n", "Apache-2.0"),
            (
                "[project]\nlicense = {text = \"MIT OR (Apache-2.0 AND PSF-2.0)\"}\n",
                "MIT OR (Apache-2.0 AND PSF-2.0)",
            ),
            ("[tool.poetry]\nlicense = \"ISC\"\n", "ISC"),
            // Prose is none, a file's name is none.
            ("[project]\nlicense = {text = \"The MIT License\"}\n", "MIT"),
            ("[project]\nlicense = {file = \"LICENSE\"}\n", "MIT"),
            ("no TOML", "MIT"),
        ] {
            let found = of(&[("pyproject.toml", project), ("COPYING", mit)]);
            assert_eq!(found.as_deref(), Some(expected), "{project}");
        }
    }

    #[test]
    fn a_text_is_known_by_its_own_words_or_not_at_all() {
        for (text, expected) in [
            ("Apache License\n   Version 2.0, January 2004", Some("Apache-2.0")),
            (
                "GNU GENERAL PUBLIC LICENSE\n Version 2, June 1991",
                Some("GPL-2.0"),
            ),
            (
                "GNU LESSER GENERAL PUBLIC LICENSE\n Version 2.1, February 1999",
                Some("LGPL-2.1"),
            ),
            (
                "Redistribution and use in source and binary forms ... Neither the name of the copyright holder",
                Some("BSD-3-Clause"),
            ),
            (
                "Redistribution and use in source and binary forms ...",
                Some("BSD-2-Clause"),
            ),
            ("All rights reserved.", None),
            ("", None),
        ] {
            assert_eq!(of(&[("LICENSE.rst", text)]).as_deref(), expected, "{text}");
        }
        assert_eq!(of(&[("README", "MIT")]), None);
    }
}
