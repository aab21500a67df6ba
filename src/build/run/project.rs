//! A candidate's own layer: a small virtual environment over the shared layer, with the repository's packages
//! installed editable from the work tree.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::dependencies::publish;
use super::inner::{Inner, Stop, Work};
use super::uv::{Call, Program, dated};
use super::venv::{self, Places, write_script};
use super::{Failure, tree};
use crate::build::error::BuildError;
use crate::build::faults::Step;
use crate::build::products::compare;
use crate::build::project::Packaging;
use crate::build::scripts::{console_entries, console_script};
use crate::build::spec::{Project, Spec};
use crate::domain::attempt::AttemptOutcome;
use crate::domain::path::RepoPath;
use crate::sandbox::{LENT, Mount, TESTBED};

/// What a finished layer says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Layer {
    /// Files that the install left in the work tree; they are below `overlay/`.
    pub products: Vec<RepoPath>,
    /// Where the environment was while it was built, as its files name it.
    pub env: String,
    /// Where the work tree was, as the environment's files name it.
    pub tree: String,
}

impl Layer {
    /// Reads a finished layer's own words.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join("layer.json")).ok()?).ok()
    }
}

impl Inner {
    /// The layer of `key`, made if it is not there.
    pub(super) async fn project(
        &self,
        work: &mut Work<'_>,
        key: &str,
        spec: &Spec,
        deps: &Path,
    ) -> Result<(PathBuf, Layer), Stop> {
        let place = self.layers.join("projects").join(key);
        let turn = self.turn(key);
        let _turn = turn.lock().await;
        if let Some(layer) = Layer::read(&place) {
            tree::used(&place);
            return Ok((place, layer));
        }
        let folder = self.scratch("project")?;
        let (made, tree) = (folder.path().join("made"), folder.path().join("tree"));
        let (env, overlay) = (made.join("env"), made.join("overlay"));
        for folder in [&env, &overlay] {
            fs::create_dir_all(folder).map_err(BuildError::io("make the folder", folder))?;
        }
        let mounts = vec![
            Mount::writable(&tree, TESTBED),
            Mount::writable(&env, Path::new(LENT).join("env")),
            Mount::read_only(deps, Path::new(LENT).join("deps")),
        ];
        let places = Places {
            env: self.room.path(&mounts, Path::new(LENT).join("env")),
            deps: self.room.path(&mounts, Path::new(LENT).join("deps")),
        };
        venv::make(work.interpreter, &env, &places)?;
        let mut products = vec![];
        if spec.projects.is_empty() {
            venv::lend(deps, &env, &places)?;
        } else {
            let (pristine, copied) = (work.request.tree.clone(), tree.clone());
            let before = self
                .blocking(move || {
                    tree::copy(&pristine, &copied)
                        .and_then(|()| tree::look(&copied))
                        .map_err(BuildError::io("copy the work tree", &pristine))
                })
                .await?;
            self.install(work, spec, &mounts, &env, &tree, &places).await?;
            venv::lend(deps, &env, &places)?;
            let io = || BuildError::io("look at", &tree);
            let after = tree::look(&tree).map_err(io())?;
            let differences = compare(&before, &after);
            let mut dirtied = differences.removed;
            for path in differences.touched {
                if !tree::is_same(&path, &work.request.tree, &tree).map_err(io())? {
                    dirtied.push(path);
                }
            }
            if let Some(first) = dirtied.first() {
                let more = dirtied.len() - 1;
                let detail = format!("the install changed `{first}` and {more} other tracked files");
                let _ = writeln!(work.log, "# changed or removed: {dirtied:?}");
                return Err(Failure::new(AttemptOutcome::Project, "build-dirtied-tree", detail).into());
            }
            products = differences.created;
            tree::move_files(&products, &tree, &overlay).map_err(io())?;
        }
        venv::forget_when(&env, work.interpreter)?;
        tree::remove_bytecode(&env).map_err(BuildError::io("clean", &env))?;
        let layer = Layer {
            products,
            env: places.env.display().to_string(),
            tree: self.room.path(&mounts, TESTBED).display().to_string(),
        };
        let own_words = made.join("layer.json");
        let text = serde_json::to_vec(&layer).unwrap_or_default();
        fs::write(&own_words, text).map_err(BuildError::io("write", &own_words))?;
        publish(&made, &place)?;
        Ok((place, layer))
    }

    async fn install(
        &self,
        work: &mut Work<'_>,
        spec: &Spec,
        mounts: &[Mount],
        env: &Path,
        tree: &Path,
        places: &Places,
    ) -> Result<(), Stop> {
        let python = places.env.join("bin/python").display().to_string();
        let variables = Self::version_env(work, spec, true);
        for project in &spec.projects {
            let packaging = Self::packaging(work, &project.folder);
            if packaging.only_develops(work.request.base_date, &work.interpreter.version) {
                self.develop(work, project, &packaging, mounts, env, tree, places, &variables)
                    .await?;
                continue;
            }
            let bare = Project {
                extras: std::collections::BTreeSet::new(),
                ..project.clone()
            };
            let mut args: Vec<String> = ["pip", "install", "--no-config", "--no-deps", "--python", &python]
                .map(str::to_owned)
                .into();
            args.extend(dated(work.request.base_date, &work.request.recipe.newer));
            args.extend(["--editable".to_owned(), bare.requirement()]);
            let program = Program::Uv(args);
            match self
                .in_env(work, mounts, TESTBED.into(), variables.clone(), program)
                .await
            {
                Err(Stop::NoEditable) if packaging.has_setup_py => {
                    self.develop(work, project, &packaging, mounts, env, tree, places, &variables)
                        .await?;
                }
                Err(Stop::NoEditable) => {
                    let detail = "its build tool knows no editable installs and there is no `setup.py`";
                    return Err(Failure::new(AttemptOutcome::Project, "no-editable-install", detail).into());
                }
                other => {
                    other?;
                }
            }
        }
        Ok(())
    }

