//! The shared layer: a lock's distributions. Each is unpacked once, for whatever locks have it, and a layer is links to
//! them: a new layer costs a few folders and no download, no unpacking and no compiling of what is known.
//!
//! Wheels hold no code that runs on installing, so they are unpacked outside the room, where files can be links to
//! uv's cache. What has to be built from source is built in the room, with another cache.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::inner::{Inner, Stop, Work};
use super::resolve::Resolved;
use super::uv::{Call, Program, dated};
use super::{Failure, tree};
use crate::build::error::BuildError;
use crate::build::faults::Step;
use crate::build::key::distribution_key;
use crate::build::record::{bytecode_of, name_of_dist_info, recorded_files};
use crate::build::scripts::{PLACEHOLDER, with_interpreter};
use crate::domain::attempt::AttemptOutcome;
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
            tree::used(&layer);
            return Ok(layer);
        }
        let python = work.interpreter.identity();
        let places: BTreeMap<&str, PathBuf> = resolved
            .lock
            .pins
            .iter()
            .map(|(name, pin)| {
                let key = distribution_key(&python, name, pin, resolved.sources.get(name).copied());
                (name.as_str(), self.layers.join("dists").join(key))
            })
            .collect();
        self.unpack(work, resolved, &places).await?;
        let folder = self.scratch("deps")?;
        let made = folder.path().join("layer");
        let packages = packages(work);
        let (to, dists) = (layer.clone(), places.into_values().collect::<Vec<_>>());
        self.blocking(move || {
            fs::create_dir_all(made.join(&packages)).map_err(BuildError::io("make the folder", &made))?;
            for dist in dists {
                tree::used(&dist);
                tree::link(&dist, &made).map_err(BuildError::io("link", &dist))?;
            }
            publish(&made, &to)
        })
        .await?;
        Ok(layer)
    }

    /// Sees to it that every distribution is unpacked at its place.
    async fn unpack(
        &self,
        work: &mut Work<'_>,
        resolved: &Resolved,
        places: &BTreeMap<&str, PathBuf>,
    ) -> Result<(), Stop> {
        // One at a time: locks of one repository differ in little, so whoever waits finds most of it done.
        let turn = self.turn("distributions");
        let _turn = turn.lock().await;
        let missing = |source: bool| -> BTreeSet<&str> {
            let missing = places
                .iter()
                .filter(|(_, place)| !place.is_dir())
                .map(|(name, _)| *name);
            missing
                .filter(|name| resolved.sources.contains_key(*name) == source)
                .collect()
        };
        let mut entangled = self.unpack_wheels(work, resolved, places, missing(false)).await?;
        while let Some(name) = entangled.pop_first() {
            let left = self
                .unpack_wheels(work, resolved, places, BTreeSet::from([name]))
                .await?;
            debug_assert!(left.is_empty(), "one distribution shares its files with none");
        }
        for name in missing(true) {
            let as_of = resolved
                .sources
                .get(name)
                .copied()
                .unwrap_or(work.request.base_date);
            self.build_source(work, resolved, name, &places[name], as_of)
                .await?;
        }
        Ok(())
    }

    /// Unpacks wheels side by side, then parts them by their records. Gives back those that share a file with another:
    /// which of two such files is left is chance, so they must be unpacked one by one.
    async fn unpack_wheels<'a>(
        &self,
        work: &mut Work<'_>,
        resolved: &Resolved,
        places: &BTreeMap<&str, PathBuf>,
        mut names: BTreeSet<&'a str>,
    ) -> Result<BTreeSet<&'a str>, Stop> {
        if names.is_empty() {
            return Ok(names);
        }
        let folder = self.scratch("wheels")?;
        let prefix = folder.path().join("prefix");
        fs::create_dir_all(&prefix).map_err(BuildError::io("make the folder", &prefix))?;
        let lock = folder.path().join("wheels.txt");
        fs::write(&lock, resolved.lock.part(&names)).map_err(BuildError::io("write", &lock))?;
        let (room, cache) = self.unpacker(work);
        let mounts = vec![Mount::writable(folder.path(), TESTBED)];
        let at = |name: &str| {
            room.path(&mounts, Path::new(TESTBED).join(name))
                .display()
                .to_string()
        };
        let mut args = install_args(work, &at("wheels.txt"), &at("prefix"));
        args.push("--no-build".to_owned());
        self.call(work, room, cache, mounts, Program::Uv(args)).await?;
        self.compile(work, &prefix).await?;

        let packages = packages(work);
        let files = records(&prefix, &packages)?;
        let mut owners: BTreeMap<&str, u32> = BTreeMap::new();
        for file in files.values().flatten() {
            *owners.entry(file).or_default() += 1;
        }
        let mut entangled = BTreeSet::new();
        for name in std::mem::take(&mut names) {
            let Some(own) = files.get(name) else {
                let detail = format!("`{name}` left no record of its files");
                return Err(Failure::new(AttemptOutcome::Project, "install-failed", detail).into());
            };
            if own.iter().any(|file| owners[file.as_str()] > 1) {
                entangled.insert(name);
                continue;
            }
            let part = folder.path().join("part");
            part_off(&prefix, own, &part)?;
            name_placeholder(&part.join("bin"))?;
            publish(&part, &places[name])?;
        }
        Ok(entangled)
    }

    /// Where wheels are unpacked: outside the room, or in it where the interpreter is the image's own.
    fn unpacker(&self, work: &Work<'_>) -> (&Room, &Path) {
        match &work.interpreter.image {
            None => (&self.host, &self.host_cache),
            Some(_) => (&self.room, &self.image_cache),
        }
    }

    /// Builds one distribution from its source, with tools of `as_of`.
    async fn build_source(
        &self,
        work: &mut Work<'_>,
        resolved: &Resolved,
        name: &str,
        place: &Path,
        as_of: Timestamp,
    ) -> Result<(), Stop> {
        let folder = self.scratch("source")?;
        let (files, built) = (folder.path().join("files"), folder.path().join("built"));
        for folder in [&files, &built] {
            fs::create_dir_all(folder).map_err(BuildError::io("make the folder", folder))?;
        }
        let lock = files.join("source.txt");
        fs::write(&lock, resolved.lock.part(&BTreeSet::from([name])))
            .map_err(BuildError::io("write", &lock))?;
        let lent = Path::new(LENT);
        let mounts = vec![
            Mount::read_only(&files, lent.join("files")),
            Mount::writable(&built, lent.join("built")),
            Mount::read_only(&files, TESTBED),
        ];
        let at = |inside: &str| self.room.path(&mounts, lent.join(inside)).display().to_string();
        let mut args = install_args(work, &at("files/source.txt"), &at("built"));
        args.extend(dated(as_of, &[]));
        // A wheel that an earlier build left in the cache may have been made with tools of another day.
        args.extend(["--refresh-package".to_owned(), name.to_owned()]);
        self.call(work, &self.room, &self.room_cache, mounts, Program::Uv(args))
            .await?;
        self.compile(work, &built).await?;
        name_placeholder(&built.join("bin"))?;
        publish(&built, place)?;
        Ok(())
    }

    /// Compiles bytecode: a layer is read-only when tests run, so they would compile it anew each time. Compiling runs
    /// none of the code; files that do not compile (another Python's) are left as they are. Without bytecode a layer is
    /// as good, only slower.
    async fn compile(&self, work: &mut Work<'_>, prefix: &Path) -> Result<(), Stop> {
        let packages = packages(work);
        if !prefix.join(&packages).is_dir() {
            return Ok(());
        }
        let (room, cache) = self.unpacker(work);
        let mounts = vec![Mount::writable(prefix, TESTBED)];
        let python = work.interpreter.executable.display().to_string();
        // It is told where it will be: a scratch folder's name must not be in it.
        let place = Path::new(LENT).join("deps").join(&packages);
        let (packages, place, code) = (
            room.path(&mounts, Path::new(TESTBED).join(&packages))
                .display()
                .to_string(),
            place.display().to_string(),
            "import compileall, sys
how = {'maxlevels': 99} if sys.version_info < (3, 9) else {}
compileall.compile_dir(sys.argv[1], ddir=sys.argv[2], quiet=2, workers=0, **how)",
        );
        let argv = [&python, "-I", "-S", "-c", code, &packages, &place]
            .map(str::to_owned)
            .into();
        let compiled = self.call(work, room, cache, mounts, Program::Other(argv)).await;
        if let Err(Stop::Failed(failure)) = &compiled
            && failure.outcome == AttemptOutcome::Project
        {
            work.log.push_str("# there is no bytecode in this layer\n");
            return Ok(());
        }
        compiled
    }

    async fn call(
        &self,
        work: &mut Work<'_>,
        room: &Room,
        cache: &Path,
        mounts: Vec<Mount>,
        program: Program,
    ) -> Result<(), Stop> {
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
            .run(call, program, &mut work.log, &self.context.cancel)
            .await?;
        Ok(())
    }
}

