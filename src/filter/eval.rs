//! Asking a rule about a candidate: true, false, or not to be known.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use cel::common::types::CelBool;
use cel::common::value::{CowVal, Val};
use cel::context::VariableResolver;
use cel::{Context, Value};
use serde::ser::{Serialize, Serializer};

use super::compile::{CompiledRule, Condition, Leaf, Node, Program};
use super::facts::FactSource;
use super::growth::Growth;
use super::value::{Datum, Seen, Shown};
use crate::domain::decision::{Decision, Verdict};
use crate::domain::ids::{CandidateId, RepoName, RuleId};
use crate::recipe::language::FactId;
use crate::recipe::language::check::ENVIRONMENT;
use crate::recipe::model::Undecided;

/// A rule that cannot be computed on a candidate: an index past a list's end, a text that is no number. It says nothing
/// of the candidate, so it is an error of the recipe's, not a verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("evaluate rule `{rule}`: {message}")]
pub struct EvalError {
    /// The rule, or the environment, by its name.
    pub rule: String,
    /// What the evaluator said.
    pub message: String,
}

impl EvalError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        vec![
            "guard the part that can fail, for example `size(gold.paths) > 0 && gold.paths[0] == …`"
                .to_owned(),
        ]
    }
}

/// One candidate as a program's rules see it: each fact is asked for once.
pub struct Sight<'f> {
    source: &'f dyn FactSource,
    facts: &'f [FactId],
    seen: Vec<OnceCell<Seen<'f>>>,
}

impl<'f> Sight<'f> {
    /// Looks at a candidate with a program's eyes.
    pub fn new(program: &'f Program, source: &'f dyn FactSource) -> Self {
        Self {
            source,
            facts: &program.slots,
            seen: vec![OnceCell::new(); program.slots.len()],
        }
    }

    fn see(&self, slot: usize) -> &Seen<'f> {
        self.seen[slot].get_or_init(|| self.source.see(self.facts[slot]))
    }
}

/// A candidate of which one thing is known.
struct NoFailToPass;

impl FactSource for NoFailToPass {
    fn see(&self, fact: FactId) -> Seen<'_> {
        match fact {
            FactId::OracleFailToPass => Seen::Known(Datum::List(vec![])),
            _ => Seen::Unknown,
        }
    }
}

/// What a rule said of one candidate.
pub struct Judgement<'s, 'f> {
    /// The rule.
    pub rule: &'s CompiledRule,
    /// What it said.
    pub verdict: Verdict,
    /// Whether the candidate goes on.
    pub kept: bool,
    /// The values it saw.
    pub observed: Observed<'s, 'f>,
}

/// The values a rule saw, as a JSON object by fact name.
pub struct Observed<'s, 'f> {
    condition: &'s Condition,
    sight: &'s Sight<'f>,
}

impl Program {
    /// Asks one rule.
    ///
    /// # Errors
    /// When the rule cannot be computed on this candidate.
    pub fn judge<'s, 'f>(
        &self,
        rule: &'s CompiledRule,
        sight: &'s Sight<'f>,
    ) -> Result<Judgement<'s, 'f>, EvalError> {
        let verdict = match truth(&rule.condition, sight) {
            Truth::Yes => Verdict::Keep,
            Truth::No => Verdict::Drop,
            Truth::Unknown => Verdict::Undecided,
            Truth::Failed(message) => {
                return Err(EvalError {
                    rule: rule.id.to_string(),
                    message,
                });
            }
        };
        let kept = match verdict {
            Verdict::Keep => true,
            Verdict::Drop => false,
            Verdict::Undecided => rule.undecided == Undecided::Keep,
        };
        Ok(Judgement {
            rule,
            verdict,
            kept,
            observed: Observed {
                condition: &rule.condition,
                sight,
            },
        })
    }

    /// Asks `rules` in order, up to the first that stops the candidate.
    ///
    /// # Errors
    /// When a rule cannot be computed on this candidate.
    pub fn judge_until_dropped<'s, 'f>(
        &self,
        rules: impl Iterator<Item = &'s CompiledRule>,
        sight: &'s Sight<'f>,
    ) -> Result<Vec<Judgement<'s, 'f>>, EvalError> {
        let mut judgements = Vec::new();
        for rule in rules {
            let judgement = self.judge(rule, sight)?;
            let kept = judgement.kept;
            judgements.push(judgement);
            if !kept {
                break;
            }
        }
        Ok(judgements)
    }

