//! Whether a version's files agree with each other: funnel and counts follow from the log, rows from their oracles.

use std::collections::{BTreeMap, BTreeSet};

use super::assemble::{Files, INSTANCES, LOG, MANIFEST, counts, failures, lock_name};
use super::check::{Problem, Version};
use super::entry::{Found, LogEntry, TestsSaid};
use super::instance::{Instance, PatchField};
use super::manifest::{EnvironmentEntry, FunnelStep, Manifest};
use super::walk::{End, Trail, fresh, trails, walk};
use super::{annotate, docs, import, patches, variants};
use crate::domain::hash::sha256_hex;
use crate::domain::ids::{CandidateId, TestId};
use crate::domain::oracle::{FlakyTest, Oracle, OrderDependentTest};
use crate::recipe::Window;

/// Says in what the files of a version do not agree.
pub(super) fn agree(version: &Version, files: &Files, problems: &mut Vec<Problem>) {
    let manifest = &version.manifest;
    if sha256_hex(manifest.recipe.text.as_bytes()) != manifest.recipe.sha256 {
        problems.push(Problem::at(
            MANIFEST,
            "recipe.sha256",
            "it is not the hash of the recipe's text",
        ));
    }
    if let Some(what) = other_dataset(manifest) {
        problems.push(Problem::at(MANIFEST, "recipe.text", what));
    }
    let trails = trails(version.log.iter().cloned());
    let kept = walk_again(version, &trails, problems);
    if let Some(import) = &manifest.import {
        import::agree(version, import, files, (&trails, &kept), problems);
    } else {
        environments(version, files, problems);
        oracles(version, problems);
        rows(version, &trails, &kept, problems);
        variants::agree(version, problems);
        docs::row::agree(manifest, &version.instances, version.docs.as_deref(), problems);
        window(manifest, &version.instances, problems);
    }
    docs::characteristics::agree(manifest, &version.instances, version.docs.is_some(), problems);
    annotate::check::agree(manifest, &trails, version.annotations.as_deref(), problems);
}

/// In what the recipe's text speaks of another dataset than the manifest; of its parent, where it has one.
fn other_dataset(manifest: &Manifest) -> Option<String> {
    let Ok(table) = manifest.recipe.text.parse::<toml::Table>() else {
        return Some("it is no TOML".to_owned());
    };
    let said = |key: &str| table.get("dataset")?.get(key)?.as_str().map(str::to_owned);
    let (whose, name, version) = match &manifest.parent {
        Some(parent) => ("the parent's", &parent.name, &parent.version),
        None => (
            "the manifest's",
            &manifest.dataset.name,
            &manifest.dataset.version,
        ),
    };
    for (key, value) in [("name", name), ("version", version)] {
        let text = said(key);
        if text.as_ref() != Some(value) {
            let text = text.map_or_else(|| "nothing".to_owned(), |text| format!("`{text}`"));
            return Some(format!("its dataset.{key} is {text}, {whose} is `{value}`"));
        }
    }
    None
}

/// Leads everybody in the log through the funnel's steps again; gives those that are kept.
fn walk_again(
    version: &Version,
    trails: &BTreeMap<CandidateId, Trail>,
    problems: &mut Vec<Problem>,
) -> Vec<CandidateId> {
    let manifest = &version.manifest;
    let bare = |step: &FunnelStep| fresh(&step.step, step.kind, &step.reason, &step.source);
    let mut funnel: Vec<_> = manifest.funnel.iter().map(bare).collect();
    let (mut log, mut kept) = (vec![], vec![]);
    for (id, trail) in trails {
        let mut way = walk(trail, &mut funnel);
        log.append(&mut way.entries);
        match way.end {
            End::Kept => kept.push(id.clone()),
            End::Waiting(index) => {
                let what = format!(
                    "step `{}` says nothing of `{id}`, which reached it",
                    funnel[index].step
                );
                problems.push(Problem::of(LOG, what));
            }
            End::NotMined | End::At(_) => {}
        }
    }
    if let Some(index) = first_difference(&log, &version.log) {
        let what = "the lines of a pull request are not those of its way through the funnel, in order";
        problems.push(Problem::line(LOG, index, what));
    }
    if let Some(index) = first_difference(&funnel, &manifest.funnel) {
        let what = format!(
            "step `{}` does not add up to what the log says",
            manifest.funnel[index].step
        );
        problems.push(Problem::at(MANIFEST, format!("funnel[{index}]"), what));
    }
    if counts(&version.log, &funnel, kept.len()) != manifest.counts {
        problems.push(Problem::at(MANIFEST, "counts", "they do not follow from the log"));
    }
    if failures(&version.log) != manifest.failures {
        problems.push(Problem::at(
            MANIFEST,
            "failures",
            "they do not follow from the log",
        ));
    }
    kept
}

/// The first place at which two lists differ.
fn first_difference<T: PartialEq>(one: &[T], other: &[T]) -> Option<usize> {
    let common = one.iter().zip(other).position(|(a, b)| a != b);
    common.or_else(|| (one.len() != other.len()).then(|| one.len().min(other.len())))
}

