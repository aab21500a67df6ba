//! An instance's image as a Dockerfile, and the shell lines that test in it. The image holds what verification used: the
//! interpreter, the lock, the base commit's tree as a repository of one commit. Building it needs the network, testing none.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Version;
use crate::domain::base64;
use crate::domain::environment::VERSION_VARIABLES;
use crate::domain::patch::Part;
use crate::domain::runner_files::{CONFTEST, CUSTOMIZE, PYTEST_INI, RUNNERS, is_test_folder};
use crate::emit::instance::{Instance, PatchField};

/// Where the tree is.
pub const TREE: &str = "/testbed";
/// The program that tells outcomes, for images.
pub const REPORT: &[u8] = include_bytes!("../../../data/export/quarry_report.py");

/// Why an instance cannot be tested by shell lines alone.
pub fn refusal(instance: &Instance) -> Option<String> {
    if instance.environment.is_none() {
        return Some(
            "it was imported, and nobody knows its environment: verify it again first (`reverify.toml`)"
                .to_owned(),
        );
    }
    match instance.setup.runner.as_str() {
        "pytest" | "unittest" => None,
        "" => {
            Some("the version was emitted before rows said how tests are started: emit it again".to_owned())
        }
        runner => Some(format!(
            "its runner is `{runner}`, a program of the project's own"
        )),
    }
}

/// The Dockerfile; it copies `lock.txt` from beside it.
pub fn dockerfile(version: &Version, instance: &Instance) -> String {
    let dataset = &version.manifest.dataset;
    let mut text = format!(
        "# {} of {} {}: the network is needed when this is built, not when tests run.\n\
         FROM python:{}-slim\n\
         RUN apt-get update && apt-get install -y --no-install-recommends git build-essential && rm -rf /var/lib/apt/lists/*\n",
        instance.instance_id,
        dataset.name,
        dataset.version,
        instance.interpreter.as_deref().unwrap_or_default()
    );
    let resolver = resolver(version, instance);
    let _ = writeln!(text, "RUN pip install --no-cache-dir {resolver}");
    let _ = writeln!(
        text,
        "ENV UV_SYSTEM_PYTHON=1 UV_NO_CACHE=1 UV_EXCLUDE_NEWER={}",
        instance.exclude_newer.unwrap_or(instance.created_at)
    );
    for (name, value) in &instance.setup.variables {
        let _ = writeln!(text, "ENV {name}={}", quoted(value));
    }
    let _ = writeln!(text, "WORKDIR {TREE}");
    // Of the history nothing stays: a later commit would tell the solution.
    let _ = writeln!(
        text,
        "RUN git init -q . && git fetch -q --depth 1 https://github.com/{} {} && git checkout -q FETCH_HEAD && rm -rf .git",
        instance.repo, instance.base_commit
    );
    let _ = writeln!(text, "COPY lock.txt /opt/quarry/lock.txt");
    let _ = writeln!(
        text,
        "RUN uv pip install --no-deps --require-hashes -r /opt/quarry/lock.txt"
    );
    let projects = projects(&instance.setup.install);
    if !projects.is_empty() {
        let version = instance.version.as_ref();
        let told: BTreeSet<&str> = VERSION_VARIABLES.map(|(_, variable)| variable).into();
        let version = version.map_or(String::new(), |version| {
            told.iter()
                .fold(String::new(), |told, name| format!("{told}{name}={version} "))
        });
        let _ = writeln!(
            text,
            "RUN {version}uv pip install --no-deps{}",
            words(projects.iter().flat_map(|project| ["-e", project]))
        );
    }
    text.push_str(
        "RUN git init -q -b main . && git add -A && git -c user.name=quarry -c user.email=quarry@example.org commit -q -m base \
         && git rev-parse HEAD > /opt/quarry/base\n",
    );
    text
}

/// The resolver as pip installs it: `uv 0.13.9` → `uv==0.13.9`.
fn resolver(version: &Version, instance: &Instance) -> String {
    let environments = &version.manifest.environments;
    let entry = environments
        .iter()
        .find(|entry| entry.key == instance.environment_key());
    let named = entry.map_or("uv", |entry| entry.resolver.as_str());
    let mut words = named.split_whitespace();
    match (words.next(), words.next()) {
        (Some(name), Some(version)) => format!("{name}=={version}"),
        _ => "uv".to_owned(),
    }
}

/// The folders of the repository that install lines name.
fn projects(install: &[String]) -> Vec<String> {
    let mut found = vec![];
    for word in install.iter().flat_map(|line| line.split_whitespace()) {
        let word = word
            .strip_prefix("-e")
            .filter(|rest| rest.starts_with('.'))
            .unwrap_or(word);
        let folder = word.split('[').next().unwrap_or(word);
        if (folder == "." || folder.starts_with("./")) && !found.iter().any(|known| known == folder) {
            found.push(folder.to_owned());
        }
    }
    found
}

/// A word as the shell and Docker read it back.
pub fn quoted(word: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./=:@%+,".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Words for the shell, each with a blank before it.
fn words<'text>(words: impl Iterator<Item = &'text str>) -> String {
    words.fold(String::new(), |text, word| text + " " + &quoted(word))
}

/// Shell lines that put a patch on the tree, byte for byte.
pub fn apply(instance: &Instance, field: PatchField) -> String {
    let bytes = instance.patch_bytes(field).unwrap_or_default();
    if bytes.is_empty() {
        return String::new();
    }
    format!(
        "base64 -d <<'QUARRY_PATCH' | git apply --verbose --whitespace=nowarn -\n{}\nQUARRY_PATCH\n",
        wrapped(&base64::encode(&bytes))
    )
}