    /// Whether some rule stops every candidate whose FAIL_TO_PASS is empty, whatever else is true of it.
    pub fn needs_fail_to_pass(&self) -> bool {
        let sight = Sight::new(self, &NoFailToPass);
        self.oracle_rules().any(|rule| {
            let judgement = self.judge(rule, &sight);
            judgement.is_ok_and(|judgement| judgement.verdict == Verdict::Drop)
        })
    }

    /// The first of the recipe's environments that is for a candidate, by its place in the recipe. One whose condition
    /// cannot be known is passed over.
    ///
    /// # Errors
    /// When a condition cannot be computed on this candidate.
    pub fn environment(&self, repo: &RepoName, source: &dyn FactSource) -> Result<Option<usize>, EvalError> {
        let sight = Sight::new(self, source);
        for (index, environment) in self.environments.iter().enumerate() {
            if environment.repo.as_ref().is_some_and(|wanted| !wanted.is(repo)) {
                continue;
            }
            match environment
                .when
                .as_ref()
                .map_or(Truth::Yes, |when| truth(when, &sight))
            {
                Truth::Yes => return Ok(Some(index)),
                Truth::No | Truth::Unknown => {}
                Truth::Failed(message) => {
                    return Err(EvalError {
                        rule: format!("environment {}", index + 1),
                        message,
                    });
                }
            }
        }
        Ok(None)
    }
}

impl Judgement<'_, '_> {
    /// Why, for a reader.
    pub fn evidence(&self) -> Cow<'_, str> {
        if self.verdict != Verdict::Undecided {
            return Cow::Borrowed(&self.rule.reason);
        }
        let Observed { condition, sight } = self.observed;
        let open: Vec<String> = condition
            .reads
            .iter()
            .filter(|slot| !matches!(sight.see(**slot), Seen::Known(_)))
            .map(|slot| format!("`{}`", sight.facts[*slot].name()))
            .collect();
        let fate = if self.kept { "keep" } else { "drop" };
        Cow::Owned(format!(
            "{} not known here; the rule's `undecided` says {fate}",
            open.join(", ")
        ))
    }

    /// Hash of the rule and of what it saw: while it is the same, the verdict stands.
    pub fn input_key(&self) -> String {
        let Observed { condition, sight } = self.observed;
        let mut key = self.rule.key.clone();
        let mut value = Vec::with_capacity(64);
        for slot in &condition.reads {
            value.clear();
            let seen = sight.see(*slot);
            value.push(match seen {
                Seen::Known(_) => b'=',
                Seen::AtLeast(_) => b'+',
                Seen::Unknown => b'?',
            });
            // Writing to memory cannot fail; a fact has no map whose keys are not texts.
            let _ = seen.datum().map(|datum| serde_json::to_writer(&mut value, datum));
            key = key.part(sight.facts[*slot].name(), &value);
        }
        for slot in &condition.probes {
            let known = matches!(sight.see(*slot), Seen::Known(_));
            key = key.part(sight.facts[*slot].name(), if known { b"!" } else { b"-" });
        }
        key.finish()
    }

    /// The decision for the log.
    pub fn decision(&self, candidate: &CandidateId) -> Decision {
        Decision {
            candidate: candidate.clone(),
            rule: RuleId(self.rule.id.0.clone()),
            verdict: self.verdict,
            kept: self.kept,
            observed: serde_json::to_value(&self.observed).unwrap_or_default(),
            evidence: self.evidence().into_owned(),
            input_key: self.input_key(),
        }
    }
}

impl Serialize for Observed<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Observed { condition, sight } = self;
        // Both lists are sorted by name; a probe of a fact that is read as well adds nothing.
        let mut slots: Vec<usize> = condition.reads.clone();
        slots.extend(
            condition
                .probes
                .iter()
                .filter(|slot| !condition.reads.contains(slot)),
        );
        slots.sort_by_key(|slot| sight.facts[*slot].name());
        serializer.collect_map(
            slots
                .into_iter()
                .map(|slot| (sight.facts[slot].name(), Shown(sight.see(slot)))),
        )
    }
}

enum Truth {
    Yes,
    No,
    Unknown,
    Failed(String),
}

impl From<bool> for Truth {
    fn from(truth: bool) -> Self {
        if truth { Self::Yes } else { Self::No }
    }
}

