//! A few real shapes, after GitHub's documentation, trimmed by hand: should the model drift from GitHub, these do not.

use proptest::prelude::*;
use quarry::domain::forge::IssueFate;
use quarry::github::reply::{self, Bad, answer};

/// A pull request beside one that is not there, as GitHub's GraphQL API answers.
const PULLS: &str = r#"{
  "data": {
    "rateLimit": { "cost": 1, "limit": 5000, "remaining": 4988, "resetAt": "2024-05-20T17:59:26Z" },
    "repository": {
      "nameWithOwner": "psf/requests",
      "p6710": {
        "number": 6710, "title": "Move _get_connection to get_connection_with_tls_context", "body": "\u2026\r\n", "state": "MERGED",
        "locked": false, "createdAt": "2024-05-20T14:46:27Z", "updatedAt": "2024-05-21T13:08:51Z",
        "mergedAt": "2024-05-20T14:54:20Z", "lastEditedAt": null, "author": { "login": "nateprewitt" }, "milestone": null,
        "mergeCommit": { "oid": "145b5399486b56e00250204f033441f3fdf2f3c9" }, "baseRefName": "main",
        "baseRefOid": "aa1461b68aa73e2f6ec0e78c8853b635c76fd099", "headRefName": "get_connection",
        "headRefOid": "bd6ce5fcbb1cbc0f3b1c2a6ba6e9d4c1a6b2c1f0", "headRepository": null, "reviewDecision": "APPROVED",
        "changedFiles": 3, "labels": { "nodes": [] },
        "closingIssuesReferences": { "totalCount": 2, "nodes": [
          { "number": 6707, "repository": { "nameWithOwner": "psf/requests" } }, null ] }
      },
      "p6711": null
    }
  },
  "errors": [
    { "type": "NOT_FOUND", "path": ["repository", "p6711"], "locations": [{ "line": 6, "column": 5 }],
      "message": "Could not resolve to a PullRequest with the number of 6711." },
    { "type": "FORBIDDEN", "path": ["repository", "p6710", "closingIssuesReferences", "nodes", 1], "extensions": { "saml_failure": true },
      "locations": [{ "line": 17, "column": 3 }],
      "message": "Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization." }
  ]
}"#;

const ISSUES: &str = r#"{
  "data": { "repository": { "nameWithOwner": "psf/requests",
    "i6707": {
      "__typename": "Issue", "number": 6707, "title": "Docker SDK breaks", "body": "", "closed": true, "locked": true,
      "createdAt": "2024-05-20T13:37:16Z", "updatedAt": "2024-05-29T15:54:36Z", "lastEditedAt": "2024-05-20T14:00:00Z",
      "author": null, "repository": { "nameWithOwner": "psf/requests" }, "labels": { "nodes": [{ "name": "Bug" }] },
      "userContentEdits": { "nodes": [{ "editedAt": "2024-05-20T14:00:00Z" }, { "editedAt": "2024-05-20T13:37:16Z" }] },
      "comments": { "totalCount": 12, "pageInfo": { "hasNextPage": true, "endCursor": "Y3Vyc29yOnYyOpHOfqjrJw==" },
        "nodes": [{ "body": "same here", "createdAt": "2024-05-20T13:50:00Z", "lastEditedAt": null, "isMinimized": false,
          "author": { "login": "x" } }] } },
    "i6710": { "__typename": "PullRequest" },
    "i9999": null } },
  "errors": [{ "type": "NOT_FOUND", "path": ["repository", "i9999"], "message": "Could not resolve to an issue or pull request with the number of 9999." }]
}"#;

#[test]
fn answers_of_githubs_shape_are_read() {
    let read = answer(PULLS).unwrap();
    let limit = read.limit.unwrap();
    assert_eq!((limit.cost, limit.remaining), (1, 4988));
    let pulls = reply::pulls(&read.data["repository"]).unwrap();
    let pull = pulls[0].1.as_ref().unwrap();
    assert_eq!(
        (pull.closes.len(), pull.hidden, &pull.head_repository),
        (1, 1, &None)
    );
    assert_eq!(pulls[1], (6711, None));

    let read = answer(ISSUES).unwrap();
    let fates = reply::fates(&read.data["repository"]).unwrap();
    let Some(IssueFate::Issue(issue)) = &fates[0].1 else {
        panic!("{fates:?}");
    };
    assert_eq!(
        (issue.edits.len(), issue.author.as_deref(), issue.comments_total),
        (2, None, 12)
    );
    assert!(issue.locked && issue.edits[0] < issue.edits[1] && issue.comments_next.is_some());
    assert_eq!(fates[1], (6710, Some(IssueFate::PullRequest)));
    assert_eq!(fates[2], (9999, None));
}

#[test]
fn answers_without_data_say_why() {
    let limited =
        r#"{ "errors": [{ "type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1." }] }"#;
    assert_eq!(answer(limited), Err(Bad::Exhausted));
    let slow = r#"{ "data": null, "errors": [{ "message": "Something went wrong while executing your query. Please include `AAAA:1B` when reporting this issue." }] }"#;
    assert_eq!(answer(slow), Err(Bad::Slow));
    let wrong = r#"{ "errors": [{ "path": ["query"], "extensions": { "code": "undefinedField" }, "message": "Field 'x' doesn't exist on type 'Query'" }] }"#;
    assert_eq!(
        answer(wrong),
        Err(Bad::Refused("Field 'x' doesn't exist on type 'Query'".to_owned()))
    );
    for cut in [r#"{"data": {"repo"#, "", "<html>", r#"{"data": null}"#] {
        assert!(matches!(answer(cut), Err(Bad::Unreadable(_))), "{cut}");
    }
}

proptest! {
    /// However an answer is spoilt, it is read or refused.
    #[test]
    fn a_spoilt_answer_is_no_accident(at in 0..ISSUES.len(), cut in 0..40usize, with in "[\\[\\]{}\",:0-9a-z]{0,4}") {
        for text in [PULLS, ISSUES] {
            let begin = at.min(text.len() - 1);
            let end = (begin + cut).min(text.len());
            prop_assume!(text.is_char_boundary(begin) && text.is_char_boundary(end));
            let spoilt = format!("{}{with}{}", &text[..begin], &text[end..]);
            if let Ok(read) = answer(&spoilt) {
                let _ = reply::pulls(&read.data["repository"]);
                let _ = reply::fates(&read.data["repository"]);
                let _ = reply::releases(&read.data["repository"]);
                let _ = reply::repository(&read.data["repository"], &|_| true);
            }
        }
    }
}
