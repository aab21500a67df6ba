//! A daemon of a test's own, which it may kill.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use quarry::sandbox::DockerSettings;
use rustix::process::{Pid, Signal, kill_process};

/// A running dockerd with folders and a socket of its own; ended when dropped.
pub(crate) struct OwnDaemon {
    folder: tempfile::TempDir,
    child: Child,
}

impl OwnDaemon {
    pub(crate) fn start() -> Self {
        assert!(
            rustix::process::geteuid().is_root(),
            "this test starts a dockerd and has to be root for that"
        );
        let folder = tempfile::Builder::new().prefix("qd-").tempdir_in("/tmp").unwrap();
        let child = launch(&folder);
        let daemon = Self { folder, child };
        daemon.wait();
        daemon
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("sock")
    }

    /// The value of `DOCKER_HOST` that leads here.
    pub(crate) fn host(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    pub(crate) fn settings(&self) -> DockerSettings {
        DockerSettings::of(&BTreeMap::from([("DOCKER_HOST".to_owned(), self.host())]))
    }

    /// Asks for a path of the interface and gives the answer's body; `None` when nobody answers.
    pub(crate) fn ask(&self, path: &str) -> Option<String> {
        let mut talk = UnixStream::connect(self.socket()).ok()?;
        talk.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
        write!(talk, "GET {path} HTTP/1.0\r\nHost: d\r\n\r\n").ok()?;
        let mut answer = String::new();
        talk.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        head.contains(" 200 ").then(|| body.trim().to_owned())
    }

    /// The ids of all containers, or of those that run.
    pub(crate) fn containers(&self, all: bool) -> Vec<String> {
        let answer = self
            .ask(&format!("/containers/json?all={}", u8::from(all)))
            .unwrap();
        let list: Vec<serde_json::Value> = serde_json::from_str(&answer).unwrap();
        list.iter()
            .map(|container| container["Id"].as_str().unwrap().to_owned())
            .collect()
    }

    fn wait(&self) {
        let begun = Instant::now();
        while self.ask("/_ping").as_deref() != Some("OK") {
            if begun.elapsed() > Duration::from_mins(1) {
                let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                let last: Vec<&str> = log.lines().rev().take(5).collect();
                panic!("dockerd does not start (`scripts/setup --tests` installs it): {last:#?}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// `kill -9`, and its containerd with it: one that is only about to end would be taken for one that runs.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let file = self.folder.path().join("exec/containerd/containerd.pid");
        let pid = std::fs::read_to_string(&file)
            .ok()
            .and_then(|pid| pid.trim().parse().ok());
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
            let begun = Instant::now();
            while kill_process(pid, Signal::KILL).is_ok() && begun.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        let _ = std::fs::remove_file(&file);
    }

    /// Starts it again after it was killed.
    pub(crate) fn restart(&mut self) {
        self.child = launch(&self.folder);
        self.wait();
    }
}

fn launch(folder: &tempfile::TempDir) -> Child {
    let at = |name: &str| folder.path().join(name).display().to_string();
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(at("log"))
        .unwrap();
    Command::new("dockerd")
        .args(["--data-root", &at("data"), "--exec-root", &at("exec")])
        .args([
            "--pidfile",
            &at("pid"),
            "--host",
            &format!("unix://{}", at("sock")),
        ])
        // Not `--bridge none`: that takes the bridge from every other daemon of the machine.
        .args(["--iptables=false"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("dockerd is not installed: `scripts/setup --tests` installs it")
}

impl Drop for OwnDaemon {
    fn drop(&mut self) {
        if self.child.try_wait().ok().flatten().is_some() {
            // What a killed one left (its containerd, its mounts) is ended by one that is ended well.
            self.child = launch(&self.folder);
            let begun = Instant::now();
            while self.ask("/_ping").is_none() && begun.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.child.wait();
        // A daemon leaves its folder mounted on itself.
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let own = self.folder.path().display().to_string();
        let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
        for point in points.filter(|point| point.starts_with(&own)) {
            let _ = Command::new("umount").args(["--lazy", point]).status();
        }
    }
}
