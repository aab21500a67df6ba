//! Bytes of every kind, and too many of them.

use super::*;

#[test]
fn whatever_bytes_a_repository_holds_survive() {
    let mut story = Story::new();
    let mut old = story.files.clone();
    let bytes = |seed: u8| {
        (0..4000_u32)
            .map(|at| (at * u32::from(seed) % 251) as u8)
            .collect::<Vec<u8>>()
    };
    for (path, mode, content) in [
        (&b"caf\xe9.py"[..], FILE, b"# caf\xe9\nx\n".to_vec()),
        (b"crlf.txt", FILE, b"one\r\ntwo\r\n".to_vec()),
        (b"bare", FILE, b"no end".to_vec()),
        (b"run.sh", FILE, b"#!/bin/sh\n".to_vec()),
        (b"link", LINK, b"src/a.py".to_vec()),
        (b"turns", FILE, b"src/b.py".to_vec()),
        (b"module", MODULE, vec![3; 20]),
        (b"bin.dat", FILE, bytes(3)),
        (b"move me.py", FILE, b"a\nb\nc\nd\ne\nf\ng\nh\n".to_vec()),
        (b"links/to", LINK, b"../src/a.py".to_vec()),
    ] {
        old.insert(path.to_vec(), (mode, content));
    }
    let base = story.land("Ivy", "Ivy", old.clone(), "Odd files");
    let mut new = old.clone();
    for (path, mode, content) in [
        (&b"caf\xe9.py"[..], FILE, b"# caf\xe9\xff\nx\n".to_vec()),
        (b"crlf.txt", FILE, b"one\r\ntwo\r\nthree\r\n".to_vec()),
        (b"bare", FILE, b"no end\nand none here".to_vec()),
        (b"run.sh", EXEC, b"#!/bin/sh\n".to_vec()),
        (b"link", LINK, b"src/b.py".to_vec()),
        (b"turns", LINK, b"src/b.py".to_vec()),
        (b"module", MODULE, vec![4; 20]),
        (b"bin.dat", FILE, bytes(5)),
        (b"new\t\"q\".txt", FILE, b"tab\n".to_vec()),
        (b"empty", FILE, vec![]),
    ] {
        new.insert(path.to_vec(), (mode, content));
    }
    let moved = new.remove(&b"move me.py"[..]).unwrap();
    new.insert(b"moved.py".to_vec(), (FILE, [moved.1, b"i\n".to_vec()].concat()));
    let link = new.remove(&b"links/to"[..]).unwrap();
    new.insert(b"links/moved".to_vec(), link);
    let head = story.work("Ada", base, &new, "Change them");
    story.open(1, head);
    story.merge("Ivy", &[head], new.clone(), "Merge pull request #1 from ada/odd");

    let told = story.read();
    let shown: Vec<String> = told.candidates[&1]
        .files
        .iter()
        .map(|file| {
            let old = file
                .old_path
                .as_ref()
                .map(|old| format!("{old} -> "))
                .unwrap_or_default();
            let flags = [(file.binary, " binary"), (file.mode_changed, " mode")];
            let flags: String = flags.iter().filter(|flag| flag.0).map(|flag| flag.1).collect();
            format!("{:?} {:?} {old}{}{flags}\n", file.change, file.entry, file.path)
        })
        .collect();
    insta::assert_snapshot!(shown.concat(), @r#"
        Modified File bare
        Modified File bin.dat binary
        Modified File "caf\351.py"
        Modified File crlf.txt
        Added File empty
        Modified Symlink link
        Renamed Symlink links/to -> links/moved
        Modified Submodule module
        Renamed File move me.py -> moved.py
        Added File "new\t\"q\".txt"
        Modified File run.sh mode
        TypeChanged Symlink turns mode
        "#);
    let mirror = Mirror::open(story.fixture.path()).unwrap();
    let (dir, wanted) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    mirror.export(base, dir.path()).unwrap();
    mirror.export(head, wanted.path()).unwrap();
    // A submodule is an empty folder in an export; git moves its commit, which files cannot show.
    let diff = told.diff(1);
    let files = &told.candidates[&1].files;
    let without: Vec<u8> = files
        .iter()
        .filter(|file| file.path != RepoPath::from("module"))
        .flat_map(|file| crate::mine::split::section(diff, file).to_vec())
        .collect();
    apply(dir.path(), &without).unwrap();
    let listing = |dir: &std::path::Path| {
        let output = std::process::Command::new("tar")
            .args(["c", "--sort=name", "--mtime=@0", "."])
            .current_dir(dir)
            .output();
        output.unwrap().stdout
    };
    assert!(listing(dir.path()) == listing(wanted.path()));
}

#[test]
fn a_huge_file_is_decided_not_swallowed() {
    let mut story = Story::new();
    let line = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
    let mut huge: Vec<u8> = line.iter().copied().cycle().take(100 << 20).collect();
    let mut files = story.files.clone();
    files.insert(b"huge.txt".to_vec(), (FILE, huge.clone()));
    let head = story.work("Ada", story.main, &files, "Huge");
    story.open(1, head);
    story.merge(
        "Ivy",
        &[head],
        files.clone(),
        "Merge pull request #1 from ada/huge",
    );
    // A small change of a huge file is a small diff.
    huge[50 << 20] = b'!';
    files.insert(b"huge.txt".to_vec(), (FILE, huge));
    let head = story.work("Bob", story.main, &files, "A little");
    story.open(2, head);
    story.merge("Ivy", &[head], files, "Merge pull request #2 from bob/little");
    let told = story.read();
    assert_eq!(
        told.lines(),
        "1: mine-diff-too-large\n2: merge on main by merge-subject, ancestry; head\n"
    );
    assert!(told.decisions[&1].observed["diff_bytes"].as_u64().unwrap() > 100 << 20);
    assert_eq!(told.candidates[&2].diff_source, DiffSource::Head);
    assert!(told.diff(2).len() < 2000);
}
