//! An expression's faults, or its type and what it reads.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use cel::Env;
use cel::common::ast::IdedExpr;

use super::facts::{FactId, Phase};
use super::syntax;
use super::types::Type;
use super::walk::{Walk, article};

/// The evaluator's functions and macros, shared by every expression. Optional syntax (`a.?b`) is off: whether a fact is
/// known is what `has(…)` asks.
pub static ENVIRONMENT: LazyLock<Arc<Env>> =
    LazyLock::new(|| Arc::new(Env::stdlib().with_optional_support(false)));

/// Something wrong in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The bytes of the expression it is about.
    pub range: Range<usize>,
    /// What is wrong: a lower-case sentence without a period.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// An expression that has been checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Its tree. Each fact has become one identifier of the fact's full name, each `has(fact)` one identifier of the
    /// name followed by `?`.
    pub tree: IdedExpr,
    /// The facts whose values it reads.
    pub reads: BTreeSet<FactId>,
    /// The facts of which it asks only whether they are known.
    pub probes: BTreeSet<FactId>,
}

impl Checked {
    /// The earliest phase in which every fact it names is available.
    pub fn phase(&self) -> Phase {
        self.reads
            .iter()
            .chain(&self.probes)
            .map(|id| id.fact().phase)
            .max()
            .unwrap_or(Phase::Git)
    }
}

/// Checks that `text` is a condition: a well-typed expression that gives a bool.
///
/// # Errors
/// Every fault found, in the order of the text.
pub fn check_condition(text: &str) -> Result<Checked, Vec<Fault>> {
    let (mut tree, info) = ENVIRONMENT
        .parser()
        .parse_with_source_info(text)
        .map_err(|errors| syntax::faults(text, &errors))?;
    let mut walk = Walk::over(&info);
    let ty = walk.node(&mut tree);
    if !Type::Bool.fits(&ty) {
        let message = format!("this gives {}, a condition must give bool", article(&ty));
        let hint = match ty {
            Type::Int | Type::Double => Some("compare it, for example `… > 0`".to_owned()),
            Type::List(_) | Type::String | Type::Word(_) => {
                Some("ask for its size, for example `size(…) > 0`".to_owned())
            }
            _ => None,
        };
        walk.fault(0..text.trim_end().len(), message, hint);
    }
    let mut faults = walk.faults;
    if faults.is_empty() {
        return Ok(Checked {
            tree,
            reads: walk.reads,
            probes: walk.probes,
        });
    }
    faults.sort_by_key(|fault| (fault.range.start, fault.range.end));
    faults.dedup();
    Err(faults)
}