/// Says which rows were merged outside the window that the manifest names.
fn window(manifest: &Manifest, rows: &[Instance], problems: &mut Vec<Problem>) {
    let day = |text: &Option<String>| text.as_deref().and_then(|text| text.parse().ok());
    let window = Window {
        since: day(&manifest.window.merged_since),
        before: day(&manifest.window.merged_before),
    };
    for (index, row) in rows.iter().enumerate() {
        if let Some(merged_at) = row.merged_at
            && !window.admits(merged_at)
        {
            let what = format!(
                "`{}`: it was merged outside the manifest's window",
                row.instance_id
            );
            problems.push(Problem::line(INSTANCES, index, what));
        }
    }
}

fn environments(version: &Version, files: &Files, problems: &mut Vec<Problem>) {
    let entries = &version.manifest.environments;
    let used: BTreeSet<_> = oracles_of(version)
        .map(|(_, said)| said.environment.as_str())
        .collect();
    let known: Vec<_> = entries.iter().map(|entry| entry.key.as_str()).collect();
    if !known.iter().copied().eq(used) {
        let what = "they are not those in which the log's oracles were made, by key";
        problems.push(Problem::at(MANIFEST, "environments", what));
    }
    for entry in entries {
        let name = lock_name(&entry.lock);
        match files.get(&name) {
            None => problems.push(Problem::of(
                &name,
                "the manifest names this lock, and it is missing",
            )),
            Some(bytes) if sha256_hex(bytes) != entry.lock.as_str() => {
                problems.push(Problem::of(&name, "its name is not the hash of its bytes"));
            }
            Some(_) => {}
        }
    }
}

fn oracles_of(version: &Version) -> impl Iterator<Item = (usize, &TestsSaid)> {
    version
        .log
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| match entry {
            LogEntry::Oracle(said) => Some((index, &**said)),
            _ => None,
        })
}

fn oracles(version: &Version, problems: &mut Vec<Problem>) {
    for (index, said) in oracles_of(version) {
        if let Some(what) = oracle_fault(&said.oracle) {
            problems.push(Problem::line(LOG, index, what));
        }
    }
}

/// What is wrong with an oracle in itself.
fn oracle_fault(oracle: &Oracle) -> Option<String> {
    let flaky: Vec<TestId> = oracle.flaky.iter().map(|flaky| flaky.test.clone()).collect();
    let ordered: Vec<TestId> = oracle
        .order_dependent
        .iter()
        .map(|test| test.test.clone())
        .collect();
    let lists = [
        ("FAIL_TO_PASS", &oracle.fail_to_pass),
        ("PASS_TO_PASS", &oracle.pass_to_pass),
        ("PASS_TO_FAIL", &oracle.pass_to_fail),
        ("fail_to_fail", &oracle.fail_to_fail),
        ("absent_to_pass", &oracle.absent_to_pass),
        ("pass_to_absent", &oracle.pass_to_absent),
        ("skipped_on_one_side", &oracle.skipped_on_one_side),
        ("never_ran", &oracle.never_ran),
        ("flaky", &flaky),
        ("order_dependent", &ordered),
        ("not_addressable", &oracle.not_addressable),
    ];
    let mut seen: BTreeMap<&TestId, &str> = BTreeMap::new();
    for (name, tests) in lists {
        if tests.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Some(format!("{name} is not sorted or names a test twice"));
        }
        for test in tests {
            if let Some(other) = seen.insert(test, name) {
                return Some(format!("`{test}` is in {other} and in {name}"));
            }
        }
    }
    if oracle.before_gold.len() != oracle.fail_to_pass.len() {
        return Some("before_gold does not say of every FAIL_TO_PASS test how it looked".into());
    }
    let passed = oracle
        .before_gold
        .iter()
        .zip(&oracle.fail_to_pass)
        .find(|(status, _)| status.is_pass());
    if let Some((_, test)) = passed {
        return Some(format!("`{test}` is in FAIL_TO_PASS and passed before gold"));
    }
    if oracle.runs_before == 0 || oracle.runs_after == 0 {
        return Some("no test was run on one of the sides".into());
    }
    let by_order = |test: &OrderDependentTest| test.after_alone.is_none();
    if oracle.order_dependent.iter().any(by_order) && oracle.order_seed.is_none() {
        return Some("tests depend on the order, and no run was in another".into());
    }
    oracle.flaky.iter().find_map(|flaky| {
        let FlakyTest {
            test,
            passed_before,
            passed_after,
            ..
        } = flaky;
        if *passed_before > oracle.runs_before || *passed_after > oracle.runs_after {
            return Some(format!("`{test}` passed more often than it was run"));
        }
        let counted = FlakyTest::new(
            test.clone(),
            (*passed_before, oracle.runs_before),
            (*passed_after, oracle.runs_after),
        );
        (counted != *flaky).then(|| format!("the rates of `{test}` do not follow from its runs"))
    })
}

