//! A job as the daemon is told it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use bollard::models::{
    ContainerCreateBody, HostConfig, HostConfigLogConfig, Mount as Bind, MountBindOptions,
    MountBindOptionsPropagationEnum, MountType, ResourcesUlimits,
};

use super::super::contract::{Job, Limits};
use super::super::process::system::{HOME, Piece, SYSTEM_PATH};
use super::first::SCRIPT;

/// Most open files of one process, where the machine grants so many.
const OPEN_FILES: i64 = 65_536;

/// What every container of a room has alike.
#[derive(Debug, Clone)]
pub(super) struct Walls {
    /// The image's id.
    pub(super) image: String,
    /// Variables that the image would set.
    pub(super) image_variables: Vec<String>,
    /// What of the machine's system is shown.
    pub(super) pieces: Vec<Piece>,
    /// Files of ours that stand in `/etc`, by name.
    pub(super) written: Vec<(String, PathBuf)>,
    /// Who the job is.
    pub(super) user: User,
    /// Whether the daemon lets a file system in memory belong to a user; Podman 4 knows no such option.
    pub(super) owned_tmpfs: bool,
    /// The network of jobs that have one.
    pub(super) network: String,
    /// Most processors.
    pub(super) cpus: Option<u32>,
    /// Hard limits that must not be passed.
    pub(super) ceiling: Ceiling,
    /// Labels.
    pub(super) labels: Vec<(String, String)>,
}

/// Who a job is inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct User {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Whether writable mounts are handed over to it.
    pub(super) is_other: bool,
    /// Whether the daemon maps users, and is to leave this one as it is (Podman without root).
    pub(super) keep: bool,
}

/// The hard limits that this process has: a daemon may not grant more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ceiling {
    pub(super) files: i64,
    pub(super) processes: i64,
}

impl Ceiling {
    /// Reads `/proc/self/limits`.
    pub(super) fn parse(limits: &str) -> Self {
        let hard = |name: &str, most: i64| {
            let line = limits.lines().find_map(|line| line.strip_prefix(name));
            let hard = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
            hard.map_or(most, |hard: i64| hard.min(most))
        };
        Self {
            files: hard("Max open files", OPEN_FILES),
            // Counted for a user over all containers, so this limit only bounds the whole; a job's own is the group's.
            // Podman has no more than this itself.
            processes: hard("Max processes", 1 << 15),
        }
    }
}

/// Variables that daemons set by themselves, and shells.
const UNASKED: [&str; 5] = ["HOSTNAME", "OLDPWD", "TERM", "container", "PATH"];

/// The names that must not reach `job`.
pub(super) fn dropped(walls: &Walls, job: &Job) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = walls.image_variables.iter().cloned().collect();
    names.extend(UNASKED.map(str::to_owned));
    names.retain(|name| name != "HOME" && !job.env.contains_key(name));
    names
}

fn bind(host: &Path, inside: &Path, writable: bool) -> Bind {
    Bind {
        target: Some(inside.display().to_string()),
        source: Some(host.display().to_string()),
        typ: Some(MountType::BIND),
        read_only: Some(!writable),
        bind_options: Some(MountBindOptions {
            propagation: Some(MountBindOptionsPropagationEnum::RPRIVATE),
            ..MountBindOptions::default()
        }),
        ..Bind::default()
    }
}

fn ulimits(limits: &Limits, ceiling: Ceiling) -> Vec<ResourcesUlimits> {
    let file = i64::try_from(limits.file_bytes).unwrap_or(i64::MAX);
    // Podman wants the last two both or neither.
    [
        ("core", 0),
        ("fsize", file),
        ("nofile", ceiling.files),
        ("nproc", ceiling.processes),
    ]
    .map(|(name, most)| ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(most),
        hard: Some(most),
    })
    .into()
}

