//! The command line, as clap reads it. The words here are the program's first documentation.

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::exit_code::ExitCode;
use crate::domain::ids::{BadId, CandidateId, RepoName};
use crate::pipeline::named::Named;
use crate::recipe::python::PythonSpec;

/// Builds benchmark datasets for coding agents out of real repositories, and proves that each task in them is sound.
#[derive(Debug, Parser)]
#[command(
    name = "quarry",
    version,
    about,
    long_about = "Builds benchmark datasets for coding agents out of real repositories, and proves that each task \
        in them is sound.\n\nA recipe (filters/*.toml) says what a task must be. `quarry run RECIPE --mirror MIRROR` \
        walks every merged pull request of a git mirror through\n\n    mine → filter → build → verify → emit\n\n\
        and leaves a versioned manifest and, for every pull request ever looked at, the reason why it is in or out.",
    after_long_help = ExitCode::TABLE,
    propagate_version = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// Options that every verb takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Options that every verb takes.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// The folder that holds `.quarry/` and `manifests/` [default: the nearest one with `.quarry/`, else this folder]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub workspace: Option<Utf8PathBuf>,
    /// Print the result as one JSON document on standard output
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// Say more: every attempt (-v), and what the program does inside (-vv); with --json, events as JSON lines
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Global options")]
    pub verbose: u8,
    /// Say only warnings and errors
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "verbose",
        help_heading = "Global options"
    )]
    pub quiet: bool,
    /// Draw no bars, even on a terminal
    #[arg(long, global = true, help_heading = "Global options")]
    pub no_progress: bool,
    /// How many things to do at once [default: the number of cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024),
          help_heading = "Global options")]
    pub jobs: Option<u16>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Make a workspace here, with the shipped recipes to start from
    Init(InitArgs),
    /// Look at what this machine has for the job: git, uv, interpreters, the sandbox
    Doctor(DoctorArgs),
    /// Check recipes: every key, every rule, every fact; show the plan or the facts
    Check(CheckArgs),
    /// Do the main job: mine, filter, build, verify and emit, from a mirror to a manifest
    Run(RunArgs),
    /// Read every merged pull request of a mirror into the ledger
    Mine(MineArgs),
    /// Read a mirror's release notes: entries, and the pull requests that they tell of
    Notes(super::notes::NotesArgs),
    /// Apply a recipe's rules, to what was mined or to an existing dataset
    Filter(FilterArgs),
    /// Build the environment of a repository at a commit and try its tests, or (--explain) show how that would be done
    Build(super::build::BuildArgs),
    /// Build environments and run tests before and after the gold patch
    Verify(VerifyArgs),
    /// Write the manifest of what was verified, or check one that was written
    Emit(EmitArgs),
    /// Evaluate predictions, the gold patches or the empty patch on an emitted version
    Evaluate(super::evaluate::EvaluateArgs),
    /// Tell of every pull request that is not in a version why, with the funnel
    Audit(super::audit::AuditArgs),
    /// Tell in what two versions differ: instances, tests, environments, funnels
    Diff(super::audit::DiffArgs),
    /// Compare evaluations, task by task
    Compare(super::compare::CompareArgs),
    /// Draw the instances of an emitted version that people should look at
    Sample(super::sample::SampleArgs),
    /// Ask people about an emitted version's instances, and make a version of what they let stay
    Annotate {
        /// Ask, or take the answers.
        #[command(subcommand)]
        what: super::annotate::AnnotateVerb,
    },
    /// Write an emitted version as the files that another tool reads: swebench, hf, croissant, harbor, inspect
    Export(super::export::ExportArgs),
    /// Make a version of a published dataset's rows, to audit, compare, export and verify again
    Import(super::import::ImportArgs),
    /// Make the code-only or the context-free variant of a tree, a commit or a file
    Strip(super::strip::StripArgs),
    /// Remove what can be made again: environments that nothing used for a while, left containers, old images
    Gc(GcArgs),
    /// Look after the images that containers begin from
    Images {
        /// What to do with them.
        #[command(subcommand)]
        what: ImagesVerb,
    },
    /// Say where the workspace stands
    Status,
    /// Tell a pull request's (or a commit's) whole story: facts, rules with the values seen, attempts, oracle
    Explain(ExplainArgs),
    /// Print the log of one of a pull request's attempts, or the one at an address
    Log(super::log::LogArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// `quarry init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder [default: --workspace, else this folder]
    pub folder: Option<Utf8PathBuf>,
}