/// Judges a condition in three values (Kleene), with CEL's own law that a side which settles the answer makes the
/// other's failure moot, and that what is not known goes before what failed.
fn truth(condition: &Condition, sight: &Sight<'_>) -> Truth {
    let values = Values::of(condition, sight);
    match values {
        Ok(values) => {
            let mut context = Context::with_env(Arc::clone(&ENVIRONMENT));
            context.set_variable_resolver(&values);
            node(&condition.root, sight, &context)
        }
        Err(error) => Truth::Failed(reason(&error)),
    }
}

fn node(of: &Node, sight: &Sight<'_>, context: &Context<'_, '_>) -> Truth {
    match of {
        Node::And(sides) => match node(&sides[0], sight, context) {
            Truth::No => Truth::No,
            Truth::Yes => node(&sides[1], sight, context),
            open => either(open, node(&sides[1], sight, context), false),
        },
        Node::Or(sides) => match node(&sides[0], sight, context) {
            Truth::Yes => Truth::Yes,
            Truth::No => node(&sides[1], sight, context),
            open => either(open, node(&sides[1], sight, context), true),
        },
        Node::Not(inner) => match node(inner, sight, context) {
            Truth::Yes => Truth::No,
            Truth::No => Truth::Yes,
            open => open,
        },
        Node::If(parts) => match node(&parts[0], sight, context) {
            Truth::Yes => node(&parts[1], sight, context),
            Truth::No => node(&parts[2], sight, context),
            Truth::Failed(message) => Truth::Failed(message),
            Truth::Unknown => match (node(&parts[1], sight, context), node(&parts[2], sight, context)) {
                (Truth::Yes, Truth::Yes) => Truth::Yes,
                (Truth::No, Truth::No) => Truth::No,
                _ => Truth::Unknown,
            },
        },
        Node::Leaf(of) => leaf(of, sight, context),
    }
}

/// Two sides of which the first is open: the second settles it when it is `settling`.
fn either(open: Truth, second: Truth, settling: bool) -> Truth {
    match (open, second) {
        (_, Truth::Yes) if settling => Truth::Yes,
        (_, Truth::No) if !settling => Truth::No,
        (Truth::Unknown, _) | (_, Truth::Unknown) => Truth::Unknown,
        (open, _) => open,
    }
}

fn leaf(of: &Leaf, sight: &Sight<'_>, context: &Context<'_, '_>) -> Truth {
    let mut partial = false;
    for slot in &of.reads {
        match sight.see(*slot) {
            Seen::Known(_) => {}
            Seen::AtLeast(_) if of.growth != Growth::Any => partial = true,
            Seen::AtLeast(_) | Seen::Unknown => return Truth::Unknown,
        }
    }
    let value = match Value::resolve_val(&of.expression, context) {
        Ok(value) => value,
        Err(error) => return Truth::Failed(reason(&error)),
    };
    let Some(truth) = value.downcast_ref::<CelBool>().map(|truth| *truth.inner()) else {
        return Truth::Failed(format!("expected a bool, found {}", value.get_type().name()));
    };
    match of.growth {
        Growth::Up if partial && !truth => Truth::Unknown,
        Growth::Down if partial && truth => Truth::Unknown,
        _ => truth.into(),
    }
}

/// The evaluator's word on a failure, as a fragment.
fn reason(error: &cel::ExecutionError) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A condition's values as the evaluator takes them, by slot.
struct Values<'s> {
    values: Vec<(usize, Box<dyn Val + 's>)>,
    known: Vec<(usize, CelBool)>,
}

impl<'s> Values<'s> {
    fn of(condition: &Condition, sight: &'s Sight<'_>) -> Result<Self, cel::ExecutionError> {
        let mut values = Vec::with_capacity(condition.reads.len());
        for slot in &condition.reads {
            if let Some(datum) = sight.see(*slot).datum() {
                values.push((*slot, datum.to_cel()?));
            }
        }
        let known = |slot: &usize| (*slot, CelBool::from(matches!(sight.see(*slot), Seen::Known(_))));
        Ok(Self {
            values,
            known: condition.probes.iter().map(known).collect(),
        })
    }
}

impl VariableResolver for Values<'_> {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        let name = variable.strip_prefix('#')?;
        if let Some(probe) = name.strip_suffix('?') {
            let slot: usize = probe.parse().ok()?;
            return self
                .known
                .iter()
                .find(|(known, _)| *known == slot)
                .map(|(_, truth)| CowVal::Borrowed(truth));
        }
        let slot: usize = name.parse().ok()?;
        self.values
            .iter()
            .find(|(known, _)| *known == slot)
            .map(|(_, value)| CowVal::Borrowed(value.as_ref()))
    }
}