fn packages(work: &Work<'_>) -> String {
    format!("lib/python{}/site-packages", work.interpreter.version.short())
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

/// The files of every distribution below a prefix, by its normalised name.
fn records(prefix: &Path, packages: &str) -> Result<BTreeMap<String, Vec<String>>, BuildError> {
    let folder = prefix.join(packages);
    let mut records = BTreeMap::new();
    for entry in fs::read_dir(&folder)
        .map_err(BuildError::io("read", &folder))?
        .flatten()
    {
        let Some(name) = entry.file_name().to_str().and_then(name_of_dist_info) else {
            continue;
        };
        let path = entry.path().join("RECORD");
        let record = fs::read(&path).map_err(BuildError::io("read", &path))?;
        records.insert(name, recorded_files(&String::from_utf8_lossy(&record), packages));
    }
    Ok(records)
}

/// Moves some files of a prefix, with their bytecode, to a prefix of their own.
fn part_off(prefix: &Path, files: &[String], to: &Path) -> Result<(), BuildError> {
    let carry = |path: &str| {
        let (from, to) = (prefix.join(path), to.join(path));
        if fs::symlink_metadata(&from).is_err() {
            return Ok(());
        }
        let parent = to.parent().unwrap_or(&to);
        fs::create_dir_all(parent).map_err(BuildError::io("make the folder", parent))?;
        fs::rename(&from, &to).map_err(BuildError::io("move", &from))
    };
    fs::create_dir_all(to).map_err(BuildError::io("make the folder", to))?;
    for file in files {
        carry(file)?;
        let Some((folder, begin)) = bytecode_of(file) else {
            continue;
        };
        let Ok(caches) = fs::read_dir(prefix.join(&folder)) else {
            continue;
        };
        for cache in caches.flatten() {
            if let Some(name) = cache.file_name().to_str().filter(|name| name.starts_with(&begin)) {
                carry(&format!("{folder}/{name}"))?;
            }
        }
    }
    Ok(())
}

/// Gives every script the same interpreter's name, so that a layer is the same wherever it was made.
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
        Err(_) if to.is_dir() => fs::remove_dir_all(from).map_err(BuildError::io("remove", from)),
        other => other.map_err(BuildError::io("move", from)),
    }
}
