//! Requirements into a lock, as of a date.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::inner::{Inner, Stop, Work};
use jiff::Timestamp;

use super::uv::{Call, Program, dated};
use super::{Failure, tree};
use crate::build::after::PackagingAfter;
use crate::build::error::BuildError;
use crate::build::faults::Step;
use crate::build::lock::{self, Lock, tools_as_of};
use crate::build::project::{Packaging, version_after, version_variables};
use crate::build::spec::{Project, Spec};
use crate::domain::attempt::AttemptOutcome;
use crate::sandbox::{LENT, Mount, TESTBED};

/// A resolution.
pub(super) struct Resolved {
    /// The lock.
    pub lock: Lock,
    /// Distributions that have no wheel for this interpreter and machine, and the moment whose tools build them.
    pub sources: BTreeMap<String, Timestamp>,
}

impl Inner {
    /// Resolves what `spec` asks for, in the room: a build tool of the project may have to say what it depends on.
    pub(super) async fn resolve(&self, work: &mut Work<'_>, spec: &Spec) -> Result<Resolved, Stop> {
        if spec.requirements.is_empty() && spec.projects.is_empty() && spec.groups.is_empty() {
            return Ok(Resolved {
                lock: Lock::default(),
                sources: BTreeMap::new(),
            });
        }
        let folder = self.scratch("resolve")?;
        let (tree, files) = (folder.path().join("tree"), folder.path().join("files"));
        fs::create_dir_all(&files).map_err(BuildError::io("make the folder", &files))?;
        let pristine = work.request.tree.clone();
        let copied = tree.clone();
        let after = work.request.after.clone();
        self.blocking(move || {
            tree::copy(&pristine, &copied).map_err(BuildError::io("copy the work tree", &pristine))?;
            let files = after.iter().flat_map(PackagingAfter::files);
            tree::lay(files, &copied).map_err(BuildError::io("write into", &copied))
        })
        .await?;
        let mut lines: Vec<String> = spec.projects.iter().map(Project::requirement).collect();
        lines.extend(spec.requirements.iter().cloned());
        let write = |name: &str, lines: &[String]| {
            let path = files.join(name);
            let text = lines.join("\n") + "\n";
            fs::write(&path, text).map_err(BuildError::io("write", &path))
        };
        write("requirements.in", &lines)?;
        write("constraints.in", &spec.constraints)?;
        // A requirement that never applies takes the place of every other one on that distribution.
        let left_out = work.request.recipe.left_out.iter();
        let overrides: Vec<String> = left_out
            .map(|left| format!("{}; python_version < \"0\"", left.distribution))
            .collect();
        write("overrides.in", &overrides)?;

        let inside = Path::new(LENT).join("files");
        let mounts = vec![Mount::writable(&tree, TESTBED), Mount::writable(&files, &inside)];
        let at = |name: &str| self.room.path(&mounts, inside.join(name)).display().to_string();
        let python = work.interpreter.executable.display().to_string();
        let common = [
            "pip",
            "compile",
            "--no-header",
            "--no-annotate",
            "--no-config",
            "--python",
            &python,
        ];
        let common: Vec<String> = common.map(str::to_owned).into();

        let mut args = common.clone();
        args.extend([
            "--generate-hashes".to_owned(),
            "--output-file".to_owned(),
            at("lock.txt"),
        ]);
        if !spec.constraints.is_empty() {
            args.extend(["--constraints".to_owned(), at("constraints.in")]);
        }
        if !overrides.is_empty() {
            args.extend(["--overrides".to_owned(), at("overrides.in")]);
        }
        if spec.prereleases {
            args.extend(["--prerelease".to_owned(), "allow".to_owned()]);
        }
        for group in &spec.groups {
            args.extend(["--group".to_owned(), format!("{}:{}", group.file, group.name)]);
        }
        args.extend(dated(work.request.base_date, &work.request.recipe.newer));
        args.push(at("requirements.in"));
        let env = Self::version_env(work, spec, false);
        self.in_room(work, Step::Resolve, &mounts, env, Program::Uv(args))
            .await?;

        let lock_file = files.join("lock.txt");
        let text = fs::read_to_string(&lock_file).map_err(BuildError::io("read", &lock_file))?;
        let unlockable = |error: lock::LockError| {
            Failure::new(
                AttemptOutcome::Project,
                "unlockable-dependency",
                crate::build::index::without_hosts(&error.to_string()),
            )
        };
        let lock = Lock::read(&text).map_err(unlockable)?;

        // Which of them have a wheel here: the other lock format lists the files that will do.
        write("pinned.in", &[lock.to_text()])?;
        let mut args = common;
        args.extend(["--no-deps", "--format", "pylock.toml", "--output-file"].map(str::to_owned));
        args.push(at("pylock.toml"));
        args.extend(dated(work.request.base_date, &work.request.recipe.newer));
        args.push(at("pinned.in"));
        self.in_room(work, Step::Resolve, &mounts, vec![], Program::Uv(args))
            .await?;
        let pylock = files.join("pylock.toml");
        let text = fs::read_to_string(&pylock).map_err(BuildError::io("read", &pylock))?;
        let sources = lock::source_only(&text).map_err(|problem| {
            let detail = format!("its answer cannot be read: {problem}");
            Failure::new(AttemptOutcome::Infra, "resolver-changed", detail)
        })?;
        let date = work.request.base_date;
        let sources = sources
            .into_iter()
            .map(|(name, uploaded)| (name, tools_as_of(date, uploaded)));
        Ok(Resolved {
            lock,
            sources: sources.collect(),
        })
    }

    /// Variables that tell build tools a version, since an exported tree has no history to count commits in. In a
    /// resolution they are the project's own where its tools have such, for dependencies may be built too; tools before
    /// 2020-12 (`setuptools_scm` below 5) only know the one for all.
    pub(super) fn version_env(work: &Work<'_>, spec: &Spec, all: bool) -> Vec<(String, String)> {
        let version = version_after(work.request.release.as_deref());
        let all = all || work.request.base_date.as_second() < 1_606_780_800;
        let mut variables: Vec<(String, String)> = spec
            .projects
            .iter()
            .flat_map(|project| {
                let packaging = Self::packaging(work, &project.folder);
                version_variables(&packaging, &version, all)
            })
            .collect();
        variables.sort();
        variables.dedup();
        variables
    }

    /// What the packaging files in a folder of the tree say.
    pub(super) fn packaging(work: &Work<'_>, folder: &str) -> Packaging {
        Packaging::read(&|name| tree::read(&work.request.tree, Path::new(folder).join(name)))
    }

    async fn in_room(
        &self,
        work: &mut Work<'_>,
        step: Step,
        mounts: &[Mount],
        env: Vec<(String, String)>,
        program: Program,
    ) -> Result<String, Stop> {
        let call = Call {
            step,
            room: &self.room,
            mounts: mounts.to_vec(),
            interpreter: work.interpreter,
            cwd: Path::new(TESTBED),
            cache: &self.room_cache,
            env,
        };
        self.kit
            .run(call, program, &mut work.log, &self.context.cancel)
            .await
    }
}
