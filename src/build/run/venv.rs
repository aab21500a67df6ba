//! A small virtual environment over a shared layer: made by hand, lent the layer's scripts, moved.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::dependencies::replace;
use super::project::Layer;
use super::tree;
use crate::build::error::BuildError;
use crate::build::python::Interpreter;
use crate::build::scripts::with_interpreter;

/// Sorts before every other name, so that the shared layer stands on the path where it would if it were not one.
const PATH_FILE: &str = "00-quarry.pth";

/// Where a layer's environment and the shared layer are, as a job sees them.
pub(super) struct Places {
    /// The environment.
    pub env: PathBuf,
    /// The shared layer.
    pub deps: PathBuf,
}

/// A virtual environment by hand: the same few files and links that `venv` makes, none of which names a machine's
/// folder but the interpreter's.
pub(super) fn make(python: &Interpreter, env: &Path, places: &Places) -> Result<(), BuildError> {
    let short = python.version.short();
    let packages = format!("lib/python{short}/site-packages");
    let io = |path: &Path| BuildError::io("make", path);
    for folder in [&packages, "bin", "include"] {
        fs::create_dir_all(env.join(folder)).map_err(io(env))?;
    }
    symlink("lib", env.join("lib64")).map_err(io(env))?;
    symlink(&python.executable, env.join("bin/python")).map_err(io(env))?;
    for name in ["python3".to_owned(), format!("python{short}")] {
        symlink("python", env.join("bin").join(name)).map_err(io(env))?;
    }
    let home = python
        .executable
        .parent()
        .unwrap_or(Path::new("/usr/bin"))
        .display();
    let config = format!(
        "home = {home}\ninclude-system-site-packages = false\nversion = {}\n",
        python.version
    );
    fs::write(env.join("pyvenv.cfg"), config).map_err(io(env))?;
    let below = places.deps.join(&packages).display().to_string();
    let below = format!("{below:?}");
    fs::write(
        env.join(&packages).join(PATH_FILE),
        format!("import site; site.addsitedir({below})\n"),
    )
    .map_err(io(env))
}

/// Copies the shared layer's scripts (with this environment's interpreter) and links its other folders, where the
/// project has nothing of that name.
pub(super) fn lend(deps: &Path, env: &Path, places: &Places) -> Result<(), BuildError> {
    let python = places.env.join("bin/python").display().to_string();
    let io = |path: &Path| BuildError::io("lend", path);
    for entry in fs::read_dir(deps).map_err(io(deps))?.flatten() {
        let name = entry.file_name();
        if name != "bin" && fs::symlink_metadata(env.join(&name)).is_err() {
            symlink(places.deps.join(&name), env.join(&name)).map_err(io(env))?;
        }
    }
    let Ok(scripts) = fs::read_dir(deps.join("bin")) else {
        return Ok(());
    };
    for script in scripts.flatten() {
        let (from, to) = (script.path(), env.join("bin").join(script.file_name()));
        if fs::symlink_metadata(&to).is_ok() {
            continue;
        }
        let bytes = fs::read(&from).map_err(io(&from))?;
        if let Some(moved) = with_interpreter(&bytes, &python) {
            fs::copy(&from, &to).map_err(io(&to))?;
            replace(&to, &moved)?;
        } else {
            symlink(places.deps.join("bin").join(script.file_name()), &to).map_err(io(&to))?;
        }
    }
    Ok(())
}

/// Removes the note in which uv keeps when it read a work tree: the one file of an install that is never the same twice.
pub(super) fn forget_when(env: &Path, python: &Interpreter) -> Result<(), BuildError> {
    const NOTE: &str = "uv_cache.json";
    let packages = env.join(format!("lib/python{}/site-packages", python.version.short()));
    for entry in fs::read_dir(&packages)
        .map_err(BuildError::io("read", &packages))?
        .flatten()
    {
        if fs::remove_file(entry.path().join(NOTE)).is_err() {
            continue;
        }
        let path = entry.path().join("RECORD");
        let record = fs::read_to_string(&path).map_err(BuildError::io("read", &path))?;
        let kept = record
            .lines()
            .filter(|line| !line.contains(NOTE))
            .map(|line| line.to_owned() + "\n");
        replace(&path, kept.collect::<String>().as_bytes())?;
    }
    Ok(())
}

/// A copy of an environment of the open room for a work tree at `tree`: its files name both places, so they are
/// written anew with the ones they have now.
pub(super) fn relocate(layer: &Layer, from: &Path, to: &Path, tree: &Path) -> Result<(), BuildError> {
    tree::copy(from, to).map_err(BuildError::io("copy", from))?;
    let new = [to.display().to_string(), tree.display().to_string()];
    let python = to.join("bin/python").display().to_string();
    let pairs = [
        (layer.env.as_str(), new[0].as_str()),
        (layer.tree.as_str(), new[1].as_str()),
    ];
    for (path, stamp) in tree::look(to).map_err(BuildError::io("look at", to))? {
        let Some(path) = path.to_str().map(|path| to.join(path)) else {
            continue;
        };
        if stamp.size > 1 << 20 || path.is_symlink() {
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let moved = pairs
            .iter()
            .fold(text.clone(), |text, (old, new)| text.replace(old, new));
        // A longer path may need another first line.
        let script = path.parent().is_some_and(|folder| folder.ends_with("bin"));
        let script = script
            .then(|| with_interpreter(moved.as_bytes(), &python))
            .flatten();
        if let Some(script) = script {
            replace(&path, &script)?;
            continue;
        }
        if moved != text {
            replace(&path, moved.as_bytes())?;
        }
    }
    Ok(())
}

/// Writes a program.
pub(super) fn write_script(path: &Path, text: &str) -> Result<(), BuildError> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text).map_err(BuildError::io("write", path))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(BuildError::io("write", path))
}
