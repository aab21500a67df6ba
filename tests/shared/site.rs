//! A workspace with one tiny candidate, and a Python to run its tests with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use camino::Utf8PathBuf;
use quarry::build::SearchPaths;
use quarry::domain::attempt::{Attempt, Stage};
use quarry::domain::path::RepoPath;
use quarry::recipe::model::{Runner, Verification};
use quarry::sandbox::{FurnishError, Furnishing, Mount, Room, RoomKind, Toolchain};
use quarry::verify::{Failure, Patches, Subject, Verified, Verifier, VerifyOutcome, VerifyRequest};
use quarry::workspace::{Context, Workspace, WorkspaceLock};

/// Some Python with its standard library, and one file that "installing" leaves in the work tree.
pub(crate) struct Plain(pub(crate) PathBuf);

impl Furnishing for Plain {
    fn toolchain(&self, _tree: &Path) -> Result<Toolchain, FurnishError> {
        let python = self.0.canonicalize().unwrap();
        let prefix = python.parent().unwrap().parent().unwrap();
        let mounts = if prefix.starts_with("/usr") {
            vec![]
        } else {
            vec![Mount::read_only(prefix, prefix)]
        };
        let env = BTreeMap::from([("FLAVOUR".to_owned(), "plain".to_owned())]);
        Ok(Toolchain {
            mounts,
            path_dirs: vec![python.parent().unwrap().to_owned()],
            python,
            env,
        })
    }

    fn lay_products(&self, tree: &Path) -> Result<(), FurnishError> {
        std::fs::write(tree.join("product.txt"), "left by the install").unwrap();
        Ok(())
    }
}

/// A patch that adds one file.
pub(crate) fn adds(path: &str, text: &str) -> Vec<u8> {
    let lines = text
        .lines()
        .fold(String::new(), |lines, line| lines + "+" + line + "\n");
    let count = text.lines().count();
    format!("diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{count} @@\n{lines}")
        .into_bytes()
}

pub(crate) struct Site {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) context: Context,
    pub(crate) verifier: Verifier,
    _lock: WorkspaceLock,
}

impl Site {
    pub(crate) fn new(kind: RoomKind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let workspace = Workspace::at(&place);
        let (context, lock) = Context::open(&workspace).unwrap();
        let room = Room::detect(kind, &folder.path().join("room")).unwrap();
        let verifier = Verifier::new(context.clone(), room).unwrap();
        let tree = folder.path().join("tree");
        std::fs::create_dir_all(tree.join("tests")).unwrap();
        std::fs::write(tree.join("lib.py"), "VALUE = 1\n").unwrap();
        std::fs::write(tree.join("tests/__init__.py"), "").unwrap();
        Self {
            folder,
            context,
            verifier,
            _lock: lock,
        }
    }

    pub(crate) fn request(&self, tests: &str, gold: &str) -> VerifyRequest {
        VerifyRequest {
            subject: Subject {
                candidate: "quarry-bench/tiny#1".parse().unwrap(),
                base_commit: "d16bfe05a744909de4b27f5875fe0d4ed41ce607".parse().unwrap(),
                patches: Patches {
                    test: adds("tests/test_lib.py", tests),
                    gold: gold.into(),
                },
                touched: vec![RepoPath::from("tests/test_lib.py")],
                environment_key: "plain".to_owned(),
                variables: BTreeMap::new(),
                settings: Verification {
                    runner: Runner::Unittest,
                    args: vec![],
                    ..Verification::default()
                },
                needs_fail_to_pass: false,
            },
            tree: self.folder.path().join("tree"),
            environment: Arc::new(Plain(crate::python::python())),
            again: false,
        }
    }

    pub(crate) async fn failure(&self, request: &VerifyRequest) -> Failure {
        match self.verifier.verify(request).await.unwrap() {
            VerifyOutcome::Failed(failure) => failure,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        self.context.store.attempts(Some(Stage::Verify), None).unwrap()
    }

    pub(crate) fn log(&self, failure: &Failure) -> String {
        String::from_utf8(self.context.blobs.get(failure.log.as_ref().unwrap()).unwrap()).unwrap()
    }

    /// What runs left in the scratch folder, beside the runner's own files.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.context.workspace.scratch()).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "runner")
            .collect()
    }

    /// A request whose tests run under pytest; `tree` are more files of the base tree.
    pub(crate) fn pytest_request(&self, tests: &str, gold: &str, tree: &[(&str, &str)]) -> VerifyRequest {
        for (name, text) in tree {
            let path = self.folder.path().join("tree").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut request = self.request(tests, gold);
        request.subject.settings = Verification::default();
        request.environment = Arc::new(WithPytest::new(&self.folder.path().join("env")));
        request
    }

    /// Verifies what must come to an oracle.
    pub(crate) async fn verified(&self, request: &VerifyRequest) -> Verified {
        match self.verifier.verify(request).await.unwrap() {
            VerifyOutcome::Verified(verified) => *verified,
            VerifyOutcome::Failed(failure) => panic!("{failure:?}\n{}", self.log(&failure)),
            VerifyOutcome::Cancelled => panic!("cancelled"),
        }
    }
}

/// A virtual environment with pytest.
pub(crate) struct WithPytest {
    folder: PathBuf,
    prefix: PathBuf,
}

impl WithPytest {
    fn new(folder: &Path) -> Self {
        let folder = folder.to_owned();
        let search = SearchPaths::of(&std::env::vars().collect());
        let found = search.interpreters();
        let python = found
            .iter()
            .find(|python| python.version.short() == "3.11")
            .or(found.last())
            .unwrap();
        let uv = |args: &[&str]| {
            let output = Command::new(search.uv().unwrap())
                .args(args)
                .env("UV_PYTHON_DOWNLOADS", "never")
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{args:?}: {text}");
        };
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        uv(&["venv", "--python", &text(&python.executable), &text(&folder)]);
        let inside = text(&folder.join("bin/python"));
        uv(&["pip", "install", "--python", &inside, "pytest==8.3.5"]);
        let prefix = python.executable.canonicalize().unwrap();
        Self {
            folder,
            prefix: prefix.parent().unwrap().parent().unwrap().to_owned(),
        }
    }
}

impl Furnishing for WithPytest {
    fn toolchain(&self, _tree: &Path) -> Result<Toolchain, FurnishError> {
        let mut mounts = vec![Mount::read_only(&self.folder, &self.folder)];
        if !self.prefix.starts_with("/usr") {
            mounts.push(Mount::read_only(&self.prefix, &self.prefix));
        }
        Ok(Toolchain {
            mounts,
            path_dirs: vec![self.folder.join("bin")],
            python: self.folder.join("bin/python"),
            env: BTreeMap::new(),
        })
    }

    fn lay_products(&self, _tree: &Path) -> Result<(), FurnishError> {
        Ok(())
    }
}
