//! A requirement newer than the cut-off: the first version that satisfies it is let in, the one nearest to the day.
//!
//! Where a requirement allows several versions, a resolver tells the day of the latest. So the search is narrowed by a
//! constraint, from the lowest version that is asked for upwards, until what it tells of is the first there is; then the
//! constraint goes, and the distribution may be as new as that version.

use jiff::{SignedDuration, Timestamp};

use super::symptoms::{Symptom, Trouble};
use crate::domain::environment::{Constraint, Newer};
use crate::recipe::model::EnvironmentRecipe;

/// What the reason of a narrowing constraint begins with.
const NARROWS: &str = "the first version that satisfies is looked for";
/// What stands before the day of the latest version there.
const LATEST: &str = "the latest came at ";

/// Lets a distribution be newer than the cut-off, or narrows the search for how new.
pub(super) fn allow(
    distribution: &str,
    published: &str,
    lowest: Option<&str>,
    evidence: &str,
    environment: &mut EnvironmentRecipe,
) -> Option<String> {
    if environment
        .newer
        .iter()
        .any(|newer| newer.distribution == distribution)
    {
        return None;
    }
    let narrowing = environment
        .constraints
        .iter()
        .position(|known| narrows(known) && name_of(known) == distribution);
    if let Some(at) = narrowing {
        environment.constraints.remove(at);
    } else if let Some(bound) = lowest.and_then(|lowest| bounds(lowest).into_iter().next()) {
        return Some(narrow(distribution, &bound, published, environment));
    }
    let published: Timestamp = published.parse().ok()?;
    // The files of one version are uploaded within the hour.
    let until = published.checked_add(SignedDuration::from_hours(1)).ok()?;
    environment.newer.push(Newer {
        distribution: distribution.to_owned(),
        until: until.to_string(),
        reason: format!("the repository asks for a version that came later: {evidence}"),
    });
    Some(format!("{distribution} as new as {until}"))
}

/// The next step of a search that nothing was told of: no version is as low as its constraint asks.
pub(super) fn go_on(symptoms: &[Symptom], environment: &mut EnvironmentRecipe) -> Option<(Symptom, String)> {
    let told = |symptom: &Symptom| matches!(symptom.trouble, Trouble::NewerThanCutoff { .. });
    if symptoms.iter().any(told) {
        return None;
    }
    let at = environment.constraints.iter().position(narrows)?;
    let known = environment.constraints.remove(at);
    let distribution = name_of(&known).to_owned();
    let (_, published) = known.reason.rsplit_once(LATEST)?;
    let (head, _) = known.reason.split_once("; ")?;
    let lowest = head.rsplit(">=").next()?;
    let bounds = bounds(lowest);
    let next = bounds
        .iter()
        .position(|bound| known.requirement == format!("{distribution}{bound}"))
        .and_then(|index| bounds.get(index + 1));
    let evidence = format!("no version of {distribution} satisfies {}", known.requirement);
    let symptom = Symptom {
        trouble: Trouble::NewerThanCutoff {
            distribution: distribution.clone(),
            published: published.to_owned(),
            lowest: Some(lowest.to_owned()),
        },
        evidence,
    };
    let change = match next {
        Some(bound) => {
            let reason = known.reason.clone();
            let requirement = format!("{distribution}{bound}");
            environment.constraints.push(Constraint {
                requirement: requirement.clone(),
                reason,
            });
            format!("constraint {requirement}")
        }
        None => allow(&distribution, published, None, &symptom.evidence, environment)?,
    };
    Some((symptom, change))
}

fn narrow(distribution: &str, bound: &str, published: &str, environment: &mut EnvironmentRecipe) -> String {
    let requirement = format!("{distribution}{bound}");
    let lowest = bound.trim_start_matches("<=");
    environment.constraints.push(Constraint {
        requirement: requirement.clone(),
        reason: format!("{NARROWS}: {distribution}>={lowest}; {LATEST}{published}"),
    });
    format!("constraint {requirement}")
}

fn narrows(constraint: &Constraint) -> bool {
    constraint.reason.starts_with(NARROWS)
}

fn name_of(constraint: &Constraint) -> &str {
    let requirement = &constraint.requirement;
    requirement.split('<').next().unwrap_or(requirement)
}

/// `2.28.3`: that version alone, then the ones below 2.29, 2.30 and 3.
fn bounds(lowest: &str) -> Vec<String> {
    let mut bounds = vec![format!("<={lowest}")];
    let mut numbers = lowest.split('.').map_while(|part| part.parse::<u64>().ok());
    if let Some(major) = numbers.next() {
        let minor = numbers.next().unwrap_or(0);
        bounds.extend([1, 2].map(|more| format!("<{major}.{}", minor.saturating_add(more))));
        bounds.push(format!("<{}", major.saturating_add(1)));
    }
    bounds
}
