//! Counting a job's memory and tasks against its limits.

use std::path::PathBuf;

use super::super::contract::{End, Limits};
use super::cgroup::{HostCgroup, JobCgroup};
use super::tree;

/// Who counts memory and tasks.
pub(super) enum Meter {
    /// The kernel.
    Group(JobCgroup),
    /// We, by polling.
    Tree { limits: Limits, peak: u64 },
}

impl Meter {
    pub(super) fn new(groups: Option<&HostCgroup>, limits: &Limits) -> Self {
        match groups.and_then(|groups| groups.open(limits).ok()) {
            Some(group) => Self::Group(group),
            None => Self::Tree {
                limits: *limits,
                peak: 0,
            },
        }
    }

    pub(super) fn doors(&self) -> Vec<PathBuf> {
        match self {
            Self::Group(group) => group.doors(),
            Self::Tree { .. } => Vec::new(),
        }
    }

    pub(super) fn sample(&mut self, root: u32) -> Option<End> {
        match self {
            Self::Group(group) => group.breach(),
            Self::Tree { limits, peak } => {
                let now = tree::census(root);
                *peak = now.memory.max(*peak);
                if now.tasks > limits.processes {
                    Some(End::ProcessLimit)
                } else {
                    (now.memory > limits.memory_bytes).then_some(End::MemoryLimit)
                }
            }
        }
    }

    pub(super) fn breach(&self) -> Option<End> {
        match self {
            Self::Group(group) => group.breach(),
            Self::Tree { .. } => None,
        }
    }

    pub(super) fn peak(&self) -> Option<u64> {
        match self {
            Self::Group(group) => group.peak_memory(),
            Self::Tree { peak, .. } => (*peak > 0).then_some(*peak),
        }
    }
}
