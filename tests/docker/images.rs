//! Images of instances: made, run by `docker run` alone, made again to the byte, removed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use quarry::build::SearchPaths;
use serde_json::Value;

use crate::base::{below, import, interpreters, only_of_system, small_base};
use crate::daemon::OwnDaemon;
use crate::program::{quarry, recipe, succeed};

pub(crate) fn docker(daemon: &OwnDaemon, args: &[&str]) -> Output {
    succeed(Command::new("docker").args(["--host", &daemon.host()]).args(args))
}

/// The names of images of this kind that the daemon has.
fn named(daemon: &OwnDaemon, kind: &str) -> BTreeSet<String> {
    let repository = format!("quarry/{kind}");
    let told = docker(
        daemon,
        &["images", "--format", "{{.Repository}}:{{.Tag}}", &repository],
    );
    let told = String::from_utf8(told.stdout).unwrap();
    told.lines().map(str::to_owned).collect()
}

/// Reads a repository's folder by hand: every object there is, every object that HEAD needs, and everything else.
const READ_STORE: &str = r#"
import hashlib, os, re, sys, zlib
git = "/testbed/.git"
have, rest = {}, []
for folder, _, files in os.walk(git):
    for name in files:
        path = os.path.join(folder, name)
        found = re.fullmatch(git + r"/objects/(..)/(.{38})", path)
        if found:
            data = zlib.decompress(open(path, "rb").read())
            name = found.group(1) + found.group(2)
            assert hashlib.sha1(data).hexdigest() == name
            head, body = data.split(b"\0", 1)
            have[name] = (head.split()[0].decode(), body)
        else:
            rest.append(os.path.relpath(path, git))
assert sorted(rest) == ["HEAD", "config", "index", "info/attributes", "info/exclude", "refs/heads/main"], rest
assert open(git + "/HEAD").read() == "ref: refs/heads/main\n"
config = open(git + "/config").read()
assert re.findall(r"\[(.*?)\]", config) == ["core"], config
root = open(git + "/refs/heads/main").read().strip()
kind, commit = have[root]
assert kind == "commit" and b"\nparent " not in commit and commit.count(b"946684800 +0000") == 2, commit
need, trees, files = {root}, [(commit[5:45].decode(), "")], {}
while trees:
    tree, prefix = trees.pop()
    need.add(tree)
    body = have[tree][1]
    while body:
        head, body = body.split(b"\0", 1)
        mode, name = head.decode().split(" ", 1)
        child, body = body[:20].hex(), body[20:]
        if mode == "40000":
            trees.append((child, prefix + name + "/"))
        else:
            need.add(child)
            files[prefix + name] = have[child][1]
assert need == set(have), need ^ set(have)
for name, content in files.items():
    path = "/testbed/" + name
    seen = os.readlink(path).encode() if os.path.islink(path) else open(path, "rb").read()
    assert seen == content, name
print(len(have), len(files))
"#;

/// The oracle by hand: what must fail fails before gold, everything passes after it.
const ORACLE: &str = r#"set -eu
test -z "$(git status --porcelain)"
git apply /patches/test
while read -r id; do
    if python -m pytest -q -p no:cacheprovider "$id"; then echo "passes before gold: $id"; exit 3; fi
done < /patches/fail
git apply /patches/gold
cat /patches/fail /patches/pass > /tmp/ids
while read -r id; do python -m pytest -q -p no:cacheprovider "$id"; done < /tmp/ids
"#;

/// Runs an instance's oracle in its image, by the daemon's program alone; `patches` is where the patches are laid.
fn run_oracle(daemon: &OwnDaemon, image: &str, patches: &Path, row: &Value) {
    write_patches(patches, row);
    let volume = format!("{}:/patches:ro", patches.display());
    let mut args = vec!["run", "--rm", "--network", "none", "--volume", &volume, image];
    args.extend(["sh", "-c", ORACLE]);
    docker(daemon, &args);
}

