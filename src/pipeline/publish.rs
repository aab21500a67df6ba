//! Decisions, ends and oracles into what a manifest is made of.

use std::collections::BTreeMap;

use super::error::PipelineError;
use super::proof::Proof;
use super::select::Field;
use super::source::MinedSource;
use super::vary::Variety;
use crate::domain::attempt::Stage;
use crate::domain::decision::Decision;
use crate::domain::ids::{CandidateId, RuleId};
use crate::emit;
use crate::emit::input::Step;
use crate::filter::run::Selection;
use crate::filter::{CompiledRule, compile};
use crate::mine::verdicts::GONE;
use crate::recipe::LoadedRecipe;
use crate::recipe::model::Recipe;
use crate::store::MINE_SCOPE;
use crate::workspace::Context;

/// Everything that a version is made of, as emission is handed it: what is known of every candidate in the field.
/// `varied` is absent when no variants were to be made.
///
/// # Errors
/// When the ledger cannot be read.
pub fn request(
    context: &Context,
    loaded: &LoadedRecipe,
    sources: &[MinedSource],
    field: &Field,
    selection: Selection,
    proofs: &[Proof],
    varied: Option<Variety>,
) -> Result<emit::Request, PipelineError> {
    let recipe = &loaded.recipe;
    let mut decisions = selection.decisions;
    let mined = context.store.decisions(Some(MINE_SCOPE), None)?;
    let mined = mined
        .into_iter()
        .map(|(_, decision)| decision)
        .filter(|decision| {
            sources
                .iter()
                .any(|source| source.repo == decision.candidate.repo)
        });
    decisions.extend(of_the_mirror(mined.collect()));
    let splits = field
        .candidates
        .iter()
        .filter(|candidate| selection.kept.contains(&candidate.id))
        .map(|candidate| {
            let parts = candidate.files.iter().map(|file| field.splitter.part_of(file));
            (candidate.id.clone(), parts.collect())
        })
        .collect();
    let with_variants = varied.is_some();
    let varied = varied.unwrap_or_default();
    Ok(emit::Request {
        recipe: recipe.clone(),
        recipe_text: loaded.text.clone(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        sources: sources.iter().map(|source| source.source.clone()).collect(),
        steps: steps(recipe, with_variants)?,
        decisions,
        ended: proofs
            .iter()
            .flat_map(|proof| proof.ended.clone())
            .chain(varied.ended)
            .collect(),
        verified: proofs.iter().filter_map(|proof| proof.verified.clone()).collect(),
        splits,
        variants: varied.made,
        tasks: BTreeMap::new(),
    })
}

/// Mining's decisions (those on one pull request in their order) without those on pull requests that the mirror has lost: a
/// version speaks of what its mirrors hold, and says the same whether another mirror was read before or not.
fn of_the_mirror(decisions: Vec<Decision>) -> Vec<Decision> {
    let last: BTreeMap<CandidateId, RuleId> = decisions
        .iter()
        .map(|decision| (decision.candidate.clone(), decision.rule.clone()))
        .collect();
    let is_gone = |id: &CandidateId| last.get(id).is_some_and(|rule| rule.as_str() == GONE);
    let here = decisions
        .into_iter()
        .filter(|decision| !is_gone(&decision.candidate));
    here.collect()
}

/// What a candidate meets, in order: git rules, building, verification, rules on the oracle, its variants.
fn steps(recipe: &Recipe, with_variants: bool) -> Result<Vec<Step>, PipelineError> {
    let program = compile(recipe)?;
    let step = |compiled: &CompiledRule| {
        let source = recipe
            .rules
            .iter()
            .find(|rule| rule.id == compiled.id)
            .map(|rule| rule.source.clone());
        Step::Rule {
            id: compiled.id.clone(),
            reason: compiled.reason.clone(),
            source: source.unwrap_or_default(),
        }
    };
    let stages = [Step::Stage(Stage::Build), Step::Stage(Stage::Verify)];
    Ok(program
        .git_rules()
        .map(step)
        .chain(stages)
        .chain(program.oracle_rules().map(step))
        .chain((with_variants && !recipe.variants.is_empty()).then_some(Step::Stage(Stage::Strip)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::decision::Verdict;

    #[test]
    fn what_a_mirror_has_lost_is_in_no_version_and_what_came_back_is() {
        let decision = |id: &str, rule: &str| Decision {
            candidate: id.parse().unwrap(),
            rule: rule.into(),
            verdict: Verdict::Drop,
            kept: false,
            observed: serde_json::json!({}),
            evidence: String::new(),
            input_key: String::new(),
        };
        let told = [
            decision("a/b#1", "mine-not-merged"),
            decision("a/b#1", GONE),
            decision("a/b#2", GONE),
            decision("a/b#2", "mine-empty"),
            decision("a/b#3", "mine-not-merged"),
        ];
        let left = of_the_mirror(told.to_vec());
        assert_eq!(left, told[2..]);
    }
}
