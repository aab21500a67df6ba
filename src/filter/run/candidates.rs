//! A recipe's rules over mined candidates.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::FilterError;
use crate::domain::candidate::Candidate;
use crate::domain::decision::Decision;
use crate::domain::ids::CandidateId;
use crate::domain::notes::Note;
use crate::domain::oracle::Oracle;
use crate::domain::patch::{FileChange, Part};
use crate::filter::compile::{Program, compile};
use crate::filter::eval::Sight;
use crate::filter::facts::CandidateFacts;
use crate::filter::funnel::Funnel;
use crate::recipe::language::FactId;
use crate::recipe::model::Recipe;
use crate::workspace::Context;

/// What a recipe's rules made of some candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// How many each rule met, stopped and let through.
    pub funnel: Funnel,
    /// The decisions that hold now, candidate by candidate in the order given, rule by rule in the order they ran.
    pub decisions: Vec<Decision>,
    /// Candidates that every rule kept. For a recipe with rules on the oracle: only those that have one.
    pub kept: Vec<CandidateId>,
    /// Candidates that every git rule kept and that have no oracle yet: the work of verification.
    pub waiting: Vec<CandidateId>,
}

/// What is read beside the candidates themselves, where a rule asks for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Told<'a> {
    /// What release notes tell of each; of who is not in it they tell nothing.
    pub notes: Option<&'a BTreeMap<CandidateId, Vec<Note>>>,
    /// How many lines of text each one's documentation adds; who is not in it adds none.
    pub text_lines: Option<&'a BTreeMap<CandidateId, u64>>,
}

impl<'a> Told<'a> {
    /// What release notes tell of a candidate.
    pub fn notes_of(self, id: &CandidateId) -> Option<&'a [Note]> {
        let notes = self.notes?;
        Some(notes.get(id).map_or(&[][..], Vec::as_slice))
    }

    /// How many lines of text a candidate's documentation adds.
    pub fn text_lines_of(self, id: &CandidateId) -> Option<u64> {
        let lines = self.text_lines?;
        Some(lines.get(id).copied().unwrap_or_default())
    }
}

/// Asks a recipe's rules about `candidates` and records what they said (scope: the dataset's name). Git rules meet every
/// candidate; rules on the oracle meet those that the git rules kept and that `oracle_of` knows an oracle of. A decision
/// that was taken before on the same values is not recorded again.
///
/// `part_of` is the recipe's split; `told` is what was read of release notes and of documentation.
///
/// # Errors
/// When a rule cannot be computed on a candidate (nothing is recorded then), or the ledger cannot be written.
pub fn filter_candidates(
    context: &Context,
    recipe: &Recipe,
    candidates: &[Candidate],
    part_of: impl Fn(&FileChange) -> Option<Part> + Sync,
    oracle_of: impl Fn(&CandidateId) -> Option<Oracle> + Sync,
    told: Told<'_>,
) -> Result<Selection, FilterError> {
    let program = compile(recipe)?;
    let judged = candidates
        .par_iter()
        .map(|candidate| {
            judge(
                context,
                &program,
                candidate,
                &part_of,
                oracle_of(&candidate.id).as_ref(),
                told,
            )
        })
        .collect::<Vec<_>>();
    // In order: the candidate that an error names is the first one, whoever met it first.
    let judged = judged.into_iter().collect::<Result<Vec<_>, FilterError>>()?;
    let mut selection = Selection {
        funnel: Funnel::of(&program),
        decisions: Vec::new(),
        kept: Vec::new(),
        waiting: Vec::new(),
    };
    for (candidate, (decisions, has_oracle)) in candidates.iter().zip(judged) {
        let stopped = decisions.last().is_some_and(|decision| !decision.kept);
        let waits = !stopped && !has_oracle;
        selection
            .funnel
            .count(decisions.iter().map(|decision| (decision.verdict, decision.kept)));
        if waits {
            selection.waiting.push(candidate.id.clone());
        }
        if !stopped && (has_oracle || program.oracle_rules().next().is_none()) {
            selection.kept.push(candidate.id.clone());
        }
        selection.decisions.extend(decisions);
    }
    context
        .store
        .append_decisions(&recipe.dataset.name, selection.decisions.clone())?;
    Ok(selection)
}

