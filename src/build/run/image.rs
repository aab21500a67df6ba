//! The interpreters of a base image: its own, where it has any; else those of this machine that run in it.

use std::path::{Path, PathBuf};

use super::SearchPaths;
use super::inner::adapter;
use super::interpreters::{QUESTION, read_answer};
use super::uv::interpreter_mounts;
use crate::build::error::BuildError;
use crate::build::python::Interpreter;
use crate::sandbox::{Job, LENT, Mount, OutputMode, Room, SYSTEM_PATH};

/// Asks every Python 3 in the places where images have one.
const OWN: &str = r#"for folder in /usr/local/bin /usr/bin /bin /opt/*/bin; do
  for python in "$folder"/python3 "$folder"/python3.[0-9] "$folder"/python3.[0-9][0-9]; do
    if [ -x "$python" ]; then "$python" -I -S -c "$1"; fi
  done
done"#;

/// Asks the interpreters that it is given.
const GIVEN: &str = r#"question=$1; shift
for python; do "$python" -I -S -c "$question"; done"#;

/// As [`interpreters`], after making sure that uv runs in the room's base image: what it lacks is said before any candidate
/// is looked at.
pub(super) fn look_into(
    room: &Room,
    uv: &Path,
    search: &SearchPaths,
) -> Result<Option<Vec<Interpreter>>, BuildError> {
    must_run_uv(room, uv)?;
    interpreters(room, search)
}

/// The interpreters for jobs in `room`; `None` where the room shows this machine's own system, and so every one of its
/// interpreters. An image that has a Python of its own is used with that one: its version is the image's, whatever
/// machine it is on, and what else is in the image was made for it.
fn interpreters(room: &Room, search: &SearchPaths) -> Result<Option<Vec<Interpreter>>, BuildError> {
    let Some(image) = room.image() else {
        return Ok(None);
    };
    let own = ask(room, OWN, &[], &[], Some(image))?;
    if !own.is_empty() {
        return Ok(Some(own));
    }
    // What lies in the system's folders is hidden by the image's.
    let mut machine = search.interpreters();
    machine.retain(|found| !interpreter_mounts(found).is_empty());
    let programs: Vec<PathBuf> = machine.iter().map(|found| found.executable.clone()).collect();
    let run = ask(room, GIVEN, &programs, &machine, None)?;
    machine.retain(|found| run.contains(found));
    Ok(Some(machine))
}

fn must_run_uv(room: &Room, uv: &Path) -> Result<(), BuildError> {
    let Some(image) = room.image() else {
        return Ok(());
    };
    let inside = Path::new(LENT).join("uv");
    let program = inside.display().to_string();
    // Through a shell: what keeps a program from starting is told by whoever starts it.
    let argv = ["/bin/sh", "-c", "exec \"$1\" --version", "sh", &program].map(str::to_owned);
    let mut job = Job::new(argv, "/");
    job.env.insert("PATH".to_owned(), SYSTEM_PATH.to_owned());
    job.output = OutputMode::Merged;
    job.mounts = vec![Mount::read_only(uv, &inside)];
    let said = room.ask(&job).map_err(adapter)?.stdout.text();
    if said.contains("uv ") && !said.contains("uv: ") {
        return Ok(());
    }
    Err(BuildError::uv_in_image(image, &said))
}

fn ask(
    room: &Room,
    script: &str,
    programs: &[PathBuf],
    lent: &[Interpreter],
    image: Option<&str>,
) -> Result<Vec<Interpreter>, BuildError> {
    let mut argv = ["/bin/sh", "-c", script, "sh", QUESTION]
        .map(str::to_owned)
        .to_vec();
    argv.extend(programs.iter().map(|program| program.display().to_string()));
    let mut job = Job::new(argv, "/");
    job.env.insert("PATH".to_owned(), SYSTEM_PATH.to_owned());
    job.output = OutputMode::Split;
    job.mounts = lent.iter().flat_map(interpreter_mounts).collect();
    job.mounts.sort();
    job.mounts.dedup();
    let said = room.ask(&job).map_err(adapter)?.stdout.bytes();
    let mut found: Vec<Interpreter> = Vec::new();
    for answer in said.split(|byte| *byte == b'\n') {
        let known = read_answer(answer, image);
        found.extend(known.filter(|one| !found.contains(one)));
    }
    Ok(found)
}
