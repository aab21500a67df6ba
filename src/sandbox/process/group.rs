//! What the kernel says of one control group, and the end of what is in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::super::contract::End;
use super::cgroup::{HostCgroup, Version};

/// One group: its folders, one for each controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Group {
    pub(super) version: Version,
    pub(super) memory: PathBuf,
    pub(super) pids: PathBuf,
}

impl Group {
    /// The group that a process is in, as this process sees it.
    pub(in super::super) fn of_process(pid: u32) -> Option<Self> {
        let read = |path: &str| fs::read_to_string(path).ok();
        let own = read(&format!("/proc/{pid}/cgroup"))?;
        let host = HostCgroup::parse(&own, &read("/proc/self/mountinfo")?)?;
        let group = Self {
            version: host.version,
            memory: host.memory,
            pids: host.pids,
        };
        group
            .folders()
            .iter()
            .all(|folder| folder.is_dir())
            .then_some(group)
    }

    /// Whether the group's name holds `name`.
    pub(in super::super) fn is_named(&self, name: &str) -> bool {
        self.memory.to_string_lossy().contains(name)
    }

    pub(super) fn folders(&self) -> Vec<&Path> {
        match self.version {
            Version::V1 => vec![&self.memory, &self.pids],
            Version::V2 => vec![&self.memory],
        }
    }

    /// The files that a process writes its id to in order to enter.
    pub(in super::super) fn doors(&self) -> Vec<PathBuf> {
        self.folders()
            .into_iter()
            .map(|folder| folder.join("cgroup.procs"))
            .collect()
    }

    /// Whether a process of ours may enter: making a group is not yet leave to move into it.
    pub(super) fn admits(&self) -> bool {
        self.doors().iter().all(|door| {
            Command::new("/bin/sh")
                .args(["-c", "echo $$ > \"$1\"", "sh"])
                .arg(door)
                .env_clear()
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        })
    }

    /// Which limit the kernel has had to enforce so far.
    pub(in super::super) fn breach(&self) -> Option<End> {
        let events = match self.version {
            Version::V1 => "memory.oom_control",
            Version::V2 => "memory.events",
        };
        if counter(&self.memory, events, "oom_kill").is_some_and(|count| count > 0) {
            return Some(End::MemoryLimit);
        }
        counter(&self.pids, "pids.events", "max")
            .filter(|count| *count > 0)
            .map(|_| End::ProcessLimit)
    }

    /// The most memory held at once so far, in bytes.
    pub(in super::super) fn peak_memory(&self) -> Option<u64> {
        let name = match self.version {
            Version::V1 => "memory.max_usage_in_bytes",
            Version::V2 => "memory.peak",
        };
        fs::read_to_string(self.memory.join(name))
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    /// Kills every process in the group, new ones included.
    pub(in super::super) fn kill(&self) {
        if self.version == Version::V2 && write(&self.memory, "cgroup.kill", "1").is_ok() {
            return;
        }
        for pid in self.members() {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Kills what is left and removes the group; false while a process is still on its way out.
    pub(in super::super) fn close(&self) -> bool {
        self.kill();
        let gone = |folder: &Path| match fs::remove_dir(folder) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let left = self.folders().into_iter().filter(|folder| !gone(folder)).count();
        left == 0
    }

    fn members(&self) -> Vec<Pid> {
        let text = fs::read_to_string(self.pids.join("cgroup.procs")).unwrap_or_default();
        text.lines()
            .filter_map(|line| Pid::from_raw(line.parse().ok()?))
            .collect()
    }
}

pub(super) fn write(folder: &Path, name: &str, value: &str) -> io::Result<()> {
    // Not `fs::write`: that would make the file where a controller is absent.
    use io::Write as _;
    fs::OpenOptions::new()
        .write(true)
        .open(folder.join(name))?
        .write_all(value.as_bytes())
}

/// The number after `key` in a file of `key number` lines.
fn counter(folder: &Path, name: &str, key: &str) -> Option<u64> {
    let text = fs::read_to_string(folder.join(name)).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
}
