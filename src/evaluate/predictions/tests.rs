use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> Vec<(String, String, String)> {
    let found = parse("p.jsonl", text.as_bytes()).unwrap();
    found
        .into_iter()
        .map(|one| {
            (
                one.instance.to_string(),
                String::from_utf8_lossy(&one.patch).into_owned(),
                one.place,
            )
        })
        .collect()
}

fn error(text: &[u8]) -> String {
    parse("p.jsonl", text).unwrap_err().to_string()
}

fn one(id: &str, patch: &str, place: &str) -> (String, String, String) {
    (id.to_owned(), patch.to_owned(), place.to_owned())
}

#[test]
fn every_shape_of_the_field_is_read() {
    let lines = "{\"instance_id\": \"a\", \"model_patch\": \"x\", \"model_name_or_path\": \"m\", \"more\": [1]}\n\n\
                 {\"instance_id\": \"b\", \"model_patch\": null}\n";
    assert_eq!(parsed(lines), [one("a", "x", "line 1"), one("b", "", "line 3")]);
    let list = "[\n {\"instance_id\": \"a\", \"model_patch\": \"x\"},\n {\"instance_id\": \"b\"}\n]";
    assert_eq!(parsed(list), [one("a", "x", "line 2"), one("b", "", "line 3")]);
    let map = "{\n \"a\": {\"model_patch\": \"x\"},\n \"b\": \"y\",\n \"a\": {\"instance_id\": \"a\"}\n}";
    assert_eq!(
        parsed(map),
        [
            one("a", "x", "line 2"),
            one("b", "y", "line 3"),
            one("a", "", "line 4")
        ]
    );
    assert_eq!(
        parsed("{\"instance_id\": \"a\",\n\"model_patch\": \"x\"}"),
        [one("a", "x", "line 1")]
    );
    assert_eq!(parsed(" \n"), []);
    let files = vec![("a.diff".to_owned(), vec![0xff]), ("b.patch".to_owned(), vec![])];
    let found = from_files("runs/m7", files).unwrap();
    assert_eq!(
        (found[0].model.as_str(), &found[0].patch[..]),
        ("m7", &[0xff][..])
    );
    let wrong = from_files("runs/m7", vec![("notes.txt".to_owned(), vec![])]).unwrap_err();
    assert!(wrong.to_string().contains("notes.txt: it is neither"), "{wrong}");
}

#[test]
fn bytes_that_are_no_text_come_through() {
    let text = r#"{"instance_id": "a", "model_patch": "é\udcff\udc80\u00ff"}"#;
    let found = parse("p", text.as_bytes()).unwrap();
    assert_eq!(found[0].patch, b"\xc3\xa9\xff\x80\xc3\xbf");
    let text = r#"{"instance_id": "a", "model_patch_base64": "/wA="}"#;
    assert_eq!(parse("p", text.as_bytes()).unwrap()[0].patch, [0xff, 0]);
}

#[test]
fn what_is_wrong_is_named_by_its_line() {
    let wrong = b"{\"instance_id\": \"a\"}\n{\"model_patch\": \"x\"}\n{\"instance_id\": 3}\n{oops\n\xff\n";
    insta::assert_snapshot!(error(wrong), @"read the predictions `p.jsonl`: line 2: it has no `instance_id`; line 3: invalid type: integer `3`, expected a string (column 17); line 4: key must be a string (column 2); line 5: expected value (column 1)");
    assert!(error(b"[\n{\"instance_id\": \"a\"},\n{\"model_patch\": 1}]").contains("line 3: invalid type"));
    assert!(error(b"{\n\"a\": {\"instance_id\": \"b\"}}").contains("line 2: its `instance_id` is `b`"));
    assert!(error(b"{\n\"a\": \n}").contains("line 3"));
    assert!(error(b"oops").contains("line 1"));
}

fn prediction(id: &str, model: &str, patch: &str) -> Prediction {
    Prediction {
        instance: id.into(),
        patch: patch.into(),
        model: model.to_owned(),
        cost: None,
        steps: None,
        place: format!("{id} of {model}: {patch}"),
    }
}

#[test]
fn none_is_dropped_in_silence() {
    let known: BTreeSet<InstanceId> = ["a", "b", "c"].map(InstanceId::from).into();
    let all = vec![
        prediction("a", "m", "1"),
        prediction("z", "m", "1"),
        prediction("a", "m", "2"),
        prediction("b", "m", " \n"),
    ];
    let settled = settle("p", all, &known, None).unwrap();
    assert_eq!(settled.predictions[&"a".into()].patch, b"2");
    assert_eq!(settled.unknown[0].instance.as_str(), "z");
    assert_eq!(settled.replaced[0].place, "a of m: 1");
    assert_eq!(
        (settled.missing, settled.empty),
        (vec!["c".into()], vec!["b".into()])
    );

    let two = || vec![prediction("a", "m", "1"), prediction("a", "n", "1")];
    let error = settle("p", two(), &known, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "evaluate `p`: it holds predictions of 2 models: `m`, `n`"
    );
    assert_eq!(settle("p", two(), &known, Some("n")).unwrap().model, "n");
    assert!(settle("p", two(), &known, Some("x")).is_err());
    let error = settle("p", vec![prediction("z", "m", "1")], &known, None).unwrap_err();
    assert!(error.to_string().contains("none of its 1 predictions"), "{error}");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse("p", &bytes);
    }

    #[test]
    fn any_patch_comes_through(patch in proptest::collection::vec(any::<u8>(), 0..80)) {
        // As Python's json module writes what was decoded with `surrogateescape`.
        let pieces: Vec<String> = patch
            .utf8_chunks()
            .flat_map(|chunk| {
                let valid = serde_json::to_string(chunk.valid()).unwrap();
                let escaped = chunk.invalid().iter().map(|byte| format!("\\udc{byte:02x}"));
                std::iter::once(valid[1..valid.len() - 1].to_owned()).chain(escaped).collect::<Vec<_>>()
            })
            .collect();
        let text = pieces.concat();
        let json = format!("{{\"instance_id\": \"a\", \"model_patch\": \"{text}\"}}");
        prop_assert_eq!(&parse("p", json.as_bytes()).unwrap()[0].patch, &patch);
    }
}
