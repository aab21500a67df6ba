use super::*;

fn problems(text: &str) -> String {
    match parse("r.toml", text) {
        Ok(loaded) => format!("fine: {}", loaded.hash),
        Err(error) => error
            .problems()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n\n"),
    }
}

const SMALL: &str = r#"
[dataset]
name = "small"
version = "1.0.0"

[[rule]]
id = "one-file"
keep = "gold.files == 1"
reason = "one file"
source = "ours"
"#;

#[test]
fn every_problem_is_shown_at_once_with_its_place() {
    let text = r#"
[dataset]
name = "Web Bugs"
version = "1.0"
licence = "MIT"

[[rule]]
id = "one-file"
kep = "gold.files == 1"
reason = "one file"
source = "ours"
undecided = "kep"
"#;
    insta::assert_snapshot!(problems(text), @r#"
    r.toml:3:8: `name` must be lower-case words joined by `-`
      |
    3 | name = "Web Bugs"
      |        ^^^^^^^^^^
      = hint: for example `web-bugs`

    r.toml:4:11: `version` must be `MAJOR.MINOR.PATCH`
      |
    4 | version = "1.0"
      |           ^^^^^
      = hint: for example `1.0.0`

    r.toml:5:1: unknown key `licence`
      |
    5 | licence = "MIT"
      | ^^^^^^^
      = hint: the keys here are `description`, `name`, `version`

    r.toml:7:1: the key `keep` is missing
      |
    7 | [[rule]]
      | ^^^^^^^^
      = hint: A CEL expression over the documented facts; true keeps the candidate.

    r.toml:9:1: unknown key `kep`
      |
    9 | kep = "gold.files == 1"
      | ^^^
      = hint: did you mean `keep`?

    r.toml:12:13: `undecided` cannot be `kep`
       |
    12 | undecided = "kep"
       |             ^^^^^
       = hint: did you mean `keep`?
    "#);
}

#[test]
fn a_fault_in_a_rule_is_pointed_at_inside_its_string() {
    let text = SMALL.replace(
        "\"gold.files == 1\"",
        "\"\"\"\n  \\\"é\\\" != pr.title &&\n  gold.fiels == 1\"\"\"",
    );
    insta::assert_snapshot!(problems(&text), @r#"
    r.toml:10:8: there is no fact `gold.fiels`
       |
    10 |   gold.fiels == 1"""
       |        ^^^^^
       = hint: did you mean `gold.files`? `quarry check --facts` lists every fact
    "#);
}

#[test]
fn broken_toml_is_pointed_at() {
    insta::assert_snapshot!(problems("[dataset]\nname = \"a\nversion = \"1.0.0\"\n"), @r#"
    r.toml:2:10: invalid basic string, expected `"`
      |
    2 | name = "a
      |          ^
    "#);
}

#[test]
fn the_rest_of_a_recipe_is_checked_as_well() {
    let text = format!(
        "{SMALL}{}",
        r#"
[source]
repositories = ["requests"]
merged_since = "2024-02-30"

[split]
test = ["a[b"]

[[rule]]
id = "one-file"
keep = "true"
reason = ""
source = "ours"

[[environment]]
name = "any"
reason = "a test"
python = "python3"
when = "size(oracle.flaky) == 0"

[verification]
runs = 0
timeout_seconds = "long"
"#
    );
    let shown: Vec<String> = parse("r.toml", &text)
        .unwrap_err()
        .problems()
        .iter()
        .map(|problem| format!("{}:{} {}", problem.line, problem.column, problem.message))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    13:17 `requests` is not a repository name such as `psf/requests`
    14:16 `merged_since` must be a day
    17:9 this is no glob: unclosed character class; missing ']'
    20:6 the rule id `one-file` is taken
    22:10 `reason` must not be empty
    28:10 `python3` is not a Python version
    29:9 `when` cannot read `oracle.flaky`, known only after verification
    32:8 `runs` must be at least 1
    33:19 `timeout_seconds` must be a whole number, not a string
    ");
}

#[test]
fn a_list_says_each_thing_once_and_names_are_not_taken_twice() {
    let text = format!(
        "variants = []\n{SMALL}{}",
        r#"
[[rule]]
id = "verify"
keep = "true"
reason = "x"
source = "x"

[source]
repositories = ["psf/requests", "PSF/Requests"]

[split]
test = ["a/*", "b/*"]
docs = ["a/*"]

[strip]
keep = ["noqa", "noqa"]

[room]
build_env = ["A", "A"]

[[environment]]
name = "old"
reason = "x"
python = ">=3.12,<3.9"
install = ["-e .", "-e ."]

[[environment.constraint]]
requirement = "a<1"
reason = "x"

[[environment.constraint]]
requirement = "a<1"
reason = "x"
"#
    );
    let shown = |text: &str| {
        let error = parse("r.toml", text).unwrap_err();
        let shown = error.problems().iter();
        let shown = shown.map(|problem| format!("{}:{} {}", problem.line, problem.column, problem.message));
        shown.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(shown(&text), @"
    1:12 `variants` names none
    14:6 `verify` is the name of a stage, which the funnel counts beside the rules
    20:33 `psf/requests` is in `repositories` twice
    24:9 `a/*` is in `split` twice
    27:17 `noqa` is in `keep` twice
    30:19 `A` is in `build_env` twice
    35:10 no Python from 3.6 on is `>=3.12,<3.9`
    36:20 `-e .` is in `install` twice
    43:15 `a<1` is in `constraint` twice
    ");
    let twice = format!("variants = [\"full\", \"full\"]\n{SMALL}");
    insta::assert_snapshot!(shown(&twice), @"1:21 `full` is in `variants` twice");
}

#[test]
fn the_hash_is_of_what_the_recipe_says() {
    let one = parse("a.toml", SMALL).unwrap();
    let commented = parse("b.toml", &format!("# why\n{SMALL}\n[split]\nmode = \"paths\"\n")).unwrap();
    assert_eq!(one.hash, commented.hash);
    assert_ne!(one.text_hash, commented.text_hash);
    let other = parse("a.toml", &SMALL.replace("== 1", "== 2")).unwrap();
    assert_ne!(one.hash, other.hash);
}
