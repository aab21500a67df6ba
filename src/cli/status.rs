//! `quarry status`: where the workspace stands.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use camino::Utf8Path;
use serde::Serialize;

use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use crate::domain::attempt::Stage;
use crate::domain::count::count;
use crate::store::MINE_SCOPE;
use crate::workspace::Context;

#[derive(Serialize)]
struct Status {
    workspace: String,
    repositories: Vec<Repository>,
    datasets: Vec<Dataset>,
    environments: Environments,
    /// Attempts by stage and outcome, every try counted.
    attempts: BTreeMap<String, BTreeMap<String, u64>>,
    /// Emitted versions, as `dataset/version`.
    manifests: Vec<String>,
}

#[derive(Serialize, Default)]
struct Repository {
    repo: String,
    candidates: u64,
    /// Heads that became no candidate, by the reason.
    not_mined: BTreeMap<String, u64>,
}

/// What was built.
#[derive(Serialize)]
struct Environments {
    /// Different ones: interpreter and lock.
    count: usize,
    /// Pull requests that have one.
    pull_requests: usize,
    /// Commits that were looked at by themselves and have one.
    commits: Vec<String>,
}

#[derive(Serialize)]
struct Dataset {
    name: String,
    decisions: u64,
    instances: i64,
}

pub(super) fn run(session: &Session) -> Result<ExitCode, CliError> {
    let context = session.open_read_only()?;
    let status = read(&context)?;
    session.printer.result(&status, &render(&status))?;
    Ok(ExitCode::Success)
}

fn read(context: &Context) -> Result<Status, CliError> {
    let mut repositories: BTreeMap<String, Repository> = BTreeMap::new();
    for candidate in context.store.candidates(None)? {
        let repo = candidate.id.repo.to_string();
        repositories.entry(repo).or_default().candidates += 1;
    }
    let mut datasets: BTreeMap<String, Dataset> = BTreeMap::new();
    let candidates: BTreeSet<_> = context
        .store
        .candidates(None)?
        .into_iter()
        .map(|candidate| candidate.id)
        .collect();
    let mut not_mined = BTreeMap::new();
    for (scope, decision) in context.store.decisions(None, None)? {
        if scope == MINE_SCOPE {
            // The last answer counts, and none of somebody who became a candidate since.
            if !decision.kept && !candidates.contains(&decision.candidate) {
                not_mined.insert(decision.candidate, decision.rule);
            }
        } else {
            let fresh = || Dataset {
                name: scope.clone(),
                decisions: 0,
                instances: 0,
            };
            datasets.entry(scope.clone()).or_insert_with(fresh).decisions += 1;
        }
    }
    for (id, rule) in not_mined {
        let repository = repositories.entry(id.repo.to_string()).or_default();
        *repository.not_mined.entry(rule.to_string()).or_default() += 1;
    }
    for (dataset, count) in context.store.instance_counts()? {
        let fresh = || Dataset {
            name: dataset.clone(),
            decisions: 0,
            instances: 0,
        };
        datasets.entry(dataset.clone()).or_insert_with(fresh).instances = count;
    }
    let mut attempts: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let (mut keys, mut have_one) = (BTreeSet::new(), BTreeSet::new());
    for attempt in context.store.attempts(None, None)? {
        if attempt.stage == Stage::Build
            && let Some(result) = &attempt.result
        {
            keys.insert(result["environment"]["key"].to_string());
            have_one.insert(attempt.candidate.clone());
        }
        let outcomes = attempts.entry(attempt.stage.name().to_owned()).or_default();
        *outcomes.entry(attempt.outcome.name().to_owned()).or_default() += 1;
    }
    Ok(Status {
        workspace: context.workspace.root().to_string(),
        repositories: repositories
            .into_iter()
            .map(|(repo, row)| Repository { repo, ..row })
            .collect(),
        datasets: datasets.into_values().collect(),
        environments: Environments {
            count: keys.len(),
            pull_requests: have_one.iter().filter(|id| id.commit().is_none()).count(),
            commits: (have_one.iter().filter(|id| id.commit().is_some()))
                .map(ToString::to_string)
                .collect(),
        },
        attempts,
        manifests: manifests(&context.workspace.manifests()),
    })
}

/// Every `dataset/version` folder that holds a manifest, sorted.
fn manifests(folder: &Utf8Path) -> Vec<String> {
    let names = |folder: &Utf8Path| {
        let mut names: Vec<String> = folder
            .read_dir_utf8()
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.file_name().to_owned()))
            .collect();
        names.sort();
        names
    };
    names(folder)
        .into_iter()
        .flat_map(|dataset| {
            names(&folder.join(&dataset))
                .into_iter()
                .filter(|version| {
                    folder
                        .join(&dataset)
                        .join(version)
                        .join("manifest.json")
                        .is_file()
                })
                .map(|version| format!("{dataset}/{version}"))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn render(status: &Status) -> String {
    let mut text = format!("workspace {}\n", status.workspace);
    for row in &status.repositories {
        let _ = writeln!(
            text,
            "\n{}: {}",
            row.repo,
            count(row.candidates, "merged pull request")
        );
        for (rule, count) in &row.not_mined {
            let _ = writeln!(text, "  {count:>6} {rule}");
        }
    }
    for row in &status.datasets {
        let _ = writeln!(
            text,
            "\n{}: {} decisions, {} instances",
            row.name, row.decisions, row.instances
        );
    }
    let environments = &status.environments;
    if environments.count > 0 {
        let _ = writeln!(
            text,
            "\n{} built, for {} and {}",
            count(environments.count as u64, "environment"),
            count(environments.pull_requests as u64, "pull request"),
            count(environments.commits.len() as u64, "commit")
        );
    }
    for commit in &environments.commits {
        let _ = writeln!(text, "  {commit}");
    }
    if !status.attempts.is_empty() {
        text.push_str("\nattempts\n");
    }
    for (stage, outcomes) in &status.attempts {
        let outcomes: Vec<_> = outcomes
            .iter()
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        let _ = writeln!(text, "  {stage}: {}", outcomes.join(", "));
    }
    for manifest in &status.manifests {
        let _ = writeln!(text, "\nmanifest manifests/{manifest}/");
    }
    if status.repositories.is_empty() && environments.count == 0 {
        text.push_str("\nnothing is mined yet; next: quarry run filters/sample.toml --sample\n");
    }
    text
}
