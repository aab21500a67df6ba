//! The queries. Numbers become aliases (`p12: pullRequest(number: 12)`), so one request asks for many; names and texts go
//! as variables, never into a query's text.
//!
//! GitHub counts a query's points by its connections, however many nodes each may have ("Rate limits and query limits for
//! the GraphQL API"), so connections are few and their pages full. Everything that is one value costs nothing.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::budget::points;
use crate::domain::ids::RepoName;

/// A query, ready to send.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What it asks for, for people: `40 pull requests of psf/requests`.
    pub what: String,
    /// Its text.
    pub text: String,
    /// Its variables.
    pub variables: Value,
    /// The points it costs, by GitHub's published rule.
    pub points: u64,
}

/// A pull request: two connections.
const PULL: &str = "
fragment pull on PullRequest {
  number title body state locked createdAt updatedAt mergedAt lastEditedAt
  author { login } milestone { title } mergeCommit { oid }
  baseRefName baseRefOid headRefName headRefOid headRepository { nameWithOwner }
  reviewDecision changedFiles
  labels(first: 100) { nodes { name } }
  closingIssuesReferences(first: 100) { totalCount nodes { number repository { nameWithOwner } } }
}";
pub(super) const PULL_CONNECTIONS: u64 = 2;

/// An issue: three connections.
const ISSUE: &str = "
fragment issue on Issue {
  number title body closed locked createdAt updatedAt lastEditedAt
  author { login } repository { nameWithOwner }
  labels(first: 100) { nodes { name } }
  userContentEdits(first: 100) { nodes { editedAt } }
  comments(first: 100) { ...said }
}";
pub(super) const ISSUE_CONNECTIONS: u64 = 3;

const SAID: &str = "
fragment said on IssueCommentConnection {
  totalCount pageInfo { hasNextPage endCursor }
  nodes { body createdAt lastEditedAt isMinimized author { login } }
}";

/// A repository: four connections, counting those that are asked for their size alone.
const FACTS: &str = r#"
fragment facts on Repository {
  nameWithOwner description stargazerCount isArchived isFork
  primaryLanguage { name } licenseInfo { spdxId } defaultBranchRef { name }
  repositoryTopics(first: 100) { nodes { topic { name } } }
  pullRequests { totalCount }
  merged: pullRequests(states: [MERGED]) { totalCount }
  issues { totalCount }
  root: object(expression: "HEAD:") { ...folder }
  github: object(expression: "HEAD:.github") { ...folder }
}
fragment folder on Tree { entries { name } }"#;
const FACTS_CONNECTIONS: u64 = 4;

const RELEASES: &str = "
fragment releases on ReleaseConnection {
  pageInfo { hasNextPage endCursor }
  nodes { tagName name description publishedAt isPrerelease isDraft }
}";

pub(super) const LIMIT: &str = "rateLimit { cost limit remaining resetAt }";

pub(super) fn of_repo(
    repo: &RepoName,
    what: String,
    fields: &str,
    fragments: &[&str],
    connections: u64,
) -> Query {
    let text = format!(
        "query($owner: String!, $name: String!) {{\n  {LIMIT}\n  repository(owner: $owner, name: $name) {{\n    \
         nameWithOwner\n{fields}  }}\n}}{}",
        fragments.concat()
    );
    Query {
        what,
        text,
        variables: json!({ "owner": repo.owner(), "name": repo.name() }),
        points: points(connections),
    }
}

pub(super) fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Pull requests of a repository.
pub fn pulls(repo: &RepoName, numbers: &[u32]) -> Query {
    let mut fields = String::new();
    for number in numbers {
        let _ = writeln!(
            fields,
            "    p{number}: pullRequest(number: {number}) {{ ...pull }}"
        );
    }
    let what = format!("{} of {repo}", counted(numbers.len(), "pull request"));
    of_repo(
        repo,
        what,
        &fields,
        &[PULL],
        PULL_CONNECTIONS * numbers.len() as u64,
    )
}