/// `quarry doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Look into this base image, too: whether uv runs in it, and which interpreters there are
    #[arg(long, value_name = "IMAGE")]
    pub base_image: Option<String>,
    /// Ask this API (GitHub's own: `https://api.github.com`) what is left of each token's limits; else nobody is asked
    #[arg(long, value_name = "URL")]
    pub github_api: Option<String>,
}

/// `quarry check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The recipes
    #[arg(required_unless_present_any = ["facts", "schema"], value_name = "RECIPE")]
    pub recipes: Vec<Utf8PathBuf>,
    /// Show which rules run when, and what each reads
    #[arg(long)]
    pub plan: bool,
    /// Print every fact a rule can read, with its type and meaning
    #[arg(long)]
    pub facts: bool,
    /// Print the recipes' JSON Schema
    #[arg(long, conflicts_with = "facts")]
    pub schema: bool,
}

/// Where pull requests come from.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// A bare git mirror with `refs/pull/*`: a folder, or a URL that git clones
    #[arg(long, value_name = "PATH|URL")]
    pub mirror: Option<String>,
    /// A repository of GitHub: git clones it, and its API is asked what git cannot tell; with `--mirror`, its name alone
    #[arg(long, value_name = "OWNER/NAME", value_parser = repository)]
    pub repo: Option<RepoName>,
    /// Use the sample repository that is built into this program
    #[arg(long, conflicts_with_all = ["mirror", "repo"])]
    pub sample: bool,
}

/// A repository's name as it is given; `.git`, with which no name on a forge ends, is an address's end and not a name's.
pub(super) fn repository(text: &str) -> Result<RepoName, BadId> {
    text.strip_suffix(".git").unwrap_or(text).parse()
}

/// What is asked of GitHub, beside git.
#[derive(Debug, Clone, Default, Args)]
pub struct GithubArgs {
    /// Whom GitHub is asked about [default: what the recipe says, with `--repo` alone; with a mirror, nobody]
    #[arg(long, value_enum, value_name = "WHOM", help_heading = "GitHub")]
    pub enrich: Option<AskAbout>,
    /// Ask again what changed since it was asked
    #[arg(long, help_heading = "GitHub")]
    pub refresh: bool,
    /// Only say what asking GitHub would cost, in requests and points
    #[arg(long, help_heading = "GitHub")]
    pub dry_run: bool,
    /// Spend at most so many points; or a TOML file with `points`, `requests` and `reserve` (left of each token's limit)
    #[arg(long, value_name = "POINTS|FILE", help_heading = "GitHub")]
    pub budget: Option<String>,
    /// The API's address, where it is not GitHub's own: an Enterprise Server's is `https://HOST/api/v3`
    #[arg(
        long,
        value_name = "URL",
        env = "GITHUB_API_URL",
        hide_env_values = true,
        help_heading = "GitHub"
    )]
    pub github_api: Option<String>,
}

/// Whom GitHub is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AskAbout {
    /// Pull requests that pass a recipe's rules on what git alone knows (all, without a recipe)
    Survivors,
    /// Every merged pull request
    All,
    /// Only the repository itself
    None,
}

