//! A place to build in: a workspace, an index of the tests' own, a project that is built from it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use camino::Utf8PathBuf;
use quarry::build::{BuildOutcome, BuildRequest, BuildSettings, Builder, Built, Failure, SearchPaths};
use quarry::domain::attempt::{AttemptOutcome, Stage};
use quarry::sandbox::{Job, JobResult, Mount, Room, RoomKind, SYSTEM_PATH, TESTBED};
use quarry::workspace::{Context, Workspace, WorkspaceLock};

use super::index::{Index, metadata};
use super::{BACKEND, PYPROJECT, recipe};

/// A workspace, an index and a builder.
pub(super) struct Site {
    pub(super) folder: tempfile::TempDir,
    pub(super) context: Context,
    pub(super) room: Room,
    pub(super) builder: Builder,
    pub(super) index: Index,
    pub(super) python: PathBuf,
    _lock: WorkspaceLock,
}

pub(super) fn variables() -> BTreeMap<String, String> {
    std::env::vars().collect()
}

impl Site {
    pub(super) fn new(kind: RoomKind) -> Self {
        Self::with(kind, |index| {
            BTreeMap::from([("UV_DEFAULT_INDEX".to_owned(), index.url())])
        })
    }

    pub(super) fn with(kind: RoomKind, build_env: impl FnOnce(&Index) -> BTreeMap<String, String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let workspace = Workspace::at(&root);
        let (context, lock) = Context::open(&workspace).unwrap();
        let chosen = Room::detect(kind, &folder.path().join("room")).unwrap();
        let index = Index::open();
        let mut build_env = build_env(&index);
        build_env.insert("UV_HTTP_RETRIES".to_owned(), "0".to_owned());
        let settings = BuildSettings {
            search: SearchPaths::of(&variables()),
            uv: None,
            build_env,
        };
        let builder = Builder::new(context.clone(), chosen.clone(), settings).unwrap();
        let python = builder.interpreter(&recipe(&[])).unwrap().executable.clone();
        Self {
            folder,
            context,
            room: chosen,
            builder,
            index,
            python,
            _lock: lock,
        }
    }

    /// A work tree of these files.
    pub(super) fn tree(&self, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let tree = self.folder.path().join(name);
        for (path, text) in files {
            let path = tree.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        tree
    }

    /// A project that depends on `alpha` and leaves a file in its tree when it is built.
    pub(super) fn project(&self, name: &str, extra: &str) -> PathBuf {
        let package =
            format!("name=pantry\nversion=1.5\nrequires=alpha\nscript=pantry = pantry:main\n{extra}");
        self.tree(
            name,
            &[
                ("pyproject.toml", PYPROJECT),
                ("tools/backend.py", BACKEND),
                ("package.txt", &package),
                ("module.py", ""),
                ("requirements/tests.txt", "beta==1.0\n-e .\n"),
                (
                    "src/pantry.py",
                    "import alpha\n\ndef main():\n    print('pantry with alpha', alpha.version)\n",
                ),
            ],
        )
    }

    /// What the index has: two versions of `alpha`, uploaded a year apart, and what they need.
    pub(super) fn stock(&self) {
        let python = &self.python;
        for (version, moment) in [("1.0", "2020-01-01T00:00:00Z"), ("2.0", "2021-01-01T00:00:00Z")] {
            let source = format!(
                "import beta_begins\nversion = '{version}'\n\ndef main():\n    print('alpha itself', version)\n"
            );
            let info = format!("alpha-{version}.dist-info");
            self.index.wheel(
                python,
                "alpha",
                version,
                moment,
                &[
                    ("alpha.py", &source),
                    (
                        &format!("{info}/METADATA"),
                        &metadata("alpha", version, &["beta"]),
                    ),
                    (
                        &format!("{info}/entry_points.txt"),
                        "[console_scripts]\nalpha = alpha:main\n[demo.plugins]\nfirst = alpha:main\n",
                    ),
                ],
            );
        }
        // A module that is only found by way of a `.pth` of its own, and data outside the packages' folder.
        self.index.wheel(
            python,
            "beta",
            "1.0",
            "2020-01-02T00:00:00Z",
            &[
                ("beta.pth", "beta_below\n"),
                ("beta_below/beta_begins.py", ""),
                ("beta-1.0.data/data/share/beta/hello.txt", "hello from beta"),
            ],
        );
    }

    pub(super) async fn built(&self, request: &BuildRequest) -> Built {
        match self.builder.build_for(request).await.unwrap() {
            BuildOutcome::Built(built) => *built,
            BuildOutcome::Failed(failure) => panic!("{failure:?}\n{}", self.log(&failure)),
            BuildOutcome::Cancelled => panic!("nobody cancelled"),
        }
    }

    pub(super) async fn failure(&self, request: &BuildRequest) -> Failure {
        match self.builder.build_for(request).await.unwrap() {
            BuildOutcome::Failed(failure) => failure,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn log(&self, failure: &Failure) -> String {
        let bytes = failure
            .log
            .as_ref()
            .map(|log| self.context.blobs.get(log).unwrap());
        String::from_utf8(bytes.unwrap_or_default()).unwrap()
    }

    pub(super) fn lock_of(&self, built: &Built) -> String {
        String::from_utf8(self.context.blobs.get(&built.environment.lock).unwrap()).unwrap()
    }

    pub(super) fn attempts(&self, number: u32) -> Vec<AttemptOutcome> {
        let candidate = format!("quarry-bench/pantry#{number}").parse().unwrap();
        let attempts = self
            .context
            .store
            .attempts(Some(Stage::Build), Some(&candidate))
            .unwrap();
        attempts.into_iter().map(|attempt| attempt.outcome).collect()
    }

    /// Runs a shell script as a test run would: in a copy of the tree with the build's products, no network.
    pub(super) async fn run(&self, built: &Built, tree: &Path, script: &str) -> JobResult {
        let toolchain = built.toolchain(tree).unwrap();
        let mut mounts = toolchain.mounts.clone();
        mounts.push(Mount::writable(tree, TESTBED));
        let mut job = Job::new(["/bin/sh", "-c", script], self.room.path(&mounts, TESTBED));
        job.mounts = mounts;
        job.env = toolchain.env.clone();
        let folders: Vec<_> = toolchain
            .path_dirs
            .iter()
            .map(|folder| folder.display().to_string())
            .collect();
        job.env
            .insert("PATH".to_owned(), format!("{}:{SYSTEM_PATH}", folders.join(":")));
        job.env
            .insert("PYTHON".to_owned(), toolchain.python.display().to_string());
        job.limits.wall = Duration::from_mins(1);
        self.room
            .run(&job, &tokio_util::sync::CancellationToken::new())
            .await
            .unwrap()
    }
}
