//! Whose a container is, and which ones nobody owns any more.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use bollard::query_parameters::{ListContainersOptionsBuilder, RemoveContainerOptionsBuilder};

use super::super::error::SandboxError;
use super::daemon::{Daemon, fault};

/// The label with the [`Owner`].
pub(super) const OWNER: &str = "io.quarry.owner";
/// The label with the workspace's name.
pub(super) const WORKSPACE: &str = "io.quarry.workspace";
/// The label with the room's own random name.
pub(super) const RUN: &str = "io.quarry.run";
/// The label of images that Quarry made.
pub(super) const IMAGE: &str = "io.quarry.image";

/// The label with the key of what an image is made of.
pub(super) const KEY: &str = "io.quarry.key";

/// A process, told apart from every other one on this machine: its number alone is used again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    /// Which start of which machine's kernel.
    boot: String,
    /// The namespace in which `pid` is a process.
    namespace: String,
    pid: u32,
    /// When it began, in clock ticks since the boot.
    started: u64,
}

impl Owner {
    /// This process.
    pub(super) fn own() -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let pid = std::process::id();
        Self {
            boot: boot.trim().to_owned(),
            namespace: namespace(),
            pid,
            started: started(pid).unwrap_or(0),
        }
    }

    /// Whether the process is known to be no more. One of another namespace is not known.
    fn is_gone(&self, here: &Self) -> bool {
        if self.boot != here.boot {
            return true;
        }
        self.namespace == here.namespace && started(self.pid) != Some(self.started)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {} {}",
            self.boot, self.namespace, self.pid, self.started
        )
    }
}

impl FromStr for Owner {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let words: Vec<&str> = text.split(' ').collect();
        let [boot, namespace, pid, started] = words[..] else {
            return Err(());
        };
        Ok(Self {
            boot: boot.to_owned(),
            namespace: namespace.to_owned(),
            pid: pid.parse().map_err(drop)?,
            started: started.parse().map_err(drop)?,
        })
    }
}

fn namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.display()
        .to_string()
        .chars()
        .filter(char::is_ascii_digit)
        .collect()
}

/// When a process that still runs began.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then(|| fields.nth(18)?.parse().ok())?
}

/// Removes the containers of Quarries that are gone (with `dry_run` none), and says how many there were.
pub(super) async fn reap(daemon: &Daemon, here: &Owner, dry_run: bool) -> Result<usize, SandboxError> {
    let filters = HashMap::from([("label".to_owned(), vec![OWNER.to_owned()])]);
    let options = ListContainersOptionsBuilder::default()
        .all(true)
        .filters(&filters)
        .build();
    let found = daemon
        .client
        .list_containers(Some(options))
        .await
        .map_err(fault("list containers"))?;
    let mut reaped = 0;
    for container in found {
        let labels = container.labels.unwrap_or_default();
        let owner = labels.get(OWNER).and_then(|owner| owner.parse::<Owner>().ok());
        if !owner.is_some_and(|owner| owner.is_gone(here)) {
            continue;
        }
        if dry_run {
            reaped += 1;
            continue;
        }
        let Some(id) = container.id else { continue };
        let options = RemoveContainerOptionsBuilder::default()
            .force(true)
            .v(true)
            .build();
        // Two rooms that open at once reap the same ones.
        if daemon.client.remove_container(&id, Some(options)).await.is_ok() {
            reaped += 1;
        }
    }
    Ok(reaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_gone_with_its_process() {
        let here = Owner::own();
        assert_eq!(here.to_string().parse(), Ok(here.clone()));
        assert!(!here.is_gone(&here));
        let later = Owner {
            started: here.started + 1,
            ..here.clone()
        };
        assert!(later.is_gone(&here), "the number is used again");
        let elsewhere = Owner {
            namespace: "1".to_owned(),
            ..later.clone()
        };
        assert!(!elsewhere.is_gone(&here), "nobody here can know");
        let before = Owner {
            boot: "b".to_owned(),
            ..elsewhere
        };
        assert!(before.is_gone(&here), "before the machine was started again");
        assert_eq!("a b c d".parse::<Owner>(), Err(()));
    }

    #[test]
    fn a_dead_child_is_gone() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        assert!(started(child.id()).is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(started(child.id()), None);
    }
}