/// Which part of a recipe's candidates, and how to test them.
#[derive(Debug, Clone, Args)]
pub struct WorkArgs {
    /// Only pull requests merged on or after this day (UTC); overrides the recipe's `merged_since`
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub since: Option<String>,
    /// Only pull requests merged before this day (UTC); overrides the recipe's `merged_before`
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub before: Option<String>,
    /// Only these pull requests (repeatable)
    #[arg(long, value_name = "OWNER/NAME#N")]
    pub only: Vec<CandidateId>,
}

/// Where tests run.
#[derive(Debug, Clone, Args)]
pub struct SandboxArgs {
    /// The room that installs and tests run in
    #[arg(long, visible_alias = "room", value_enum, default_value_t = SandboxKind::Process)]
    pub sandbox: SandboxKind,
    /// Begin no work while less than this is free on the workspace's disk, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    pub min_free: u64,
    /// What containers begin from: `skeleton` (this machine's own programs), NAME@sha256:…, or an image id; overrides
    /// the recipe's `room.base_image`
    #[arg(long, value_name = "IMAGE")]
    pub base_image: Option<String>,
    /// Have uv install these interpreters first, where none of that version is here (`3.9,3.14`)
    #[arg(long, value_name = "VERSION,…", value_delimiter = ',')]
    pub install_python: Vec<PythonSpec>,
}

/// The rooms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SandboxKind {
    /// Namespaces and limits through the bwrap program: no network, read-only system, private /tmp
    Process,
    /// A container for each job, by a Docker or Podman daemon: no network, no capabilities, a read-only root
    Docker,
    /// No isolation at all: only for repositories you would run by hand
    None,
}

/// `quarry run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The recipe
    pub recipe: Utf8PathBuf,
    /// Where pull requests come from.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Which of them.
    #[command(flatten)]
    pub work: WorkArgs,
    /// Where tests run.
    #[command(flatten)]
    pub sandbox: SandboxArgs,
    /// What GitHub is asked.
    #[command(flatten)]
    pub github: GithubArgs,
}

/// `quarry mine`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    quarry mine --mirror psf+requests.git                      from git alone\n  \
    quarry mine --repo psf/requests --recipe filters/swebench.toml   clone, then ask GitHub about what the rules let through\n  \
    quarry mine --mirror psf+requests.git --enrich all --dry-run     what asking about every pull request would cost\n  \
    quarry mine --repo psf/requests --refresh                  ask again what changed\n  \
    quarry mine --search 'language:python stars:>5000'         repositories, to choose from\n\n\
    Tokens are read from GITHUB_TOKENS, GITHUB_TOKEN or GH_TOKEN, else from `gh auth token`; they need no scope for what is \
    public. What was asked is kept: the same command goes on where it stopped.")]
pub struct MineArgs {
    /// Where pull requests come from.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Read every pull request again, also those that are known
    #[arg(long)]
    pub again: bool,
    /// The recipe whose rules and `source.enrich` say whom GitHub is asked about
    #[arg(long, value_name = "RECIPE", help_heading = "GitHub")]
    pub recipe: Option<Utf8PathBuf>,
    /// Show what GitHub says of the repositories that a search finds (GitHub's search language); nothing is mined
    #[arg(long, value_name = "QUERY", conflicts_with_all = ["mirror", "repo", "sample", "recipe", "again"],
          help_heading = "GitHub")]
    pub search: Option<String>,
    /// How many of them, at most
    #[arg(
        long,
        value_name = "N",
        default_value_t = 50,
        requires = "search",
        help_heading = "GitHub"
    )]
    pub limit: u16,
    /// What GitHub is asked.
    #[command(flatten)]
    pub github: GithubArgs,
}

/// `quarry filter`.
#[derive(Debug, Args)]
pub struct FilterArgs {
    /// The recipe
    pub recipe: Utf8PathBuf,
    /// Filter this dataset (SWE-bench-style JSONL or Parquet; `-` for standard input) instead of the ledger
    #[arg(long, value_name = "FILE")]
    pub input: Option<Utf8PathBuf>,
    /// Write kept rows here (JSONL, or Parquet for a name that ends in .parquet) instead of standard output
    #[arg(long, value_name = "FILE", requires = "input")]
    pub out: Option<Utf8PathBuf>,
    /// Which candidates of the ledger.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `quarry verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The recipe
    pub recipe: Utf8PathBuf,
    /// Which candidates.
    #[command(flatten)]
    pub work: WorkArgs,
    /// Where tests run.
    #[command(flatten)]
    pub sandbox: SandboxArgs,
}

