//! What ends the jobs of an open room when Quarry is killed: a shell that waits for the end of its input.
//!
//! The pipe to it closes with Quarry's process, however that ends; then the shell kills every job that is still on its
//! list. A closed room needs none: its first process dies with its parent, and the rest with it.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;

use super::system::SYSTEM_PATH;

/// Each file of the list holds a process group, the mark in its processes' environments (which those have too that left
/// the group), and then the doors of the job's control groups, a line each.
const SCRIPT: &str = r#"trap "" HUP INT TERM QUIT
read -r _
for job in "$1"/*; do
  { read -r group && kill -KILL -- "-$group"
    read -r mark && for round in 1 2 3; do
      for process in /proc/[0-9]*; do
        grep -qzxF -e "$mark" "$process/environ" && kill -KILL "${process#/proc/}"
      done
    done
    while read -r door; do
      for round in 1 2 3; do while read -r pid; do kill -KILL "$pid"; done < "$door"; done
    done
  } < "$job"
done 2> /dev/null
rm -rf "$1""#;

/// A running guardian; it ends with the last value that holds its pipe.
#[derive(Debug)]
pub(super) struct Guardian {
    list: TempDir,
    _pipe: ChildStdin,
}

impl Guardian {
    /// Starts one, with its list in a new folder below `scratch`.
    pub(super) fn start(scratch: &Path) -> io::Result<Self> {
        let list = tempfile::Builder::new().prefix("jobs-").tempdir_in(scratch)?;
        let mut child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(list.path())
            .env_clear()
            .env("PATH", SYSTEM_PATH)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let pipe = child.stdin.take().ok_or_else(|| io::Error::other("no pipe"))?;
        Ok(Self { list, _pipe: pipe })
    }

    /// Puts a job on the list until the value is dropped.
    pub(super) fn watch(&self, group: u32, mark: &str, doors: &[PathBuf]) -> Watched {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let path = self
            .list
            .path()
            .join(NEXT.fetch_add(1, Ordering::Relaxed).to_string());
        let doors: Vec<String> = doors.iter().map(|door| format!("{}\n", door.display())).collect();
        let _ = fs::write(&path, format!("{group}\n{mark}\n{}", doors.concat()));
        Watched(path)
    }
}

/// A job on the list.
#[derive(Debug)]
pub(super) struct Watched(PathBuf);

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
