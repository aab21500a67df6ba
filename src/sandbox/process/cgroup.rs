//! Control groups: the kernel's own count of a job's memory and tasks, where we may make one (v1 or v2).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::contract::Limits;
use super::group::{Group, write};

/// Which generation of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Version {
    /// One hierarchy for each controller.
    V1,
    /// One hierarchy.
    V2,
}

/// Where groups for memory and for tasks may be made: the folders that hold this process's own groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct HostCgroup {
    /// The generation.
    pub(in super::super) version: Version,
    pub(super) memory: PathBuf,
    pub(super) pids: PathBuf,
}

impl HostCgroup {
    /// Reads `/proc/self/cgroup` and `/proc/self/mountinfo`: the groups this process is in, v1 before v2 where
    /// a hybrid system has the controllers there.
    pub(in super::super) fn parse(cgroup: &str, mountinfo: &str) -> Option<Self> {
        let own = |controller: &str| {
            cgroup.lines().find_map(|line| {
                let mut fields = line.splitn(3, ':').skip(1);
                let (controllers, path) = (fields.next()?, fields.next()?);
                controllers
                    .split(',')
                    .any(|name| name == controller)
                    .then_some(path)
            })
        };
        let v1 = |controller| {
            let path = own(controller)?;
            mountinfo.lines().find_map(|line| {
                let mount = MountLine::parse(line)?;
                (mount.kind == "cgroup" && mount.options.split(',').any(|option| option == controller))
                    .then(|| mount.folder_of(path))?
            })
        };
        if let (Some(memory), Some(pids)) = (v1("memory"), v1("pids")) {
            return Some(Self {
                version: Version::V1,
                memory,
                pids,
            });
        }
        let path = own("")?;
        let folder = mountinfo.lines().find_map(|line| {
            let mount = MountLine::parse(line)?;
            (mount.kind == "cgroup2").then(|| mount.folder_of(path))?
        })?;
        Some(Self {
            version: Version::V2,
            memory: folder.clone(),
            pids: folder,
        })
    }

    /// The places of this process, checked by making (and removing) a group there. `None` when the system has
    /// no control groups or we may not make any.
    pub(in super::super) fn detect() -> Option<Self> {
        let read = |path| fs::read_to_string(path).ok();
        let host = Self::parse(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?)?;
        let mut places = vec![host.clone()];
        // On v2 a group with processes in it cannot give controllers to its children: our own group's parent may.
        if let (Version::V2, Some(parent)) = (host.version, host.memory.parent()) {
            let parent = parent.to_owned();
            places.push(Self {
                memory: parent.clone(),
                pids: parent,
                ..host
            });
        }
        places.into_iter().find(|place| {
            place.remove_stale();
            place.open(&Limits::default()).is_ok_and(|group| group.admits())
        })
    }

    /// Makes a group for one job.
    pub(in super::super) fn open(&self, limits: &Limits) -> io::Result<JobCgroup> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let group = self.group(&format!("{}{}-{number}", prefix(), std::process::id()));
        for folder in group.folders() {
            fs::create_dir(folder)?;
        }
        // From here on the group removes itself when a step fails.
        let (memory, tasks) = (limits.memory_bytes.to_string(), limits.processes.to_string());
        match self.version {
            Version::V1 => {
                write(&group.memory, "memory.limit_in_bytes", &memory)?;
                let _ = write(&group.memory, "memory.memsw.limit_in_bytes", &memory);
            }
            Version::V2 => {
                write(&group.memory, "memory.max", &memory)?;
                let _ = write(&group.memory, "memory.swap.max", "0");
            }
        }
        write(&group.pids, "pids.max", &tasks)?;
        Ok(group)
    }

    /// Ends and removes what a killed Quarry left behind: groups with the name of a process that is no more.
    fn remove_stale(&self) {
        let prefix = prefix();
        let entries = [&self.memory, &self.pids]
            .into_iter()
            .flat_map(fs::read_dir)
            .flatten();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let owner = name
                .to_str()
                .and_then(|name| name.strip_prefix(&prefix)?.split('-').next());
            if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                drop(self.group(name.to_str().unwrap_or_default()));
            }
        }
    }

    fn group(&self, name: &str) -> JobCgroup {
        JobCgroup(Group {
            version: self.version,
            memory: self.memory.join(name),
            pids: self.pids.join(name),
        })
    }
}

/// How the names of our groups begin: with the process namespace in which the number that follows is a process.
fn prefix() -> String {
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = namespace
        .to_string_lossy()
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    format!("quarry-{digits}-")
}

/// One line of `/proc/self/mountinfo`, as far as it matters here.
struct MountLine<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> MountLine<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let mut right = right.split(' ');
        Some(Self {
            root: left.next()?,
            point: left.next()?,
            kind: right.next()?,
            options: right.nth(1)?,
        })
    }

    /// The folder of the group `path` below this mount, which may show only a part of the hierarchy.
    fn folder_of(&self, path: &str) -> Option<PathBuf> {
        let below = Path::new(path).strip_prefix(self.root).ok()?;
        Some(if below.as_os_str().is_empty() {
            self.point.into()
        } else {
            Path::new(self.point).join(below)
        })
    }
}

/// One job's group. Dropping it kills what is left inside and removes it.
#[derive(Debug)]
pub(in super::super) struct JobCgroup(Group);

impl std::ops::Deref for JobCgroup {
    type Target = Group;

    fn deref(&self) -> &Group {
        &self.0
    }
}

impl Drop for JobCgroup {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pure_v2_system() {
        let mounts = "25 30 0:23 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";
        let host = HostCgroup::parse("0::/user.slice/user-1000.slice/a.scope\n", mounts).unwrap();
        assert_eq!(host.version, Version::V2);
        assert_eq!(
            host.memory,
            Path::new("/sys/fs/cgroup/user.slice/user-1000.slice/a.scope")
        );
        assert_eq!(host.pids, host.memory);
    }

    #[test]
    fn a_hybrid_system_has_its_controllers_on_v1() {
        let mounts = "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      32 30 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                      33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";
        let own = "5:pids:/\n4:memory:/api/9\n0::/\n";
        let host = HostCgroup::parse(own, mounts).unwrap();
        assert_eq!(host.version, Version::V1);
        assert_eq!(host.memory, Path::new("/sys/fs/cgroup/memory/api/9"));
        assert_eq!(host.pids, Path::new("/sys/fs/cgroup/pids"));
    }

    #[test]
    fn a_container_sees_only_its_part_of_the_hierarchy() {
        let mounts = "31 30 0:27 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
                      32 30 0:28 /docker/ab /sys/fs/cgroup/pids ro master:3 - cgroup cgroup rw,pids";
        let host = HostCgroup::parse("5:pids:/docker/ab\n4:memory:/docker/ab/x\n", mounts).unwrap();
        assert_eq!(host.memory, Path::new("/sys/fs/cgroup/memory/x"));
        assert_eq!(host.pids, Path::new("/sys/fs/cgroup/pids"));
    }

    #[test]
    fn no_control_groups_is_none() {
        assert_eq!(HostCgroup::parse("", ""), None);
        assert_eq!(HostCgroup::parse("0::/\n", "garbage\n1 2 3\n"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(cgroup in "[0-9:/,a-z \n-]{0,80}", mounts in "[0-9:/,a-z \n-]{0,160}") {
            let _ = HostCgroup::parse(&cgroup, &mounts);
        }
    }
}