fn judge(
    context: &Context,
    program: &Program,
    candidate: &Candidate,
    part_of: &impl Fn(&FileChange) -> Option<Part>,
    oracle: Option<&Oracle>,
    told: Told<'_>,
) -> Result<(Vec<Decision>, bool), FilterError> {
    let utf8 = if program.reads(FactId::PatchUtf8) {
        Some(std::str::from_utf8(&context.blobs.get(&candidate.diff)?).is_ok())
    } else {
        None
    };
    let parts: Vec<_> = candidate.files.iter().map(part_of).collect();
    let facts = CandidateFacts {
        candidate,
        parts: &parts,
        oracle,
        utf8,
        notes: told.notes_of(&candidate.id),
        text_lines: told.text_lines_of(&candidate.id),
    };
    let sight = Sight::new(program, &facts);
    let failed = |error| FilterError::Evaluate {
        candidate: candidate.id.clone(),
        error,
    };
    let mut judgements = program
        .judge_until_dropped(program.git_rules(), &sight)
        .map_err(failed)?;
    let goes_on = judgements.last().is_none_or(|judgement| judgement.kept);
    if goes_on && oracle.is_some() {
        judgements.extend(
            program
                .judge_until_dropped(program.oracle_rules(), &sight)
                .map_err(failed)?,
        );
    }
    let decisions = judgements
        .iter()
        .map(|judgement| judgement.decision(&candidate.id))
        .collect();
    Ok((decisions, oracle.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::decision::Verdict;
    use crate::filter::run::tests::{context, part_of};
    use crate::filter::tests::{candidate, recipe};

    #[test]
    fn oracle_rules_meet_only_what_was_verified_and_nothing_is_recorded_twice() {
        let folder = tempfile::tempdir().unwrap();
        let context = context(&folder);
        let recipe = recipe(&[
            ("size(oracle.fail_to_pass) > 0", "drop"),
            ("gold.files == 2 && patch.utf8", "drop"),
        ]);
        let diff = context.blobs.put(b"caf\xe9").unwrap();
        let plain = Candidate {
            diff: context.blobs.put(b"diff").unwrap(),
            ..candidate()
        };
        let odd = Candidate {
            id: "psf/requests#7".parse().unwrap(),
            diff,
            ..candidate()
        };
        let candidates = [plain.clone(), odd];
        let run = |oracle: Option<Oracle>| {
            filter_candidates(
                &context,
                &recipe,
                &candidates,
                part_of,
                |_| oracle.clone(),
                Told::default(),
            )
            .unwrap()
        };

        let first = run(None);
        assert_eq!((first.kept.len(), first.waiting), (0, vec![plain.id.clone()]));
        assert_eq!(first.funnel.rules[0].dropped, 1);
        run(None);
        assert_eq!(context.store.decisions(Some("t"), None).unwrap().len(), 2);

        let failing = Oracle::default();
        let second = run(Some(failing));
        assert_eq!(second.kept, []);
        let telling = Oracle {
            fail_to_pass: vec!["a::b".into()],
            ..Oracle::default()
        };
        let third = run(Some(telling));
        assert_eq!(third.kept, [plain.id]);
        let verdicts: Vec<Verdict> = third.decisions.iter().map(|decision| decision.verdict).collect();
        assert_eq!(verdicts, [Verdict::Keep, Verdict::Keep, Verdict::Drop]);
        // The oracle changed, so its rule was asked again; the git rules' decisions stand.
        assert_eq!(context.store.decisions(Some("t"), None).unwrap().len(), 4);
    }

    #[test]
    fn documentation_is_counted_or_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let context = context(&folder);
        let recipe = recipe(&[("docs.text_lines >= 1", "drop")]);
        let some = candidate();
        let none = Candidate {
            id: "psf/requests#7".parse().unwrap(),
            ..candidate()
        };
        let counts = BTreeMap::from([(some.id.clone(), 2)]);
        let candidates = [some, none];
        let verdicts = |text_lines| {
            let told = Told {
                text_lines,
                ..Told::default()
            };
            let found = filter_candidates(&context, &recipe, &candidates, part_of, |_| None, told).unwrap();
            found
                .decisions
                .iter()
                .map(|decision| decision.verdict)
                .collect::<Vec<_>>()
        };
        assert_eq!(verdicts(None), [Verdict::Undecided, Verdict::Undecided]);
        assert_eq!(verdicts(Some(&counts)), [Verdict::Keep, Verdict::Drop]);
    }
}
