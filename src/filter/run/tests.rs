use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::domain::patch::{FileChange, Part};
use crate::recipe::LoadedRecipe;
use crate::workspace::{Context, Workspace};

pub(super) fn context(folder: &tempfile::TempDir) -> Context {
    Context::open(&Workspace::at(root(folder))).unwrap().0
}

fn root(folder: &tempfile::TempDir) -> &Utf8Path {
    Utf8Path::from_path(folder.path()).unwrap()
}

#[expect(clippy::unnecessary_wraps, reason = "the shape of a split")]
pub(super) fn part_of(file: &FileChange) -> Option<Part> {
    Some(if file.path.has_extension("rst") {
        Part::Docs
    } else {
        Part::Gold
    })
}

fn recipe() -> LoadedRecipe {
    let text = r#"
[dataset]
name = "rows"
version = "1.0.0"
[[rule]]
id = "one-file"
keep = "gold.files == 1"
reason = "one file"
source = "ours"
[[rule]]
id = "fails"
keep = "size(oracle.fail_to_pass) > 0"
reason = "a test fails"
source = "ours"
undecided = "keep"
"#;
    crate::recipe::parse("rows.toml", text).unwrap()
}

fn row(number: u32, files: usize, tests: &Value) -> Value {
    let patch: Vec<String> = (0..files)
        .map(|n| format!("diff --git a/{n}.py b/{n}.py\n@@ -1 +1 @@\n-é\n+\"\n"))
        .collect();
    json!({"instance_id": format!("a__b-{number}"), "repo": "a/b", "patch": patch.concat(), "FAIL_TO_PASS": tests, "n": number})
}

fn stream(text: &str) -> Input {
    Input::Stream(
        "rows.jsonl".to_owned(),
        Box::new(std::io::Cursor::new(text.as_bytes().to_vec())),
    )
}

fn run(context: &Context, input: Input, output: Output<'_>) -> Result<DatasetRun, FilterError> {
    filter_dataset(context, &recipe(), input, output, &part_of)
}

fn lines(context: &Context, text: &str) -> (String, DatasetRun) {
    let mut kept = Vec::new();
    let run = run(context, stream(text), Output::Stream(&mut kept)).unwrap();
    (String::from_utf8(kept).unwrap(), run)
}

#[test]
fn kept_rows_go_on_unchanged_and_every_decision_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(&folder);
    let kept = " {\"patch\" :\"diff --git a/x b/x\\n\\u00e9\",\"instance_id\":\"a__b-1\", \"FAIL_TO_PASS\": [\"t\"]}";
    let text = format!(
        "{kept}\r\n\n{}\n{}\n{}",
        row(2, 2, &json!(["t"])),
        row(3, 1, &json!("[]")),
        row(4, 1, &Value::Null)
    );
    let (out, run) = lines(&context, &text);
    assert_eq!(out, format!("{kept}\n{}\n", row(4, 1, &Value::Null)));
    insta::assert_snapshot!(run.funnel.text(), @"
    rule           in  dropped undecided      out
    one-file        4        1         0        3
    fails           3        1         1        2
    total           4        2                  2
    ");

    let logged = row_decisions(&context, &"a/b#4".parse().unwrap()).unwrap();
    let told: Vec<String> = logged
        .iter()
        .map(|(dataset, said)| {
            format!(
                "{dataset} row {} {} {} {} {}",
                said.row,
                said.rule,
                said.verdict.name(),
                said.kept,
                said.observed
            )
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    rows row 5 one-file keep true {"gold.files":1}
    rows row 5 fails undecided true {"oracle.fail_to_pass":null}
    "#);
    assert_eq!(row_decisions(&context, &"a/b#5".parse().unwrap()).unwrap(), []);

    // The same run again writes the same log.
    let again = lines(&context, &text).1;
    assert_eq!(again, run);
    assert_eq!(
        row_decisions(&context, &"a/b#4".parse().unwrap()).unwrap().len(),
        2
    );
}

#[test]
fn a_row_that_cannot_be_read_is_named_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(&folder);
    let good = row(1, 1, &json!(["t"])).to_string();
    let target = root(&folder).join("out.jsonl");
    let fail = |text: &str| {
        run(&context, stream(text), Output::File(target.clone()))
            .unwrap_err()
            .to_string()
    };
    insta::assert_snapshot!(fail(&format!("{good}\n\n{{\"a\": nope}}\n")), @"read `rows.jsonl`, line 3, column 8: expected ident");
    insta::assert_snapshot!(fail(&format!("{good}\n{{\"patch\": 5}}")), @"read row 2 of `rows.jsonl`: `patch` must be a text");
    insta::assert_snapshot!(fail(&format!("{good}\n<html>")), @"read `rows.jsonl`, line 2, column 1: a row must be a JSON object");
    assert!(!target.exists());
    assert_eq!(
        context
            .workspace
            .selections()
            .join("rows")
            .read_dir_utf8()
            .unwrap()
            .count(),
        0
    );
    let missing = run(
        &context,
        Input::File(root(&folder).join("none.jsonl")),
        Output::Nowhere,
    )
    .unwrap_err();
    assert!(missing.to_string().starts_with("read `"), "{missing}");
    context.cancel.cancel();
    assert!(matches!(
        run(&context, stream(&good), Output::Nowhere),
        Err(FilterError::Stopped)
    ));
}

#[test]
fn a_device_keeps_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(&folder);
    let link = root(&folder).join("nowhere");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    let text = row(1, 1, &json!(["t"])).to_string();
    run(&context, stream(&text), Output::File(link.clone())).unwrap();
    assert!(link.is_symlink());
}

