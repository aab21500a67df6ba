//! One instance's image: its environment found again, its tree sealed, its layers made.

use std::path::{Path, PathBuf};

use super::super::brake::Brake;
use super::super::error::PipelineError;
use super::super::prove::Prover;
use crate::build::run::{BuildOutcome, BuildRequest, Built};
use crate::domain::candidate::Candidate;
use crate::domain::hash::KeyHasher;
use crate::domain::ids::CommitSha;
use crate::domain::images::ImageEntry;
use crate::domain::path::RepoPath;
use crate::emit::instance::Instance;
use crate::git::{Mirror, seal, strangers};
use crate::harness::variables;
use crate::sandbox::{Images, LENT, Made, Part, TESTBED, Wanted, user_files};

/// Bumped when the same instance would become another image.
const VERSION: u32 = 1;

/// An image and whether it is new, or why there is none.
pub(super) type End = Result<(ImageEntry, bool), String>;

/// Makes images of one version's instances.
pub(super) struct Maker<'a> {
    pub(super) prover: Prover<'a>,
    pub(super) images: Images,
    pub(super) brake: Brake,
    /// Held while an image is made that others wait for.
    pub(super) shared: tokio::sync::Mutex<()>,
}

/// What an instance's three images are named by.
struct Keys {
    interpreter: String,
    environment: String,
    instance: String,
}

impl Maker<'_> {
    /// One instance's image; `None` when it was stopped.
    pub(super) async fn one(
        &self,
        row: &Instance,
        candidate: &Candidate,
    ) -> Result<Option<End>, PipelineError> {
        let context = self.prover.context;
        if context.cancel.is_cancelled() || !self.brake.admits() {
            return Ok(None);
        }
        let work = self.prover.work_folder("image-")?;
        let Some(environment) = self.prover.environment_of(row, candidate)? else {
            let reason = format!(
                "the workspace does not know the environment `{}`, or the base image has no Python {} for it",
                row.environment_key(),
                row.interpreter.as_deref().unwrap_or_default()
            );
            return Ok(Some(Err(reason)));
        };
        let request = self
            .prover
            .build_request(candidate, &environment, work.path().join("tree"))?;
        let keys = self.keys(&request, row)?;
        let name = instance(row, &keys).name();
        if let Some(found) = self.images.find(&name, &keys.instance).await? {
            let below = shared_name("environment", &keys.environment);
            for name in [&name, &below, &shared_name("interpreter", &keys.interpreter)] {
                context.workspace.use_image(name)?;
            }
            return Ok(Some(Ok((entry(row, &found, below, keys.instance), false))));
        }
        self.prover.export(candidate, &request.tree).await?;
        let built = match self.prover.builder.build_for(&request).await? {
            BuildOutcome::Built(built) => built,
            BuildOutcome::Failed(failure) => {
                return Ok(Some(Err(format!("{}: {}", failure.reason, failure.detail))));
            }
            BuildOutcome::Cancelled => return Ok(None),
        };
        if let Err(wrong) = self.sealed(candidate, &built, &request.tree).await? {
            return Ok(Some(Err(wrong)));
        }
        let (below, made) = self.make(row, &request, &built, &keys).await?;
        let is_new = made.is_new;
        Ok(Some(Ok((entry(row, &made, below, keys.instance), is_new))))
    }

    fn keys(&self, request: &BuildRequest, row: &Instance) -> Result<Keys, PipelineError> {
        let python = self.prover.builder.interpreter(&request.recipe)?;
        let base = self.images.base();
        let interpreter = KeyHasher::new("interpreter-image", VERSION)
            .json("base", &base.layers)
            .part("python", python.version.to_string().as_bytes())
            .json("folders", &python.prefixes)
            .finish();
        let environment = KeyHasher::new("environment-image", VERSION)
            .part("below", interpreter.as_bytes())
            .part("environment", row.environment_key().as_bytes())
            .finish();
        let instance = KeyHasher::new("instance-image", VERSION)
            .part("below", environment.as_bytes())
            .part("build", self.prover.builder.input_key(request)?.as_bytes())
            .json("variables", &request.recipe.env)
            .json("id", &row.instance_id)
            .finish();
        Ok(Keys {
            interpreter,
            environment,
            instance,
        })
    }

    /// Makes the exported tree what the image is to hold, and asserts that its repository holds nothing else.
    async fn sealed(
        &self,
        candidate: &Candidate,
        built: &Built,
        tree: &Path,
    ) -> Result<Result<CommitSha, String>, PipelineError> {
        built.lay_products(tree)?;
        let (mirror, commit) = (self.prover.mirror(candidate)?, candidate.base_commit);
        let (tree, products) = (tree.to_owned(), built.products.clone());
        let work = move || sealed(&mirror, commit, &tree, &products);
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| PipelineError::Broken {
                candidate: candidate.id.to_string(),
                reason: error.to_string(),
            })?
    }

    async fn make(
        &self,
        row: &Instance,
        request: &BuildRequest,
        built: &Built,
        keys: &Keys,
    ) -> Result<(String, Made), PipelineError> {
        let toolchain = built.toolchain(&request.tree)?;
        let (deps, env) = (Path::new(LENT).join("deps"), Path::new(LENT).join("env"));
        let part = |inside: &dyn Fn(&Path) -> bool| -> Vec<Part> {
            let mounts = toolchain.mounts.iter().filter(|mount| inside(&mount.inside));
            mounts
                .map(|mount| Part {
                    host: mount.host.clone(),
                    inside: mount.inside.clone(),
                    is_users: false,
                    // What else was installed into the machine's interpreter is nobody's business: an environment does
                    // not see it.
                    without: (mount.inside != deps && mount.inside != env).then_some("site-packages"),
                })
                .collect()
        };
        let workspace = &self.prover.context.workspace;
        let scratch = workspace.scratch();
        let shared = |kind: &'static str, key: &str, parts: Vec<Part>| Wanted {
            repository: format!("quarry/{kind}"),
            key: key.to_owned(),
            kind,
            parts,
            texts: if kind == "interpreter" {
                user_files()
            } else {
                vec![]
            },
            cwd: PathBuf::from("/"),
            ..Wanted::default()
        };
        let below = {
            let _turn = self.shared.lock().await;
            let parts = part(&|inside| inside != deps && inside != env);
            let wanted = shared("interpreter", &keys.interpreter, parts);
            let images = &self.images;
            let base = images.base();
            let interpreter = images.make(wanted, base, scratch.as_std_path()).await?;
            workspace.use_image(&interpreter.name)?;
            let wanted = shared("environment", &keys.environment, part(&|inside| inside == deps));
            images.make(wanted, &interpreter, scratch.as_std_path()).await?
        };
        workspace.use_image(&below.name)?;
        let mut wanted = instance(row, keys);
        wanted.parts = part(&|inside| inside == env);
        wanted.parts.push(Part {
            host: request.tree.clone(),
            inside: TESTBED.into(),
            is_users: true,
            without: None,
        });
        wanted.env = variables(&toolchain.path_dirs, &toolchain.env);
        let made = self.images.make(wanted, &below, scratch.as_std_path()).await?;
        workspace.use_image(&made.name)?;
        Ok((below.name, made))
    }
}