/// What numbers of a repository are, with the first page of comments.
pub fn issues(repo: &RepoName, numbers: &[u32]) -> Query {
    let mut fields = String::new();
    for number in numbers {
        let _ = writeln!(
            fields,
            "    i{number}: issueOrPullRequest(number: {number}) {{ __typename ...issue }}"
        );
    }
    let what = format!("{} of {repo}", counted(numbers.len(), "issue"));
    of_repo(
        repo,
        what,
        &fields,
        &[ISSUE, SAID],
        ISSUE_CONNECTIONS * numbers.len() as u64,
    )
}

/// The next pages of some issues' comments: the number, and where its last page ended.
pub fn comments(repo: &RepoName, pages: &[(u32, String)]) -> Query {
    let mut declared = String::new();
    let mut fields = String::new();
    let mut variables = json!({ "owner": repo.owner(), "name": repo.name() });
    for (number, cursor) in pages {
        let _ = write!(declared, ", $c{number}: String!");
        let _ = writeln!(
            fields,
            "    i{number}: issue(number: {number}) {{ comments(first: 100, after: $c{number}) {{ ...said }} }}"
        );
        variables[format!("c{number}")] = json!(cursor);
    }
    let text = format!(
        "query($owner: String!, $name: String!{declared}) {{\n  {LIMIT}\n  repository(owner: $owner, name: $name) {{\n    \
         nameWithOwner\n{fields}  }}\n}}{SAID}"
    );
    Query {
        what: format!("more comments of {} of {repo}", counted(pages.len(), "issue")),
        text,
        variables,
        points: points(pages.len() as u64),
    }
}

/// A repository's facts, and its newest releases.
pub fn repository(repo: &RepoName) -> Query {
    let order = "orderBy: {field: CREATED_AT, direction: DESC}";
    let fields = format!("    ...facts\n    releases(first: 100, {order}) {{ ...releases }}\n");
    of_repo(
        repo,
        format!("the repository {repo}"),
        &fields,
        &[FACTS, RELEASES],
        FACTS_CONNECTIONS + 1,
    )
}

/// The next page of a repository's releases.
pub fn releases(repo: &RepoName, after: &str) -> Query {
    let text = format!(
        "query($owner: String!, $name: String!, $after: String!) {{\n  {LIMIT}\n  \
         repository(owner: $owner, name: $name) {{\n    nameWithOwner\n    \
         releases(first: 100, after: $after, orderBy: {{field: CREATED_AT, direction: DESC}}) {{ ...releases }}\n  }}\n}}{RELEASES}"
    );
    Query {
        what: format!("more releases of {repo}"),
        text,
        variables: json!({ "owner": repo.owner(), "name": repo.name(), "after": after }),
        points: points(1),
    }
}

/// A page of repositories that a search finds, in GitHub's search language.
pub fn search(words: &str, first: u32, after: Option<&str>) -> Query {
    let text = format!(
        "query($words: String!, $first: Int!, $after: String) {{\n  {LIMIT}\n  \
         search(type: REPOSITORY, query: $words, first: $first, after: $after) {{\n    \
         repositoryCount pageInfo {{ hasNextPage endCursor }}\n    nodes {{ ... on Repository {{ ...facts }} }}\n  }}\n}}{FACTS}"
    );
    Query {
        what: format!("repositories that `{words}` finds"),
        text,
        variables: json!({ "words": words, "first": first, "after": after }),
        points: points(1 + FACTS_CONNECTIONS * u64::from(first)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_variables_and_numbers_are_aliases() {
        let repo: RepoName = "psf/requests".parse().unwrap();
        let query = pulls(&repo, &[7, 12]);
        assert_eq!(query.variables, json!({"owner": "psf", "name": "requests"}));
        assert!(
            !query.text.contains("psf") && query.text.contains("p12: pullRequest(number: 12) { ...pull }")
        );
        assert_eq!((query.points, pulls(&repo, &[1; 100]).points), (1, 2));
        assert_eq!(query.what, "2 pull requests of psf/requests");
        let odd = search("x\" } { viewer { login } }", 20, None);
        assert!(!odd.text.contains("viewer"));
        let pages = comments(&repo, &[(3, "a\"b".into())]);
        assert!(!pages.text.contains("a\"b") && pages.variables["c3"] == "a\"b");
    }
}