/// The whole description of the container for `job`.
pub(super) fn body(walls: &Walls, job: &Job) -> ContainerCreateBody {
    let limits = &job.limits;
    let bytes = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let User { uid, gid, keep, .. } = walls.user;
    let mut mounts = Vec::new();
    for piece in &walls.pieces {
        if let Piece::Shown(path) = piece {
            mounts.push(bind(path, path, false));
        }
    }
    for (name, host) in &walls.written {
        // With the network on, names are found the daemon's way.
        if !(job.network && name == "hosts") {
            mounts.push(bind(host, &Path::new("/etc").join(name), false));
        }
    }
    mounts.extend(
        job.mounts
            .iter()
            .map(|mount| bind(&mount.host, &mount.inside, mount.writable)),
    );
    let private = |mode: &str, owner: &str| {
        format!(
            "rw,exec,nosuid,nodev,size={},mode={mode}{owner}",
            limits.tmp_bytes
        )
    };
    let owner = format!(",uid={uid},gid={gid}");
    // A container has one user: what nobody owns may be everybody's.
    let home = if walls.owned_tmpfs {
        private("0700", &owner)
    } else {
        private("1777", "")
    };
    let mut tmpfs = HashMap::from([("/tmp".to_owned(), private("1777", "")), (HOME.to_owned(), home)]);
    if walls.pieces.is_empty() {
        // In the skeleton this is a link.
        tmpfs.insert("/var/tmp".to_owned(), private("1777", ""));
        if job.mounts.iter().any(|mount| mount.inside.starts_with("/root")) {
            // Interpreters of root's own: an image's `/root` is closed to others, and runc keeps its mode.
            let rest = if walls.owned_tmpfs {
                owner.as_str()
            } else {
                ",mode=0755"
            };
            tmpfs.insert("/root".to_owned(), format!("rw,nosuid,nodev,size=1m{rest}"));
        }
    }
    let mut env: Vec<String> = job
        .env
        .iter()
        .filter(|(name, _)| *name != "HOME")
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    env.push(format!("HOME={HOME}"));
    if !job.env.contains_key("PATH") {
        // For the first process; it does not hand it on.
        env.push(format!("PATH={SYSTEM_PATH}"));
    }
    let mut cmd = ["-c", SCRIPT, "sh"].map(str::to_owned).to_vec();
    cmd.extend(job.argv.iter().cloned());
    ContainerCreateBody {
        image: Some(walls.image.clone()),
        hostname: Some("quarry".to_owned()),
        user: Some(format!("{uid}:{gid}")),
        entrypoint: Some(vec!["/bin/sh".to_owned()]),
        cmd: Some(cmd),
        env: Some(env),
        working_dir: Some(job.cwd.display().to_string()),
        labels: Some(walls.labels.iter().cloned().collect()),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        open_stdin: Some(true),
        stdin_once: Some(true),
        tty: Some(false),
        host_config: Some(HostConfig {
            mounts: Some(mounts),
            tmpfs: Some(tmpfs),
            shm_size: Some(bytes(limits.tmp_bytes)),
            network_mode: Some(if job.network {
                walls.network.clone()
            } else {
                "none".to_owned()
            }),
            userns_mode: keep.then(|| "keep-id".to_owned()),
            ipc_mode: Some("private".to_owned()),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            readonly_rootfs: Some(true),
            memory: Some(bytes(limits.memory_bytes)),
            memory_swap: Some(bytes(limits.memory_bytes)),
            pids_limit: Some(bytes(limits.processes)),
            nano_cpus: walls.cpus.map(|cpus| i64::from(cpus) * 1_000_000_000),
            ulimits: Some(ulimits(limits, walls.ceiling)),
            // What a job prints is read as it comes; a log of it would fill the daemon's disk.
            log_config: Some(HostConfigLogConfig {
                typ: Some("none".to_owned()),
                config: None,
            }),
            ..HostConfig::default()
        }),
        ..ContainerCreateBody::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hard_limits_are_read() {
        let text = "Limit                     Soft Limit           Hard Limit           Units\n\
                    Max processes             unlimited            unlimited            processes\n\
                    Max open files            1024                 20000                files\n";
        let ceiling = Ceiling::parse(text);
        assert_eq!((ceiling.files, ceiling.processes), (20_000, 1 << 15));
        assert_eq!(Ceiling::parse("").files, OPEN_FILES);
    }

    #[test]
    fn a_job_is_walled_in() {
        let walls = Walls {
            image: "sha256:1".to_owned(),
            image_variables: vec!["PYTHON_VERSION".to_owned(), "LANG".to_owned()],
            pieces: vec![Piece::Shown("/usr".into())],
            written: vec![("hosts".to_owned(), "/scratch/hosts".into())],
            user: User {
                uid: 65_532,
                gid: 65_532,
                is_other: true,
                keep: false,
            },
            owned_tmpfs: true,
            network: "bridge".to_owned(),
            cpus: Some(1),
            ceiling: Ceiling::parse(""),
            labels: vec![],
        };
        let mut job = Job::new(["true"], "/testbed");
        job.env.insert("LANG".to_owned(), "C".to_owned());
        let dropped: Vec<String> = dropped(&walls, &job).into_iter().collect();
        assert_eq!(
            dropped,
            [
                "HOSTNAME",
                "OLDPWD",
                "PATH",
                "PYTHON_VERSION",
                "TERM",
                "container"
            ]
        );
        let body = body(&walls, &job);
        let host = body.host_config.unwrap();
        assert_eq!(host.network_mode.as_deref(), Some("none"));
        assert_eq!(host.memory, host.memory_swap, "no swap beside the memory");
        assert_eq!(host.readonly_rootfs, Some(true));
        assert!(
            host.mounts
                .unwrap()
                .iter()
                .all(|mount| mount.read_only == Some(true))
        );
        assert_eq!(
            body.env.unwrap().len(),
            3,
            "its own, HOME, and a path for the first process"
        );
    }
}