fn sealed(
    mirror: &Path,
    commit: CommitSha,
    tree: &Path,
    products: &[RepoPath],
) -> Result<Result<CommitSha, String>, PipelineError> {
    let mirror = Mirror::open(mirror)?;
    let root = seal(&mirror, commit, tree, products)?;
    let found = strangers(tree)?;
    Ok(match found.first() {
        None => Ok(root),
        Some(first) => Err(format!(
            "its repository is not sealed: {first} (and {} more)",
            found.len() - 1
        )),
    })
}

fn entry(row: &Instance, made: &Made, environment_image: String, key: String) -> ImageEntry {
    ImageEntry {
        instance_id: row.instance_id.clone(),
        image: made.name.clone(),
        id: made.id.clone(),
        key,
        environment_image,
        layers: made.layers.clone(),
    }
}

fn instance(row: &Instance, keys: &Keys) -> Wanted {
    let labels = [
        ("io.quarry.instance", row.instance_id.to_string()),
        ("io.quarry.base-commit", row.base_commit.to_string()),
        ("io.quarry.environment", row.environment_key().to_owned()),
    ];
    Wanted {
        repository: "quarry/instance".to_owned(),
        tag: row.instance_id.to_string(),
        key: keys.instance.clone(),
        kind: "instance",
        cwd: TESTBED.into(),
        labels: labels.map(|(name, value)| (name.to_owned(), value)).into(),
        ..Wanted::default()
    }
}

fn shared_name(kind: &'static str, key: &str) -> String {
    let wanted = Wanted {
        repository: format!("quarry/{kind}"),
        key: key.to_owned(),
        ..Wanted::default()
    };
    wanted.name()
}
