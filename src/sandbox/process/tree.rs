//! A job's processes, read from `/proc`: the count where no control group can be had.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// What a process tree holds at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Census {
    /// Anonymous and shared memory of all processes, in bytes. Pages that a fork shares are counted in each.
    pub(super) memory: u64,
    /// Processes and threads.
    pub(super) tasks: u64,
}

/// Counts `root` and all its descendants. A process that ends meanwhile is not counted.
pub(super) fn census(root: u32) -> Census {
    descendants(root).into_iter().fold(Census::default(), |sum, pid| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let one = parse_status(&status);
        Census {
            memory: sum.memory + one.memory,
            tasks: sum.tasks + one.tasks,
        }
    })
}

fn parse_status(status: &str) -> Census {
    let field = |name: &str| -> u64 {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
            .unwrap_or(0)
    };
    Census {
        memory: (field("RssAnon:") + field("RssShmem:")) * 1024,
        tasks: field("Threads:"),
    }
}

/// `root` and everything below it.
fn descendants(root: u32) -> Vec<u32> {
    let mut family = vec![root];
    if Path::new("/proc/thread-self/children").exists() {
        let mut next = 0;
        while next < family.len() {
            let Ok(threads) = fs::read_dir(format!("/proc/{}/task", family[next])) else {
                next += 1;
                continue;
            };
            for thread in threads.flatten() {
                let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
                family.extend(
                    children
                        .split_whitespace()
                        .filter_map(|pid| pid.parse::<u32>().ok()),
                );
            }
            next += 1;
        }
        return family;
    }
    // A kernel without `children` files: one pass over all processes, parents before or after their children.
    let mut parents: Vec<(u32, u32)> = all_processes()
        .into_iter()
        .filter_map(|pid| {
            Some((
                pid,
                parse_parent(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?,
            ))
        })
        .collect();
    loop {
        let before = family.len();
        parents.retain(|(pid, parent)| {
            let ours = family.contains(parent);
            if ours {
                family.push(*pid);
            }
            !ours
        });
        if family.len() == before {
            return family;
        }
    }
}

/// The parent in a `/proc/PID/stat` line, whose second field may hold anything.
fn parse_parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn all_processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Kills one process.
pub(super) fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Whether a process has ended, waited for or not.
pub(super) fn is_gone(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| stat.rsplit_once(')')?.1.trim_start().chars().next())
        .is_none_or(|state| matches!(state, 'Z' | 'X'))
}

/// Kills every process whose environment holds the line `mark`, until none is left or `rounds` are over: daemons
/// that left their parent and their process group still carry the mark they inherited.
pub(super) fn kill_marked(mark: &str, rounds: u32) {
    for _ in 0..rounds {
        let mut found = false;
        for pid in all_processes() {
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            if environ
                .split(|byte| *byte == 0)
                .any(|line| line == mark.as_bytes())
            {
                found = true;
                kill(pid);
            }
        }
        if !found {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_stat_are_read() {
        let status =
            "Name:\tpython\nRssAnon:\t    1000 kB\nRssFile:\t 9 kB\nRssShmem:\t 24 kB\nThreads:\t3\n";
        assert_eq!(
            parse_status(status),
            Census {
                memory: 1024 * 1024,
                tasks: 3
            }
        );
        assert_eq!(parse_status(""), Census::default());
        assert_eq!(parse_parent("12 (a) b) S 7 12 12"), Some(7));
        assert_eq!(parse_parent("12"), None);
    }

    #[test]
    fn a_child_is_in_the_tree() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let family = descendants(std::process::id());
        assert!(!is_gone(child.id()));
        kill(child.id());
        child.wait().unwrap();
        assert!(is_gone(child.id()));
        assert!(family.contains(&child.id()), "{family:?}");
    }
}
