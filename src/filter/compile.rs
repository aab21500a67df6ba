//! From a recipe to a program: its rules in the order they run, each with what it reads.

use std::collections::BTreeSet;

use cel::common::ast::{EntryExpr, Expr, IdedExpr, operators};

use super::growth::{Growth, growth};
use crate::domain::hash::KeyHasher;
use crate::domain::ids::{RepoName, RuleId};
use crate::recipe::language::{Checked, FactId, Fault, Phase, check_condition};
use crate::recipe::model::{Recipe, Undecided};

/// The version of what rules mean; it is part of every decision's key. Raise it when a fact or the evaluation changes.
pub const VERSION: u32 = 1;

/// A recipe's rules, ready to be asked.
#[derive(Debug)]
pub struct Program {
    pub(super) rules: Vec<CompiledRule>,
    pub(super) environments: Vec<CompiledEnvironment>,
    /// Every fact that some condition reads or asks for; conditions name them by their place here.
    pub(super) slots: Vec<FactId>,
}

/// One rule, ready to be asked.
#[derive(Debug)]
pub struct CompiledRule {
    /// Its id.
    pub id: RuleId,
    /// Its expression, as written.
    pub keep: String,
    /// Why it exists.
    pub reason: String,
    /// What becomes of a candidate that it cannot decide.
    pub undecided: Undecided,
    /// When it runs.
    pub phase: Phase,
    pub(super) condition: Condition,
    /// The part of a decision's key that is the same for every candidate.
    pub(super) key: KeyHasher,
}

#[derive(Debug)]
pub(super) struct CompiledEnvironment {
    pub(super) repo: Option<RepoName>,
    pub(super) when: Option<Condition>,
}

/// A condition: its boolean structure, which is judged in three values, over leaves that the evaluator computes.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) root: Node,
    /// Slots whose values it reads, in order of their facts' names.
    pub(super) reads: Vec<usize>,
    /// Slots of which it asks only whether they are known, in order of their facts' names.
    pub(super) probes: Vec<usize>,
}

#[derive(Debug)]
pub(super) enum Node {
    And(Box<[Self; 2]>),
    Or(Box<[Self; 2]>),
    Not(Box<Self>),
    If(Box<[Self; 3]>),
    Leaf(Leaf),
}

#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) expression: IdedExpr,
    /// Slots whose values it reads.
    pub(super) reads: Vec<usize>,
    /// What more elements in a list known in part would do to its truth.
    pub(super) growth: Growth,
}

/// A rule that does not check. A recipe that was loaded has none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("compile rule `{rule}`: {}", faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>().join("; "))]
pub struct CompileError {
    /// The rule, or the environment, by its name.
    pub rule: String,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
}

impl CompileError {
    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        self.faults
            .iter()
            .filter_map(|fault| fault.hint.clone())
            .collect()
    }
}

/// Compiles a recipe's rules and the conditions of its environments.
///
/// # Errors
/// When an expression does not check; loading a recipe has checked them all.
pub fn compile(recipe: &Recipe) -> Result<Program, CompileError> {
    let mut slots = Vec::new();
    let mut rules = Vec::new();
    for rule in &recipe.rules {
        let checked = check(rule.id.as_str(), &rule.keep)?;
        let undecided = match rule.undecided {
            Undecided::Keep => "keep",
            Undecided::Drop => "drop",
        };
        rules.push(CompiledRule {
            id: rule.id.clone(),
            keep: rule.keep.clone(),
            reason: rule.reason.clone(),
            undecided: rule.undecided,
            phase: checked.phase(),
            key: KeyHasher::new("filter", VERSION)
                .part("rule", rule.id.as_str().as_bytes())
                .part("keep", rule.keep.as_bytes())
                .part("undecided", undecided.as_bytes()),
            condition: Condition::new(checked, &mut slots),
        });
    }
    // Stable: within a phase the recipe's order stays.
    rules.sort_by_key(|rule| rule.phase);
    let mut environments = Vec::new();
    for environment in &recipe.environment {
        let when = match &environment.when {
            Some(text) => Some(Condition::new(check(&environment.name, text)?, &mut slots)),
            None => None,
        };
        environments.push(CompiledEnvironment {
            repo: environment.repo.clone(),
            when,
        });
    }
    Ok(Program {
        rules,
        environments,
        slots,
    })
}

fn check(name: &str, text: &str) -> Result<Checked, CompileError> {
    check_condition(text).map_err(|faults| CompileError {
        rule: name.to_owned(),
        faults,
    })
}