#[test]
fn a_reader_that_goes_away_does_not_end_the_run() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let context = context(&folder);
    let text = row(1, 1, &json!(["t"])).to_string();
    let run = run(&context, stream(&text), Output::Stream(&mut Gone)).unwrap();
    assert_eq!(run.funnel.out, 1);
}

fn read_back(context: &Context, file: Utf8PathBuf) -> Vec<Value> {
    let all = r#"
[dataset]
name = "all"
version = "1.0.0"
"#;
    let mut out = Vec::new();
    let recipe = crate::recipe::parse("all.toml", all).unwrap();
    filter_dataset(
        context,
        &recipe,
        Input::File(file),
        Output::Stream(&mut out),
        &part_of,
    )
    .unwrap();
    String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn parquet_goes_in_and_out() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(&folder);
    let mut rows: Vec<Value> = (1..=2500_u32)
        .map(|n| row(n, usize::from(n % 3 == 0) + 1, &json!(["t é", "u"])))
        .collect();
    rows[1]["FAIL_TO_PASS"] = json!([]);
    rows[3]["FAIL_TO_PASS"] = Value::Null;
    rows[3]["n"] = Value::Null;
    rows[4]["more"] = json!({"deep": [1, null]});
    rows[6]["flag"] = json!(true);
    rows[7]["share"] = json!(0.5);
    let text: String = rows
        .iter()
        .flat_map(|row| [row.to_string(), "\n".to_owned()])
        .collect();
    let (first, second) = (root(&folder).join("a.parquet"), root(&folder).join("b.parquet"));

    let jsonl = run(&context, stream(&text), Output::File(first.clone())).unwrap();
    let expected: Vec<&Value> = rows
        .iter()
        .filter(|row| {
            row["patch"].as_str().unwrap().matches("diff").count() == 1 && row["FAIL_TO_PASS"] != json!([])
        })
        .collect();
    assert_eq!(jsonl.funnel.out, expected.len() as u64);
    let back = read_back(&context, first.clone());
    assert_eq!(back.len(), expected.len());
    for (found, row) in back.iter().zip(&expected) {
        for (name, value) in row.as_object().unwrap() {
            assert_eq!(&found[name], value, "{name}");
        }
    }

    // From Parquet to Parquet the columns are copied: everything is kept the second time.
    let copied = run(&context, Input::File(first), Output::File(second.clone())).unwrap();
    assert_eq!(copied.funnel.out, copied.funnel.entered);
    assert_eq!(read_back(&context, second), back);
}

#[test]
fn what_parquet_has_no_type_for_comes_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(&folder);
    // One column for each kind of mixture, and numbers that neither an integer of 64 bits nor a double holds.
    let rows = [
        r#"{"instance_id":"one","mixed":1,"big":18446744073709551616,"unsigned":18446744073709551615,"exact":0.1,"long":0.1000000000000000055511,"deep":{"n":12345678901234567890123},"half":"\ud800","far":1e400,"zero":-0,"whole":1.0}"#,
        r#"{"instance_id":"two","mixed":"1","big":1,"unsigned":2,"exact":-2.50e-3,"long":1.5,"deep":[1,[null]],"half":"x","far":2.5,"zero":1,"whole":7}"#,
        r#"{"instance_id":"three","mixed":[true],"big":null,"unsigned":3,"exact":1e22,"long":2.5,"deep":null,"half":null,"far":null,"zero":null,"whole":null}"#,
    ];
    let file = root(&folder).join("a.Parquet");
    let all = crate::recipe::parse("all.toml", "[dataset]\nname = \"all\"\nversion = \"1.0.0\"\n").unwrap();
    let output = Output::File(file.clone());
    filter_dataset(&context, &all, stream(&rows.join("\n")), output, &part_of).unwrap();
    assert!(std::fs::read(&file).unwrap().starts_with(b"PAR1"));
    let mut out = Vec::new();
    filter_dataset(
        &context,
        &all,
        Input::File(file),
        Output::Stream(&mut out),
        &part_of,
    )
    .unwrap();
    let back = String::from_utf8(out).unwrap();
    let compact = |text: &str| text.replace(": ", ":").replace(", ", ",");
    // Doubles may be written in another way; their digits are the same.
    let same = |text: &str| text.replace("-2.50e-3", "-0.0025").replace("1e22", "1e+22");
    for (line, row) in back.lines().zip(rows) {
        assert_eq!(compact(line), same(row));
    }
    assert_eq!(back.lines().count(), rows.len());
}

