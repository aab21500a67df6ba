//! Decisions, ends and oracles into what a manifest is made of.

use super::error::PipelineError;
use super::prove::Proof;
use super::select::Field;
use super::source::MinedSource;
use super::vary::Variety;
use crate::domain::attempt::Stage;
use crate::emit;
use crate::emit::input::Step;
use crate::filter::run::Selection;
use crate::filter::{CompiledRule, compile};
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
    for (_, decision) in context.store.decisions(Some(MINE_SCOPE), None)? {
        if sources
            .iter()
            .any(|source| source.repo == decision.candidate.repo)
        {
            decisions.push(decision);
        }
    }
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
    })
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