impl Program {
    /// Every rule, in the order they run.
    pub fn rules(&self) -> &[CompiledRule] {
        &self.rules
    }

    /// The rules that run before anything is built.
    pub fn git_rules(&self) -> impl Iterator<Item = &CompiledRule> {
        self.rules.iter().filter(|rule| rule.phase == Phase::Git)
    }

    /// The rules that run after verification.
    pub fn oracle_rules(&self) -> impl Iterator<Item = &CompiledRule> {
        self.rules.iter().filter(|rule| rule.phase == Phase::Oracle)
    }

    /// Whether some rule or environment reads this fact.
    pub fn reads(&self, fact: FactId) -> bool {
        self.slots.contains(&fact)
    }

    /// Every fact that some rule or environment reads.
    pub fn facts(&self) -> &[FactId] {
        &self.slots
    }

    /// The facts a rule reads, or asks for with `has`, by name.
    pub fn facts_of(&self, rule: &CompiledRule) -> Vec<FactId> {
        let mut slots: Vec<usize> = rule
            .condition
            .reads
            .iter()
            .chain(&rule.condition.probes)
            .copied()
            .collect();
        slots.sort_by_key(|slot| self.slots[*slot].name());
        slots.dedup();
        slots.into_iter().map(|slot| self.slots[slot]).collect()
    }
}

impl Condition {
    fn new(checked: Checked, slots: &mut Vec<FactId>) -> Self {
        let mut place = |facts: &BTreeSet<FactId>| {
            let mut places: Vec<usize> = facts
                .iter()
                .map(|fact| {
                    slots.iter().position(|known| known == fact).unwrap_or_else(|| {
                        slots.push(*fact);
                        slots.len() - 1
                    })
                })
                .collect();
            places.sort_by_key(|slot| slots[*slot].name());
            places
        };
        let (reads, probes) = (place(&checked.reads), place(&checked.probes));
        let root = Node::new(checked.tree, slots);
        Self { root, reads, probes }
    }
}

impl Node {
    fn new(mut tree: IdedExpr, slots: &[FactId]) -> Self {
        if let Expr::Call(call) = &mut tree.expr
            && call.target.is_none()
        {
            let mut sides = std::mem::take(&mut call.args).into_iter();
            let mut next = || Self::new(sides.next().unwrap_or_default(), slots);
            match call.func_name.as_str() {
                operators::LOGICAL_AND => return Self::And(Box::new([next(), next()])),
                operators::LOGICAL_OR => return Self::Or(Box::new([next(), next()])),
                operators::LOGICAL_NOT => return Self::Not(Box::new(next())),
                operators::CONDITIONAL => return Self::If(Box::new([next(), next(), next()])),
                _ => call.args = sides.collect(),
            }
        }
        let growth = growth(&tree);
        let mut reads = BTreeSet::new();
        name_slots(&mut tree, slots, &mut reads);
        Self::Leaf(Leaf {
            expression: tree,
            reads: reads.into_iter().collect(),
            growth,
        })
    }
}

/// Turns each fact's name in a tree into `#N`, its slot, which the evaluator finds without comparing names.
fn name_slots(node: &mut IdedExpr, slots: &[FactId], reads: &mut BTreeSet<usize>) {
    let mut inside = |child: &mut IdedExpr| name_slots(child, slots, reads);
    match &mut node.expr {
        Expr::Ident(name) if name.contains('.') => {
            let bare = name.trim_end_matches('?');
            if let Some(slot) = slots.iter().position(|fact| fact.name() == bare) {
                let probe = name.len() > bare.len();
                if !probe {
                    reads.insert(slot);
                }
                *name = format!("#{slot}{}", if probe { "?" } else { "" });
            }
        }
        Expr::Select(select) => inside(&mut select.operand),
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| inside(target));
            call.args.iter_mut().for_each(inside);
        }
        Expr::List(list) => list.elements.iter_mut().for_each(inside),
        Expr::Comprehension(comprehension) => {
            for part in [
                &mut comprehension.iter_range,
                &mut comprehension.accu_init,
                &mut comprehension.loop_cond,
                &mut comprehension.loop_step,
                &mut comprehension.result,
            ] {
                inside(part);
            }
        }
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    inside(&mut entry.key);
                    inside(&mut entry.value);
                }
            }
        }
        Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) | Expr::Unspecified => {}
    }
}