    /// The way before PEP 660: `setup.py develop`, with build tools of the day in a folder of their own.
    #[expect(clippy::too_many_arguments, reason = "the parts of one install, used once")]
    async fn develop(
        &self,
        work: &mut Work<'_>,
        project: &Project,
        packaging: &Packaging,
        mounts: &[Mount],
        env: &Path,
        tree: &Path,
        places: &Places,
        variables: &[(String, String)],
    ) -> Result<(), Stop> {
        work.log
            .push_str("# no editable installs by PEP 660 here: `setup.py develop` instead\n");
        let folder = self.scratch("tools")?;
        let inside = Path::new(LENT).join("tools");
        let mut mounts = mounts.to_vec();
        mounts.push(Mount::writable(folder.path(), &inside));
        let tools = self.room.path(&mounts, &inside).display().to_string();
        let python = places.env.join("bin/python").display().to_string();
        let cwd = Path::new(TESTBED).join(&project.folder);
        let mut variables = variables.to_vec();
        variables.push(("PYTHONPATH".to_owned(), tools.clone()));

        let mut wanted = packaging.build_tools();
        // Twice at most: what the files name, then what the build tool asks for when it is there.
        for round in 0..2 {
            let mut args: Vec<String> = [
                "pip",
                "install",
                "--no-config",
                "--python",
                &python,
                "--target",
                &tools,
            ]
            .map(str::to_owned)
            .into();
            args.extend(dated(work.request.base_date, &work.request.recipe.newer));
            args.extend(wanted.iter().cloned());
            self.in_env(work, &mounts, cwd.clone(), variables.clone(), Program::Uv(args))
                .await?;
            if round == 1 {
                break;
            }
            let ask = vec![
                python.clone(),
                "-c".to_owned(),
                ASK_TOOLS.to_owned(),
                format!("{tools}/asked.json"),
            ];
            self.in_env(work, &mounts, cwd.clone(), variables.clone(), Program::Other(ask))
                .await?;
            let asked = fs::read(folder.path().join("asked.json")).unwrap_or_default();
            let asked: Vec<String> = serde_json::from_slice(&asked).unwrap_or_default();
            let before = wanted.len();
            wanted.extend(
                asked
                    .into_iter()
                    .filter(|tool| tool != "wheel" && tool != "setuptools"),
            );
            if wanted.len() == before {
                break;
            }
        }
        let run = [
            &python,
            "-c",
            RUN_SETUP,
            "develop",
            "--no-deps",
            "--exclude-scripts",
        ];
        let run = run.map(str::to_owned).into();
        self.in_env(work, &mounts, cwd, variables, Program::Other(run))
            .await?;
        for path in tree::look(tree)
            .map_err(BuildError::io("look at", tree))?
            .into_keys()
        {
            let Some(path) = path
                .to_str()
                .filter(|path| path.ends_with(".egg-info/entry_points.txt"))
            else {
                continue;
            };
            let text = tree::read(tree, path).unwrap_or_default();
            for (name, module, attribute) in console_entries(&String::from_utf8_lossy(&text)) {
                write_script(
                    &env.join("bin").join(name),
                    &console_script(&python, &module, &attribute),
                )?;
            }
        }
        Ok(())
    }

    async fn in_env(
        &self,
        work: &mut Work<'_>,
        mounts: &[Mount],
        cwd: PathBuf,
        env: Vec<(String, String)>,
        program: Program,
    ) -> Result<String, Stop> {
        let call = Call {
            step: Step::Project,
            room: &self.room,
            mounts: mounts.to_vec(),
            interpreter: work.interpreter,
            cwd: &cwd,
            cache: &self.room_cache,
            env,
        };
        self.kit
            .run(call, program, &mut work.log, &self.context.cancel)
            .await
    }
}

/// Asks setuptools what the project's `setup.py` needs before it can run (`setup_requires`).
const ASK_TOOLS: &str = "import json, sys
from setuptools import build_meta
sys.path.insert(0, '')
out = sys.argv.pop()
hook = getattr(build_meta, '__legacy__', build_meta).get_requires_for_build_wheel
asked = hook()
open(out, 'w').write(json.dumps(asked))";

/// Runs `setup.py` with setuptools in place, as installers did.
const RUN_SETUP: &str = "import sys, setuptools, tokenize
sys.argv[0] = 'setup.py'
__file__ = 'setup.py'
with tokenize.open(__file__) as f:
    code = f.read().replace('\\r\\n', '\\n')
exec(compile(code, __file__, 'exec'))";
