//! In which order candidates are proven: the longest first, so that none of them holds the end while a core has nothing to do
//! (LPT; R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", 1969: at most 4/3 of the best schedule's length).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::environments::Asked;
use super::prove::Prover;
use super::search::Searched;
use crate::domain::candidate::Candidate;
use crate::domain::ids::CandidateId;
use crate::domain::path::RepoPath;
use crate::verify::run::Trial;

impl Prover<'_> {
    /// Candidates by what one run of theirs will take, as far as their group's trial tells, the longest first. One of which
    /// nothing is known may be the longest of all. The order changes no outcome.
    pub(super) fn longest_first<'a>(
        &self,
        candidates: &[&'a Candidate],
        asked: &BTreeMap<CandidateId, Asked>,
        groups: &BTreeMap<String, Searched>,
    ) -> Vec<&'a Candidate> {
        let cost = |candidate: &Candidate| {
            let group = &asked.get(&candidate.id)?.group;
            let trial = groups.get(group)?.search.chosen()?.trial.as_ref()?;
            cost(trial, &self.touched(candidate))
        };
        let mut ordered = candidates.to_vec();
        ordered.sort_by_cached_key(|candidate| {
            (Reverse(cost(candidate).unwrap_or(u64::MAX)), candidate.id.clone())
        });
        ordered
    }
}

/// Milliseconds of the touched files' tests in their group's trial. A file that has none there (a new module, data, a
/// helper) counts as the mean module; `None` where no file has any: all may be new, which runs the whole suite.
fn cost(trial: &Trial, touched: &[RepoPath]) -> Option<u64> {
    let of = |path: &RepoPath| trial.modules.get(path.to_str()?).copied();
    if touched.iter().all(|path| of(path).is_none()) {
        return None;
    }
    let all: u64 = trial.modules.values().sum();
    let mean = all / trial.modules.len() as u64;
    Some(touched.iter().map(|path| of(path).unwrap_or(mean)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_trial_took_tells_what_a_run_will_take() {
        let trial = Trial {
            modules: [("tests/a.py".to_owned(), 900), ("tests/b.py".to_owned(), 100)].into(),
            ..Trial::default()
        };
        let paths = |names: &[&str]| names.iter().map(|name| RepoPath::from(*name)).collect::<Vec<_>>();
        assert_eq!(cost(&trial, &paths(&["tests/b.py"])), Some(100));
        assert_eq!(cost(&trial, &paths(&["tests/b.py", "tests/new.py"])), Some(600));
        assert_eq!(cost(&trial, &paths(&["tests/new.py"])), None);
        assert_eq!(cost(&Trial::default(), &paths(&["tests/b.py"])), None);
    }
}
