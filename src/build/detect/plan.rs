//! What a file says is done to test the project: steps, as an automation or a person would take them.

use crate::domain::settings::Place;

/// Where a plan comes from; earlier kinds are nearer to what is really run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// A job of the project's automation.
    Job,
    /// A tox environment.
    Tox,
    /// A nox session.
    Nox,
    /// An environment of hatch.
    Hatch,
    /// A target of a Makefile.
    Make,
    /// A set of requirements, by its name.
    Set,
    /// A requirements file, by its name.
    File,
    /// A conda environment.
    Conda,
    /// Nothing: the project alone.
    Bare,
}

/// A way to test the project.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) source: Source,
    /// What it is called there: `tests`, `py311`.
    pub(super) name: String,
    /// Where it begins.
    pub(super) place: Place,
    pub(super) steps: Vec<Step>,
    /// Its worth among plans of its kind: the higher, the earlier.
    pub(super) worth: i32,
}

impl Plan {
    /// The plan in words: "the job `tests`".
    pub(super) fn title(&self) -> String {
        let name = &self.name;
        match self.source {
            Source::Job => format!("the automation's job `{name}`"),
            Source::Tox => format!("the tox environment `{name}`"),
            Source::Nox => format!("the nox session `{name}`"),
            Source::Hatch => format!("the hatch environment `{name}`"),
            Source::Make => format!("the make target `{name}`"),
            Source::Set => format!("the set of requirements `{name}`"),
            Source::File => format!("the requirements file `{name}`"),
            Source::Conda => format!("the conda environment `{name}`"),
            Source::Bare => "the project alone".to_owned(),
        }
    }

    /// What the name gives to the proposal's own name.
    pub(super) fn slug(&self) -> String {
        let kind = match self.source {
            Source::Job => "job",
            Source::Tox => "tox",
            Source::Nox => "nox",
            Source::Hatch => "hatch",
            Source::Make => "make",
            Source::Set => "set",
            Source::File => "file",
            Source::Conda => "conda",
            Source::Bare => return "bare".to_owned(),
        };
        let mut slug = kind.to_owned();
        for word in self.name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.') {
            if !word.is_empty() && slug.len() < 40 {
                slug.push('-');
                slug.push_str(&word.to_ascii_lowercase());
            }
        }
        slug
    }
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) place: Place,
    pub(super) act: Act,
}

impl Step {
    /// Installs one dependency group, without the project.
    pub(super) fn group(name: &str, place: Place) -> Self {
        let wanted = Wanted {
            sets: vec![name.to_owned()],
            without_project: true,
            ..Wanted::default()
        };
        Self {
            place,
            act: Act::Project(wanted),
        }
    }
}

/// What a step does, as far as detection understands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// Installs: a line in pip's language.
    Install(String),
    /// Installs the project and sets of requirements, by the project's manager.
    Project(Wanted),
    /// Runs tests.
    Run(Tool, Vec<String>),
    /// Sets a variable.
    Env(String, String),
    /// Installs a package of the operating system.
    System(String),
    /// Goes on somewhere else.
    Go(Elsewhere),
    /// Does nothing: something is to be said of what is done here.
    Note(String),
}

/// What a project's manager (poetry, pdm, uv, hatch, flit, pipenv) is told to install.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the switches of other programs"
)]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Named groups and extras.
    pub(super) sets: Vec<String>,
    /// Every group or extra there is.
    pub(super) all_groups: bool,
    /// Every extra there is.
    pub(super) all_extras: bool,
    /// The groups that come without being named.
    pub(super) defaults: bool,
    /// Not the project itself.
    pub(super) without_project: bool,
}

/// Somewhere else where steps are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Elsewhere {
    /// tox, with the environments that are named (none: its list).
    Tox(Vec<String>),
    /// nox, with the sessions that are named (none: its list).
    Nox(Vec<String>),
    /// A target of the Makefile (empty: its first).
    Make(String),
    /// A script with a name.
    Script(String),
    /// A script in one of hatch's environments (empty: the default one).
    Hatch(String, String),
    /// A file of shell commands in the tree.
    Shell(String),
    /// A conda environment's file (empty: which is not known).
    Conda(String),
}

/// What runs tests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tool {
    /// pytest.
    Pytest,
    /// The standard library's runner.
    Unittest,
    /// A program of the tree that may be one of unittest's, by its path (`tests/runtests.py`, `manage.py`); `-m` where it is
    /// a module, which is the first of its arguments.
    Script(String),
    /// Any other, by its name: `nosetests`, `trial`.
    Other(String),
}