fn rows(
    version: &Version,
    trails: &BTreeMap<CandidateId, Trail>,
    kept: &[CandidateId],
    problems: &mut Vec<Problem>,
) {
    let ids: Vec<_> = version
        .instances
        .iter()
        .map(|row| row.instance_id.clone())
        .collect();
    let expected: Vec<_> = kept.iter().map(CandidateId::instance).collect();
    if let Some(index) = first_difference(&ids, &expected) {
        let found = ids.get(index).map_or("the end", |id| id.as_str());
        let wanted = expected.get(index).map_or("the end", |id| id.as_str());
        let what =
            format!("`{found}` stands where the log keeps `{wanted}` (by repository and number, each once)");
        problems.push(Problem::line(INSTANCES, index, what));
    }
    let environments: BTreeMap<_, _> = version
        .manifest
        .environments
        .iter()
        .map(|entry| (entry.key.as_str(), entry))
        .collect();
    for (index, row) in version.instances.iter().enumerate() {
        let id = CandidateId::pull(row.repo.clone(), row.pull_number);
        let trail = trails.get(&id);
        let found = trail.and_then(|trail| trail.found.as_ref());
        if trail.is_some_and(|trail| trail.imported.is_some()) {
            let what = "the log says that it was imported, the manifest of no import";
            problems.push(Problem::line(INSTANCES, index, what));
        }
        let said = trail.and_then(|trail| trail.oracle.as_ref());
        let (Some(found), Some(said)) = (found, said) else {
            problems.push(Problem::line(
                INSTANCES,
                index,
                format!("the log holds no oracle of `{id}`"),
            ));
            continue;
        };
        let environment = environments.get(row.environment_key()).copied();
        if let Some(what) = row_fault(row, &id, found, said, environment) {
            problems.push(Problem::line(
                INSTANCES,
                index,
                format!("`{}`: {what}", row.instance_id),
            ));
        }
    }
}

/// In what a row differs from what the log says of it, or from itself.
fn row_fault(
    row: &Instance,
    id: &CandidateId,
    found: &Found,
    said: &TestsSaid,
    environment: Option<&EnvironmentEntry>,
) -> Option<String> {
    let oracle = &said.oracle;
    let same = [
        ("instance_id", row.instance_id == id.instance()),
        ("base_commit", row.base_commit == found.base_commit),
        ("merge_base", row.merge_base.is_some()),
        ("merge_commit", row.merge_commit == Some(found.merge_commit)),
        ("merge_kind", row.merge_kind == Some(found.merge_kind)),
        (
            "merge_branch",
            row.merge_branch.as_ref() == Some(&found.merge_branch),
        ),
        ("merged_at", row.merged_at == Some(found.merged_at)),
        ("FAIL_TO_PASS", row.fail_to_pass == oracle.fail_to_pass),
        ("PASS_TO_PASS", row.pass_to_pass == oracle.pass_to_pass),
        ("PASS_TO_FAIL", row.pass_to_fail == oracle.pass_to_fail),
        ("flaky", row.flaky == oracle.flaky),
        ("order_dependent", row.order_dependent == oracle.order_dependent),
        ("order_seed", row.order_seed == oracle.order_seed),
        ("not_addressable", row.not_addressable == oracle.not_addressable),
        ("needs_network", row.needs_network == oracle.needs_network),
        ("needs_clock", row.needs_clock == oracle.needs_clock),
        ("scope", row.scope == oracle.scope),
        ("aa", row.aa == oracle.aa),
        ("before_gold", row.before_gold == oracle.before_gold),
        ("runs_before", row.runs_before == oracle.runs_before),
        ("runs_after", row.runs_after == oracle.runs_after),
        ("environment", row.environment.as_ref() == Some(&said.environment)),
        ("exclude_newer", row.exclude_newer == Some(said.exclude_newer)),
        (
            "interpreter",
            environment.is_some_and(|entry| row.interpreter.as_ref() == Some(&entry.interpreter)),
        ),
        (
            "lock",
            environment.is_some_and(|entry| row.lock.as_ref() == Some(&entry.lock)),
        ),
    ];
    if let Some((name, _)) = same.iter().find(|(_, same)| !same) {
        return Some(format!("its {name} is not what the log and the manifest say"));
    }
    if row.fail_to_pass.is_empty() {
        return Some("no test fails before and passes after the gold patch".into());
    }
    if row.base64_fields.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Some("base64_fields is not sorted or names a field twice".into());
    }
    PatchField::ALL.iter().find_map(|(field, part)| {
        let Some(bytes) = row.patch_bytes(*field) else {
            return Some(format!(
                "{} is said to be base64 and is not, or needs not be",
                field.name()
            ));
        };
        let found = patches::paths(&bytes);
        let split = row.splits.iter().filter(|file| file.part == Some(*part));
        let split: Vec<_> = split.map(|file| file.path.clone()).collect();
        if found.len() != split.len() {
            return Some(format!(
                "{} has {} files, and splits puts {} into {}",
                field.name(),
                found.len(),
                split.len(),
                part.name()
            ));
        }
        if let Some(index) = first_difference(&found, &split) {
            return Some(format!(
                "{} is about `{}`, where splits has `{}`",
                field.name(),
                found[index],
                split[index]
            ));
        }
        patches::fault(&bytes).map(|what| format!("{} is no patch: {what}", field.name()))
    })
}
