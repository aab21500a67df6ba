//! What there is on the model's GitHub.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A repository and everything in it. Values are GraphQL objects, with lists in the place of connections and
/// `{"at": "owner/name#N"}` in the place of an issue.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repo {
    pub(crate) private: bool,
    pub(crate) facts: BTreeMap<&'static str, Value>,
    pub(crate) pulls: BTreeMap<u32, Value>,
    pub(crate) issues: BTreeMap<u32, Value>,
    /// Issues that were moved: where they are now.
    pub(crate) moved: BTreeMap<u32, (String, u32)>,
    pub(crate) deleted: Vec<u32>,
    pub(crate) releases: Vec<Value>,
    /// Names at the root, and in `.github`.
    pub(crate) root: Vec<String>,
    pub(crate) github: Vec<String>,
}

pub(crate) const OLD: &str = "2020-01-01T00:00:00Z";

pub(crate) fn user(login: &str) -> Value {
    json!({ "__typename": "User", "login": login })
}

/// A merged pull request that closes these issues (`3`, `other/repo#4`).
pub(crate) fn pull(number: u32, closes: &[&str]) -> Value {
    let closes: Vec<Value> = closes.iter().map(|at| json!({ "at": at })).collect();
    json!({
        "__typename": "PullRequest", "number": number, "title": format!("Change {number}"), "body": "", "state": "MERGED",
        "locked": false, "createdAt": "2020-02-02T00:00:00Z", "updatedAt": OLD, "mergedAt": "2020-02-03T00:00:00Z",
        "lastEditedAt": null, "author": user("ada"), "milestone": null,
        "mergeCommit": { "oid": "d16bfe05a744909de4b27f5875fe0d4ed41ce607" }, "baseRefName": "main",
        "baseRefOid": "d16bfe05a744909de4b27f5875fe0d4ed41ce607", "headRefName": "change",
        "headRefOid": "0e322af87745eff34caffe4df68456ebc20d9068", "headRepository": { "nameWithOwner": "ada/fork" },
        "reviewDecision": "APPROVED", "changedFiles": 2, "labels": [{ "name": "bug" }],
        "closingIssuesReferences": closes,
    })
}

pub(crate) fn issue(number: u32, comments: &[Value]) -> Value {
    json!({
        "__typename": "Issue", "number": number, "title": format!("Problem {number}"), "body": format!("It breaks {number}."),
        "closed": true, "locked": false, "createdAt": OLD, "updatedAt": OLD, "lastEditedAt": null, "author": user("bob"),
        "labels": [], "userContentEdits": [], "comments": comments, "timelineItems": [],
    })
}

pub(crate) fn comment(text: &str, created_at: &str) -> Value {
    json!({
        "__typename": "IssueComment", "body": text, "createdAt": created_at, "lastEditedAt": null, "isMinimized": false,
        "author": user("cid"),
    })
}

/// Something in an issue's timeline that names a pull request (`3`, `other/repo#4`) or, for a commit, its address.
pub(crate) fn event(kind: &str, what: &str) -> Value {
    let subject = if what.len() == 40 {
        json!({ "__typename": "Commit", "oid": what })
    } else {
        json!({ "pull": what })
    };
    match kind {
        "ClosedEvent" => json!({ "__typename": kind, "closer": subject }),
        "CrossReferencedEvent" => json!({ "__typename": kind, "willCloseTarget": true, "source": subject }),
        _ => json!({ "__typename": kind, "subject": subject }),
    }
}

pub(crate) fn release(tag: &str, notes: Option<&str>) -> Value {
    json!({
        "__typename": "Release", "tagName": tag, "name": tag, "description": notes, "publishedAt": OLD,
        "isPrerelease": false, "isDraft": false,
    })
}

/// The value with one field changed.
pub(crate) fn with(mut value: Value, field: &str, new: Value) -> Value {
    assert!(value.get(field).is_some(), "no field `{field}` in {value}");
    value[field] = new;
    value
}

impl Repo {
    /// Puts pull requests and issues in.
    pub(crate) fn of(pulls: Vec<Value>, issues: Vec<Value>) -> Self {
        let by_number = |list: Vec<Value>| {
            list.into_iter()
                .map(|value| (u32::try_from(value["number"].as_u64().unwrap()).unwrap(), value))
                .collect()
        };
        Self {
            pulls: by_number(pulls),
            issues: by_number(issues),
            root: ["README.md", "AGENTS.md", "src", ".github"]
                .map(str::to_owned)
                .to_vec(),
            github: ["workflows", "copilot-instructions.md"]
                .map(str::to_owned)
                .to_vec(),
            ..Self::default()
        }
    }

    /// Its own fields, as GraphQL names them; its long lists are not among them.
    pub(super) fn object(&self, name: &str) -> Value {
        let mut object = json!({
            "__typename": "Repository", "nameWithOwner": name, "description": "A model", "stargazerCount": 5000,
            "isArchived": false, "isFork": false, "primaryLanguage": { "name": "Python" },
            "licenseInfo": { "spdxId": "MIT" }, "defaultBranchRef": { "name": "main" },
            "repositoryTopics": [{ "topic": { "name": "http" } }],
        });
        for (field, value) in &self.facts {
            object[*field] = value.clone();
        }
        object
    }
}
