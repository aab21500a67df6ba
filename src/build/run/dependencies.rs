//! The shared layer: a lock's distributions, installed once.
//!
//! Wheels hold no code that runs on installing, so they are unpacked outside the room, where files can be links to
//! uv's cache. What has to be built from source is built in the room, with another cache, and then moved in.

use std::fs;
use std::path::{Path, PathBuf};

use super::inner::{Inner, Stop, Work};
use super::resolve::Resolved;
use super::tree;
use super::uv::{Call, Program, dated};
use crate::build::error::BuildError;
use crate::build::faults::Step;
use crate::build::scripts::{PLACEHOLDER, with_interpreter};
use crate::sandbox::{LENT, Mount, Room, TESTBED};

impl Inner {
    /// The layer of `key`: made if it is not there. It appears whole or not at all, and one builder makes it while
    /// others wait.
    pub(super) async fn dependencies(
        &self,
        work: &mut Work<'_>,
        key: &str,
        resolved: &Resolved,
    ) -> Result<PathBuf, Stop> {
        let layer = self.layers.join("deps").join(key);
        let turn = self.turn(key);
        let _turn = turn.lock().await;
        if layer.is_dir() {
            return Ok(layer);
        }
        let folder = self.scratch("deps")?;
        let prefix = folder.path().join("prefix");
        let packages = prefix
            .join("lib")
            .join(format!("python{}", work.interpreter.version.short()));
        let packages = packages.join("site-packages");
        fs::create_dir_all(&packages).map_err(BuildError::io("make the folder", &packages))?;
        self.unpack_wheels(work, folder.path(), &prefix, resolved).await?;
        if !resolved.from_source.is_empty() {
            self.build_sources(work, folder.path(), &prefix, resolved).await?;
        }
        let (from, to) = (prefix, layer.clone());
        self.blocking(move || {
            name_placeholder(&from.join("bin"))?;
            publish(&from, &to)
        })
        .await?;
        Ok(layer)
    }

    async fn unpack_wheels(
        &self,
        work: &mut Work<'_>,
        folder: &Path,
        prefix: &Path,
        resolved: &Resolved,
    ) -> Result<(), Stop> {
        let wheels = resolved.lock.part(&resolved.from_source, false);
        if wheels.is_empty() {
            return Ok(());
        }
        let lock = folder.join("wheels.txt");
        fs::write(&lock, wheels).map_err(BuildError::io("write", &lock))?;
        let args = install_args(work, &lock.display().to_string(), &prefix.display().to_string());
        // Bytecode now: a layer is read-only when tests run, so they would compile it anew each time.
        let args = args
            .into_iter()
            .chain(["--no-build".to_owned(), "--compile-bytecode".to_owned()])
            .collect();
        self.layer_call(work, &self.host, &self.host_cache, vec![], folder, args)
            .await
    }

    async fn build_sources(
        &self,
        work: &mut Work<'_>,
        folder: &Path,
        prefix: &Path,
        resolved: &Resolved,
    ) -> Result<(), Stop> {
        let (files, built) = (folder.join("files"), folder.join("built"));
        for folder in [&files, &built] {
            fs::create_dir_all(folder).map_err(BuildError::io("make the folder", folder))?;
        }
        let lock = files.join("sources.txt");
        let text = resolved.lock.part(&resolved.from_source, true);
        fs::write(&lock, text).map_err(BuildError::io("write", &lock))?;
        let lent = Path::new(LENT);
        let mounts = vec![
            Mount::read_only(&files, lent.join("files")),
            Mount::writable(&built, lent.join("built")),
        ];
        let at = |inside: &str| self.room.path(&mounts, lent.join(inside)).display().to_string();
        let mut args = install_args(work, &at("files/sources.txt"), &at("built"));
        args.extend(dated(work.request.base_date));
        // A wheel that an earlier build left in the cache may have been made with tools of another day.
        args.extend(
            resolved
                .from_source
                .iter()
                .flat_map(|name| ["--refresh-package".to_owned(), name.clone()]),
        );
        args.push("--compile-bytecode".to_owned());
        self.layer_call(work, &self.room, &self.room_cache, mounts, &built, args)
            .await?;
        let to = prefix.to_owned();
        self.blocking(move || tree::merge(&built, &to).map_err(BuildError::io("merge", &to)))
            .await?;
        Ok(())
    }

    async fn layer_call(
        &self,
        work: &mut Work<'_>,
        room: &Room,
        cache: &Path,
        mut mounts: Vec<Mount>,
        cwd: &Path,
        args: Vec<String>,
    ) -> Result<(), Stop> {
        mounts.push(Mount::writable(cwd, TESTBED));
        let call = Call {
            step: Step::Dependencies,
            room,
            mounts,
            interpreter: work.interpreter,
            cwd: Path::new(TESTBED),
            cache,
            env: vec![],
        };
        self.kit
            .run(call, Program::Uv(args), &mut work.log, &self.context.cancel)
            .await?;
        Ok(())
    }
}

fn install_args(work: &Work<'_>, lock: &str, prefix: &str) -> Vec<String> {
    let python = work.interpreter.executable.display().to_string();
    [
        "pip",
        "install",
        "--no-config",
        "--no-deps",
        "--require-hashes",
        // Nothing goes into the interpreter itself, whatever marker a distribution put there.
        "--break-system-packages",
        "--python",
        &python,
        "--prefix",
        prefix,
        "--requirements",
        lock,
    ]
    .map(str::to_owned)
    .into()
}

/// Gives every script the same interpreter's name, so that the layer is the same wherever it was made.
fn name_placeholder(folder: &Path) -> Result<(), BuildError> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for path in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
    {
        let script = fs::read(&path).map_err(BuildError::io("read", &path))?;
        if let Some(script) = with_interpreter(&script, PLACEHOLDER) {
            replace(&path, &script)?;
        }
    }
    Ok(())
}

/// Writes a new file in the place of `path`, which may be a link to a cache and must not be written through.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    let mode = fs::metadata(path)
        .map_err(BuildError::io("read", path))?
        .permissions();
    fs::remove_file(path).map_err(BuildError::io("replace", path))?;
    fs::write(path, bytes).map_err(BuildError::io("write", path))?;
    fs::set_permissions(path, mode).map_err(BuildError::io("write", path))
}

/// Makes a finished folder appear at its place in one step. Whoever was there first stays.
pub(super) fn publish(from: &Path, to: &Path) -> Result<(), BuildError> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(BuildError::io("make the folder", parent))?;
    }
    match fs::rename(from, to) {
        Err(_) if to.is_dir() => Ok(()),
        other => other.map_err(BuildError::io("move", from)),
    }
}
