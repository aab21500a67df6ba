//! What stops a run before its end: something that the whole machine lacks. No candidate is judged by it, nothing is
//! emitted, and the same command goes on where it stopped.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::emit::Ended;
use crate::harness::is_machines;

/// Why a run stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt {
    /// The stable word (`daemon-gone`, `disk-full`).
    pub reason: String,
    /// What was seen.
    pub detail: String,
}

/// What the workspace's disk is called.
pub(super) const WORKSPACE: &str = "the workspace is";

/// Looks before new work begins, and after it.
#[derive(Debug)]
pub(super) struct Brake {
    places: Vec<(PathBuf, &'static str)>,
    min_free_bytes: u64,
    why: OnceLock<Halt>,
}

impl Brake {
    /// New work begins only while so many bytes are free on the disk of each place; a place comes with what it is.
    pub(super) fn new(places: Vec<(PathBuf, &'static str)>, min_free_bytes: u64) -> Self {
        Self {
            places,
            min_free_bytes,
            why: OnceLock::new(),
        }
    }

    /// Whether new work may begin.
    pub(super) fn admits(&self) -> bool {
        for (place, what) in &self.places {
            let Ok(disk) = rustix::fs::statvfs(place) else {
                continue;
            };
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            if free < self.min_free_bytes {
                let (needed, free) = (self.min_free_bytes >> 20, free >> 20);
                let detail = format!("{free} MiB are free where {what}, and {needed} MiB are to stay free");
                self.pull("disk-full", detail);
            }
        }
        self.why.get().is_none()
    }

    /// Takes notice of how a candidate's work ended.
    pub(super) fn see(&self, ended: &[Ended]) {
        if let Some(ended) = ended
            .iter()
            .find(|ended| is_machines(ended.outcome, &ended.reason))
        {
            let detail = format!("the work on {} ended so", ended.candidate);
            self.pull(&ended.reason, detail);
        }
    }

    fn pull(&self, reason: &str, detail: String) {
        let _ = self.why.set(Halt {
            reason: reason.to_owned(),
            detail,
        });
    }

    /// Why the run stopped, if it did.
    pub(super) fn why(&self) -> Option<&Halt> {
        self.why.get()
    }
}

impl Halt {
    /// What to do about it.
    pub(super) fn hints(&self) -> Vec<String> {
        let first = match self.reason.as_str() {
            "daemon-gone" => "start the container daemon again",
            "image-gone" => "get the base image again",
            "disk-full" => {
                "make room: `quarry gc` removes what is not needed now; `--min-free` says how much is to stay free"
            }
            "network-refused" => "check that the container daemon reaches its registry",
            _ => "do fewer things at once: `--jobs 1`",
        };
        vec![
            first.to_owned(),
            "then run the same command again: what is finished is recorded".to_owned(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::attempt::{AttemptOutcome, Stage};

    fn ended(outcome: AttemptOutcome, reason: &str) -> Ended {
        Ended {
            candidate: "a/b#1".parse().unwrap(),
            stage: Stage::Verify,
            outcome,
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn what_the_machine_lacks_stops_a_run_and_a_candidates_own_fault_does_not() {
        let brake = Brake::new(vec![("/".into(), WORKSPACE)], 0);
        brake.see(&[
            ended(AttemptOutcome::Infra, "time-out"),
            ended(AttemptOutcome::Project, "disk-full"),
        ]);
        assert!(brake.admits());
        brake.see(&[ended(AttemptOutcome::Infra, "daemon-gone")]);
        assert!(!brake.admits());
        assert_eq!(brake.why().unwrap().reason, "daemon-gone");
    }

    #[test]
    fn a_disk_that_is_all_but_full_admits_nothing() {
        let brake = Brake::new(vec![("/".into(), WORKSPACE)], u64::MAX);
        assert!(!brake.admits());
        assert_eq!(brake.why().unwrap().reason, "disk-full");
    }
}