fn write_patches(folder: &Path, row: &Value) {
    std::fs::create_dir_all(folder).unwrap();
    let lines = |field: &str| {
        let ids = row[field].as_array().unwrap().iter();
        ids.fold(String::new(), |lines, id| lines + id.as_str().unwrap() + "\n")
            .into_bytes()
    };
    let patch = |field: &str| {
        let text = row[field].as_str().unwrap();
        if row["base64_fields"].as_array().unwrap().contains(&field.into()) {
            quarry::emit::base64::decode(text).unwrap()
        } else {
            text.as_bytes().to_vec()
        }
    };
    assert_ne!(lines("FAIL_TO_PASS"), b"");
    for (name, text) in [
        ("test", patch("test_patch")),
        ("gold", patch("patch")),
        ("fail", lines("FAIL_TO_PASS")),
        ("pass", lines("PASS_TO_PASS")),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

/// The sample's recipe for a test's own daemon, which routes nothing.
fn write_recipe(file: &Path) {
    let text = std::fs::read_to_string(recipe("sample.toml")).unwrap();
    std::fs::write(file, format!("{text}\n[room]\nnetwork = \"host\"\n")).unwrap();
}

#[test]
fn a_base_image_that_lacks_what_uv_needs_is_no_candidates_fault() {
    let folder = tempfile::tempdir().unwrap();
    let uv = SearchPaths::of(&std::env::vars().collect()).uv().unwrap();
    let listed = Command::new("ldd").arg(&uv).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    // The shell needs the C library and its loader, too; a uv that links to nothing needs nothing.
    let mut names = listed.lines().filter_map(|line| line.trim().split(" => ").next());
    let Some(library) = names.find(|name| name.starts_with("libgcc_s")) else {
        return;
    };
    let daemon = OwnDaemon::start();
    write_recipe(&folder.path().join("sample.toml"));
    small_base(&daemon, folder.path(), None);
    let mut files = Vec::new();
    below(&folder.path().join("root"), &mut files);
    for file in files.iter().filter(|file| file.ends_with(library)) {
        std::fs::remove_file(file).unwrap();
    }
    let base = import(&daemon, folder.path());
    let with_base = |command: &mut Command| {
        let told = command
            .args(["--base-image", &base])
            .env("DOCKER_HOST", daemon.host())
            .output()
            .unwrap();
        let said = String::from_utf8(told.stderr).unwrap();
        (
            told.status.code(),
            String::from_utf8(told.stdout).unwrap() + &said,
        )
    };
    let workspace = folder.path().join("workspace");
    let (code, said) = with_base(
        quarry(&workspace)
            .arg("run")
            .arg(folder.path().join("sample.toml"))
            .args(["--sample", "--room", "docker"]),
    );
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("run `uv` in the base image"), "{said}");
    assert!(
        said.contains(&format!("hint: add the library `{library}`")),
        "{said}"
    );
    let (code, said) = with_base(quarry(&workspace).arg("doctor"));
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains(&format!("hint: add the library `{library}`")),
        "{said}"
    );
}

#[test]
fn a_base_images_own_python_is_the_one() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = OwnDaemon::start();
    write_recipe(&folder.path().join("sample.toml"));
    let found = interpreters();
    let python = found
        .iter()
        .find(|python| python.version.short() == "3.11")
        .or(found.last())
        .unwrap();
    let base = small_base(&daemon, folder.path(), Some(python));
    let workspace = folder.path().join("workspace");
    let with_base = |command: &mut Command| -> Value {
        command.args(["--base-image", &base, "--json"]);
        serde_json::from_slice(&succeed(command.env("DOCKER_HOST", daemon.host())).stdout).unwrap()
    };
    let days = ["--since", "2024-10-16", "--before", "2024-10-17"];
    let told = with_base(
        quarry(&workspace)
            .arg("run")
            .arg(folder.path().join("sample.toml"))
            .args(["--sample", "--room", "docker"])
            .args(days),
    );
    assert_eq!(told["instances"], 1, "{told}");
    let version = workspace.join("manifests/sample/0.1.0");
    let row = std::fs::read(version.join("instances.jsonl")).unwrap();
    let row: Value = serde_json::from_slice(&row).unwrap();
    // Newer ones of the machine's are no choice.
    assert_eq!(row["interpreter"], python.version.to_string());

    let told = with_base(quarry(&workspace).args(["images", "build"]).arg(&version));
    assert_eq!(
        (&told["made"], &told["failed"]),
        (&1.into(), &serde_json::json!({}))
    );
    let image = told["list"]["images"][0]["image"].as_str().unwrap();
    let ask = "import os, sys; print(os.path.realpath(sys.executable))";
    let said = docker(&daemon, &["run", "--rm", image, "python", "-c", ask]);
    assert!(said.stdout.starts_with(b"/usr/local/bin/python3"), "{said:?}");
    let patches = folder.path().join("patches");
    run_oracle(&daemon, image, &patches, &row);
}

