//! The sample's whole run ends, pull request by pull request, as its table says.

use std::collections::BTreeMap;
use std::path::Path;

use camino::Utf8PathBuf;
use quarry::domain::decision::Verdict;
use quarry::domain::ids::CandidateId;
use quarry::emit::entry::LogEntry;
use quarry::emit::instance::Instance;
use quarry::{emit, sample};

use crate::program::{root, sample_run, succeed};

/// One row of `data/sample/expected.toml`.
struct Row(toml::Value);

impl Row {
    fn text(&self, key: &str) -> &str {
        self.0[key]
            .as_str()
            .unwrap_or_else(|| panic!("`{key}` of {} is no text", self.0))
    }

    fn list(&self, key: &str) -> Vec<String> {
        let items = self
            .0
            .get(key)
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten();
        let mut items: Vec<_> = items.map(|item| item.as_str().unwrap().to_owned()).collect();
        items.sort();
        items
    }

    fn id(&self) -> CandidateId {
        format!("{}#{}", sample::REPOSITORY, self.0["number"])
            .parse()
            .unwrap()
    }
}

fn table() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("data/sample/expected.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    table["pull_request"]
        .as_array()
        .unwrap()
        .iter()
        .cloned()
        .map(Row)
        .collect()
}

fn lines<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Vec<T> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

fn ids(tests: &[quarry::domain::ids::TestId]) -> Vec<String> {
    tests.iter().map(ToString::to_string).collect()
}

fn check_instance(row: &Row, instance: &Instance) {
    let id = row.id();
    assert_eq!(ids(&instance.fail_to_pass), row.list("fail_to_pass"), "{id}");
    assert_eq!(ids(&instance.pass_to_pass), row.list("pass_to_pass"), "{id}");
    let flaky: Vec<_> = instance
        .flaky
        .iter()
        .map(|flaky| flaky.test.to_string())
        .collect();
    assert_eq!(flaky, row.list("flaky"), "{id}");
    for status in &instance.before_gold {
        assert_eq!(json(status), row.text("before_gold"), "{id}");
    }
    assert_eq!(json(&instance.merge_kind), row.text("merge"), "{id}");
    assert_eq!(instance.merge_branch.as_deref(), Some(row.text("branch")), "{id}");
    for (key, commit) in [
        ("base_commit", instance.base_commit),
        ("merge_base", instance.merge_base.unwrap()),
        ("merge_commit", instance.merge_commit.unwrap()),
    ] {
        assert_eq!(commit.to_string(), row.text(key), "{key} of {id}");
    }
}

fn check_end(row: &Row, entries: &[LogEntry]) {
    let (id, last) = (row.id(), entries.last().unwrap());
    match (row.text("outcome"), last) {
        ("dropped", LogEntry::Decision(said)) => {
            assert_eq!(said.rule.as_str(), row.text("rule"), "{id}");
            assert_eq!(said.verdict.name(), row.text("verdict"), "{id}");
            assert!(!said.kept, "{id}");
        }
        ("infra", LogEntry::Attempt(ended)) => {
            assert_eq!(
                (ended.outcome.name(), ended.reason.as_str()),
                ("infra", row.text("reason")),
                "{id}"
            );
        }
        ("unmerged", LogEntry::Decision(said)) => {
            assert!(
                said.rule.as_str().starts_with("mine-") && said.verdict == Verdict::Drop,
                "{id}"
            );
        }
        ("instance", LogEntry::Decision(said)) => assert!(said.kept, "{id}"),
        (outcome, last) => panic!("{id} should end as {outcome} and ends with {last:?}"),
    }
}

#[test]
fn every_pull_request_ends_as_the_table_says() {
    let temp = tempfile::tempdir().unwrap();
    succeed(&mut sample_run(temp.path()));
    let folder = temp.path().join("manifests/sample/0.1.0");
    let checked = emit::verify(&Utf8PathBuf::from_path_buf(folder.clone()).unwrap()).unwrap();
    assert_eq!(checked.problems, []);

    let read = |name: &str| std::fs::read(Path::new(&folder).join(name)).unwrap();
    let instances: Vec<Instance> = lines(&read("instances.jsonl"));
    let log = zstd::stream::decode_all(read("selection-log.jsonl.zst").as_slice()).unwrap();
    let mut ends: BTreeMap<CandidateId, Vec<LogEntry>> = BTreeMap::new();
    for entry in lines::<LogEntry>(&log) {
        ends.entry(entry.candidate().clone()).or_default().push(entry);
    }
    let table = table();
    assert_eq!(ends.len(), table.len(), "{:?}", ends.keys().collect::<Vec<_>>());
    for row in &table {
        let instance = instances
            .iter()
            .find(|instance| instance.instance_id == row.id().instance());
        check_end(row, &ends[&row.id()]);
        assert_eq!(
            instance.is_some(),
            row.text("outcome") == "instance",
            "{}",
            row.id()
        );
        if let Some(instance) = instance {
            check_instance(row, instance);
        }
    }
}