/// Lines of 76 signs.
fn wrapped(text: &str) -> String {
    let lines: Vec<&[u8]> = text.as_bytes().chunks(76).collect();
    String::from_utf8(lines.join(&b'\n')).unwrap_or_default()
}

/// Shell lines that put the program that tells outcomes at `/opt/quarry`.
pub fn install_report() -> String {
    format!(
        "mkdir -p /opt/quarry\nbase64 -d > /opt/quarry/quarry_report.py <<'QUARRY_REPORT'\n{}\nQUARRY_REPORT\n",
        wrapped(&base64::encode(REPORT))
    )
}

/// What stands in for a runner when it lies at the root of a tree that has no such module of its own.
fn shadows() -> String {
    format!(
        "for module in {}; do for name in $module $module.py $module.so; do git cat-file -e HEAD:$name 2>/dev/null || \
         {{ [ $name = $module ] && [ ! -d $name ]; }} || rm -rf -- $name; done; done\n",
        RUNNERS.join(" ")
    )
}

/// What is the oracle's, as evaluation takes it, restored to the base commit: the folders of tests that hold a module which
/// judges, and what only a run reads, but for what gold touches; then the files of the test patch.
pub fn restore(instance: &Instance) -> String {
    let golds = instance
        .splits
        .iter()
        .filter(|file| file.part == Some(Part::Gold));
    let golds = golds.flat_map(|file| std::iter::once(&file.path).chain(&file.old_path));
    let but_golds = golds.fold(String::new(), |text, path| {
        let spec = format!(
            ":(top,exclude,literal){}",
            String::from_utf8_lossy(path.as_bytes())
        );
        text + " " + &quoted(&spec)
    });
    let mut text = format!(
        "back() {{ git checkout -q HEAD -- \"$1\"{but_golds} 2>/dev/null || true; \
         git ls-files -z --others ${{2:+\"$2\"}} -- \"$1\"{but_golds} | xargs -0r rm -f --; }}\n{}",
        shadows()
    );
    for name in [CONFTEST].iter().chain(&CUSTOMIZE).chain(&PYTEST_INI) {
        let _ = writeln!(text, "back ':(top,glob)**/{name}'");
    }
    for folder in test_folders(instance) {
        let _ = writeln!(
            text,
            "back {} --exclude-standard",
            quoted(&format!(":(top,literal){folder}"))
        );
        let _ = writeln!(text, "back {}", quoted(&format!(":(top,glob){folder}/**/*.py")));
    }
    text + &restore_test_patch(instance)
}

/// The outermost folders named `test`, `tests` or `testing` above the modules that judge and the files of the test patch.
fn test_folders(instance: &Instance) -> BTreeSet<String> {
    let judges = instance.fail_to_pass.iter().chain(&instance.pass_to_pass);
    let modules = judges.map(|test| match test.as_str().split_once("::") {
        Some((path, _)) => path.to_owned(),
        None => test.as_str().replace('.', "/"),
    });
    let touched = instance
        .splits
        .iter()
        .filter(|file| file.part == Some(Part::Test));
    let touched = touched.map(|file| String::from_utf8_lossy(file.path.as_bytes()).into_owned());
    let mut folders = BTreeSet::new();
    for path in modules.chain(touched) {
        let parts: Vec<&str> = path.split('/').collect();
        let names = &parts[..parts.len() - 1];
        let tests = names.iter().position(|name| is_test_folder(name.as_bytes()));
        folders.extend(tests.map(|at| names[..=at].join("/")));
    }
    folders
}

/// The files of the test patch, as the base commit has them.
fn restore_test_patch(instance: &Instance) -> String {
    let touched = instance
        .splits
        .iter()
        .filter(|file| file.part == Some(Part::Test));
    let mut text = String::new();
    for file in touched {
        let names = [Some(&file.path), file.old_path.as_ref()];
        for name in names.into_iter().flatten() {
            let name = quoted(&String::from_utf8_lossy(name.as_bytes()));
            let _ = writeln!(
                text,
                "git checkout -q HEAD -- {name} 2>/dev/null || rm -rf -- {name}"
            );
        }
    }
    text
}

/// The command that tests.
pub fn command(instance: &Instance) -> String {
    let args = words(instance.setup.args.iter().map(String::as_str));
    let tests = instance.fail_to_pass.iter().chain(&instance.pass_to_pass);
    if instance.setup.runner == "unittest" {
        let modules: BTreeSet<&str> = tests.map(|test| unittest_module(test.as_str())).collect();
        let modules = words(modules.into_iter());
        return format!("python /opt/quarry/quarry_report.py{args}{modules}");
    }
    let modules: BTreeSet<&str> = tests
        .map(|test| test.as_str().split("::").next().unwrap_or_default())
        .collect();
    let modules = words(modules.into_iter());
    format!(
        "PYTHONPATH=/opt/quarry${{PYTHONPATH:+:$PYTHONPATH}} python -m pytest -p quarry_report -p no:cacheprovider \
         -o addopts={args}{modules}"
    )
}

/// `package.module` of `package.module.Class.test`.
fn unittest_module(id: &str) -> &str {
    let mut parts = id.rsplitn(3, '.');
    parts.nth(2).unwrap_or(id)
}