#[test]
fn an_instances_image_holds_the_instance_and_nothing_of_its_future() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let daemon = OwnDaemon::start();
    write_recipe(&at("sample.toml"));
    let base = small_base(&daemon, folder.path(), None);
    let mut run = quarry(folder.path());
    run.arg("run").arg(at("sample.toml"));
    run.args(["--sample", "--since", "2024-10-15", "--before", "2024-10-17"]);
    // Verified in the process room, where the interpreter is one that both have: the room does not matter.
    if only_of_system() {
        run.args(["--room", "docker", "--base-image", &base])
            .env("DOCKER_HOST", daemon.host());
    }
    succeed(&mut run);
    let version = at("manifests/sample/0.1.0");
    let rows = std::fs::read_to_string(version.join("instances.jsonl")).unwrap();
    let rows: Vec<Value> = rows
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 2);

    let images = |what: &str| {
        let mut command = quarry(folder.path());
        command
            .args(["images", what])
            .arg(&version)
            .env("DOCKER_HOST", daemon.host());
        command
    };
    let build = || {
        let mut command = images("build");
        command.args(["--base-image", &base, "--json"]);
        command
    };
    // No image is begun on a full disk.
    let full = build().args(["--min-free", "1000000000"]).output().unwrap();
    let said = String::from_utf8(full.stderr).unwrap();
    assert_eq!(full.status.code(), Some(4), "{said}");
    assert!(
        said.contains("disk-full") && named(&daemon, "instance").is_empty(),
        "{said}"
    );

    // Killed after the first image: what is made is made.
    let said = at("build.out");
    let mut child = build()
        .args(["--jobs", "1"])
        .stdout(std::fs::File::create(&said).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while named(&daemon, "instance").is_empty() {
        let ended = child.try_wait().unwrap();
        assert_eq!(ended, None, "{}", std::fs::read_to_string(&said).unwrap());
        assert!(begun.elapsed() < Duration::from_mins(5));
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let report =
        |command: &mut Command| -> Value { serde_json::from_slice(&succeed(command).stdout).unwrap() };
    let told = report(&mut build());
    assert!(told["there"].as_u64() >= Some(1), "{told}");
    assert_eq!(
        told["there"].as_u64().unwrap() + told["made"].as_u64().unwrap(),
        2
    );
    assert_eq!(told["failed"], serde_json::json!({}));
    let told = report(&mut build());
    assert_eq!((&told["there"], &told["made"]), (&2.into(), &0.into()), "{told}");

    let list_file = at("manifests/sample/0.1.0.images.json");
    let list = std::fs::read(&list_file).unwrap();
    let named_images: Value = serde_json::from_slice(&list).unwrap();
    let entries = named_images["images"].as_array().unwrap();
    assert_eq!(
        (entries.len(), &named_images["mounts"]),
        (2, &serde_json::json!([]))
    );
    assert_eq!(entries[0]["environment_image"], entries[1]["environment_image"]);
    assert_eq!(
        entries[0]["layers"].as_array().unwrap()[..3],
        entries[1]["layers"].as_array().unwrap()[..3]
    );
    succeed(&mut images("check"));
    succeed(quarry(folder.path()).arg("emit").arg("--verify").arg(&version));

    for (row, entry) in rows.iter().zip(entries) {
        assert_eq!(row["instance_id"], entry["instance_id"]);
        let image = entry["image"].as_str().unwrap();
        let read = docker(
            &daemon,
            &[
                "run",
                "--rm",
                "--network",
                "none",
                image,
                "python",
                "-c",
                READ_STORE,
            ],
        );
        let told = String::from_utf8(read.stdout).unwrap();
        assert!(
            told.split_whitespace()
                .all(|count| count.parse::<u32>().unwrap() > 3),
            "{told}"
        );
        let patches = at(&format!("patches-{image}").replace(['/', ':'], "-"));
        run_oracle(&daemon, image, &patches, row);
    }

    // Another image of that name is not the one.
    let first = entries[0]["image"].as_str().unwrap();
    docker(&daemon, &["tag", entries[1]["image"].as_str().unwrap(), first]);
    let output = images("check").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("missing  {first}")), "{said}");

    // Made again, they are the same to the byte.
    let kinds = ["instance", "environment", "interpreter"];
    for name in kinds.iter().flat_map(|kind| named(&daemon, kind)) {
        docker(&daemon, &["rmi", &name]);
    }
    assert_eq!(images("check").output().unwrap().status.code(), Some(1));
    assert_eq!(report(&mut build())["made"], 2);
    assert!(std::fs::read(&list_file).unwrap() == list);

    // All of it is collected when nothing uses it, and can be made again from the ledger.
    let gc = report(
        quarry(folder.path())
            .args(["gc", "--unused-for", "0", "--json"])
            .env("DOCKER_HOST", daemon.host()),
    );
    assert_eq!(gc["images"].as_array().unwrap().len(), 4, "{gc}");
    for kind in kinds {
        assert_eq!(named(&daemon, kind), BTreeSet::new(), "{kind}");
    }
    assert_eq!(report(&mut build())["made"], 2);
    succeed(&mut images("check"));
}