#[test]
fn what_is_no_dataset_or_no_name_for_one_is_said_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(&folder);
    let good = row(1, 1, &json!(["t"])).to_string();
    let other = row(2, 1, &json!(["t"])).to_string();
    let out = |name: &str| Output::File(root(&folder).join(name));
    let refused = |text: &str, output: Output<'_>| {
        let error = run(&context, stream(text), output).unwrap_err();
        assert!(!error.hints().is_empty());
        error.to_string()
    };
    assert_eq!(
        refused(&format!("\u{feff}{good}"), out("a.jsonl")),
        "read `rows.jsonl`, line 1: it begins with a byte order mark, before the first row"
    );
    assert_eq!(
        refused(&format!("{good}\n{other}\n\n{good}\n"), out("a.jsonl")),
        "read `rows.jsonl`, line 4: the instance id `a__b-1` is that of line 1, too"
    );
    for name in ["a.parquett", "a", "a.json.gz"] {
        assert!(
            refused(&good, out(name)).starts_with("tell from the name `"),
            "{name}"
        );
    }
    assert!(!root(&folder).join("a.jsonl").exists());
    for (name, is_parquet) in [("b.PARQUET", true), ("b.JSONL", false), ("c.ndjson", false)] {
        run(&context, stream(&good), out(name)).unwrap();
        let written = std::fs::read(root(&folder).join(name)).unwrap();
        assert_eq!(written.starts_with(b"PAR1"), is_parquet, "{name}");
    }
}

#[test]
fn parquet_is_known_by_its_first_bytes_also_on_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(&folder);
    let file = root(&folder).join("a.parquet");
    run(
        &context,
        stream(&row(1, 1, &json!(["t"])).to_string()),
        Output::File(file.clone()),
    )
    .unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let input = Input::Stream("-".to_owned(), Box::new(std::io::Cursor::new(bytes)));
    assert_eq!(run(&context, input, Output::Nowhere).unwrap().funnel.out, 1);
    let broken = Input::Stream(
        "-".to_owned(),
        Box::new(std::io::Cursor::new(b"PAR1 and no more".to_vec())),
    );
    assert!(matches!(
        run(&context, broken, Output::Nowhere),
        Err(FilterError::Parquet { .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Copying a Parquet file keeps exactly the rows that the rules keep, whatever lists and nulls they hold.
    #[test]
    fn a_copied_column_loses_only_the_rows_that_are_dropped(
        shapes in prop::collection::vec((1_usize..3, prop::option::of(prop::collection::vec(prop::option::of("[a-c]{0,2}"), 0..4))), 1..30)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let context = context(&folder);
        let rows: Vec<Value> = shapes
            .iter()
            .enumerate()
            .map(|(n, (files, list))| {
                let mut row = row(u32::try_from(n).unwrap() + 1, *files, &Value::Null);
                row["list"] = json!(list);
                row
            })
            .collect();
        let text: String = rows.iter().flat_map(|row| [row.to_string(), "\n".to_owned()]).collect();
        let (all, some) = (root(&folder).join("all.parquet"), root(&folder).join("some.parquet"));
        let everything = crate::recipe::parse("all.toml", "[dataset]\nname = \"all\"\nversion = \"1.0.0\"\n").unwrap();
        filter_dataset(&context, &everything, stream(&text), Output::File(all.clone()), &part_of).unwrap();
        run(&context, Input::File(all.clone()), Output::File(some.clone())).unwrap();
        let expected: Vec<Value> = read_back(&context, all)
            .into_iter()
            .zip(&shapes)
            .filter(|(_, (files, _))| *files == 1)
            .map(|(row, _)| row)
            .collect();
        prop_assert_eq!(read_back(&context, some), expected);
    }
}