/// `quarry images`.
#[derive(Debug, Subcommand)]
pub enum ImagesVerb {
    /// Make one image for each instance of an emitted version; those that are there are not made again
    #[command(
        after_long_help = "An image holds what verification used: the locked environment and the base commit's tree, \
            whose repository has one root commit and nothing else. Layers: base image, interpreter, environment \
            (shared), the instance's own. Which images they are stands in `VERSION.images.json` beside the version's \
            folder. The workspace must be the one that verified the version; the room it was verified in does not \
            matter.\n\nWith the base image `skeleton` containers need this machine's programs: \
            `docker run --volume /usr:/usr:ro …`, as the list's `mounts` say. With any other base they need nothing."
    )]
    Build(ImagesBuildArgs),
    /// Say whether the container daemon has the images that emitted versions name, and those that were made of their
    /// instances; downloads nothing
    Check(ImagesCheckArgs),
}

/// `quarry images build`.
#[derive(Debug, Args)]
pub struct ImagesBuildArgs {
    /// The folder of an emitted version
    #[arg(value_name = "MANIFEST")]
    pub manifest: Utf8PathBuf,
    /// Only these instances (repeatable)
    #[arg(long, value_name = "OWNER/NAME#N")]
    pub only: Vec<CandidateId>,
    /// What images begin from: `skeleton`, NAME@sha256:…, or an image id; overrides the recipe's `room.base_image`
    #[arg(long, value_name = "IMAGE")]
    pub base_image: Option<String>,
    /// Begin no image while less than this is free where the workspace is and where the daemon keeps images, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    pub min_free: u64,
}

/// `quarry images check`.
#[derive(Debug, Args)]
pub struct ImagesCheckArgs {
    /// Folders of emitted versions
    #[arg(required = true, value_name = "MANIFEST")]
    pub manifests: Vec<Utf8PathBuf>,
}

/// `quarry gc`.
#[derive(Debug, Args)]
pub struct GcArgs {
    /// Remove environments that nothing has used for so many days
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub unused_for: u32,
    /// Only say what would be removed
    #[arg(long)]
    pub dry_run: bool,
}

/// `quarry emit`.
#[derive(Debug, Args)]
pub struct EmitArgs {
    /// The recipe whose verified instances are written
    #[arg(required_unless_present = "verify")]
    pub recipe: Option<Utf8PathBuf>,
    /// Check a written version: sums, schema, and every instance against its oracle
    #[arg(long, value_name = "DIR", conflicts_with = "recipe")]
    pub verify: Option<Utf8PathBuf>,
    /// Which candidates.
    #[command(flatten)]
    pub work: WorkArgs,
    /// Where they were verified: a verdict from another room is another verdict.
    #[command(flatten)]
    pub sandbox: SandboxArgs,
}

/// `quarry explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The pull request, or a commit that `quarry build` looked at
    #[arg(value_name = "OWNER/NAME#N|OWNER/NAME@SHA")]
    pub candidate: Named,
    /// Split and judge by this recipe [default: show what every recipe said]
    #[arg(long, value_name = "RECIPE")]
    pub recipe: Option<Utf8PathBuf>,
}

/// `quarry completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn an_addresss_end_is_no_part_of_a_repositorys_name() {
        let read = |text| super::repository(text).map(|repo| repo.to_string());
        assert_eq!(read("t/mdn.git").unwrap(), "t/mdn");
        assert_eq!(read("t/mdn.gitty").unwrap(), "t/mdn.gitty");
        assert!(read("t/.git").is_err());
    }
}
