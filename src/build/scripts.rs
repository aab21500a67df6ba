//! Console scripts: texts whose first line names an interpreter.

/// Where scripts of the shared layer say their interpreter is: nobody runs them from there, every environment gets
/// copies that name its own.
pub const PLACEHOLDER: &str = "/quarry/env/bin/python";

/// The script with `python` as its interpreter; `None` when it is no Python script (a program, a shell script).
pub fn with_interpreter(script: &[u8], python: &str) -> Option<Vec<u8>> {
    let body = body(script)?;
    let mut text = first_lines(python).into_bytes();
    text.extend_from_slice(body);
    Some(text)
}

/// What follows the lines that start the interpreter.
fn body(script: &[u8]) -> Option<&[u8]> {
    let (first, rest) = split_line(script)?;
    if !first.starts_with(b"#!") {
        return None;
    }
    if first == b"#!/bin/sh" {
        // The way around the kernel's limit on first lines: two lines that are both shell and Python.
        let (second, rest) = split_line(rest)?;
        let (third, rest) = split_line(rest)?;
        return (second.starts_with(b"'''exec' ") && third == b"' '''").then_some(rest);
    }
    let program = first.split(|b| *b == b'/').next_back().unwrap_or_default();
    (program.starts_with(b"python") || program.starts_with(b"pypy")).then_some(rest)
}

fn split_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|b| *b == b'\n')?;
    let line = text[..end].strip_suffix(b"\r").unwrap_or(&text[..end]);
    Some((line, &text[end + 1..]))
}

fn first_lines(python: &str) -> String {
    // Linux takes 127 bytes of a first line (255 since 5.1), and no blanks in the path.
    if python.len() <= 120 && !python.contains([' ', '\t']) {
        return format!("#!{python}\n");
    }
    let quoted = python.replace('\'', r"'\''");
    format!("#!/bin/sh\n'''exec' '{quoted}' \"$0\" \"$@\"\n' '''\n")
}

/// A console script for an entry point `module:attribute`.
pub fn console_script(python: &str, module: &str, attribute: &str) -> String {
    let head = attribute.split('.').next().unwrap_or(attribute);
    format!(
        "{}import sys\nfrom {module} import {head}\nif __name__ == '__main__':\n    sys.exit({attribute}())\n",
        first_lines(python)
    )
}

/// Console scripts that an `entry_points.txt` asks for: name, module, attribute.
pub fn console_entries(entry_points: &str) -> Vec<(String, String, String)> {
    let mut section = "";
    let mut entries = Vec::new();
    for line in entry_points.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim();
        } else if section == "console_scripts"
            && !line.starts_with(['#', ';'])
            && let Some((name, target)) = line.split_once('=')
            && let Some((module, attribute)) = target.split_once(':')
        {
            let attribute = attribute.split('[').next().unwrap_or_default().trim();
            let (name, module) = (name.trim(), module.trim());
            let dotted = |text: &str| text.split('.').all(is_identifier);
            if !name.is_empty() && !name.contains('/') && dotted(module) && dotted(attribute) {
                entries.push((name.to_owned(), module.to_owned(), attribute.to_owned()));
            }
        }
    }
    entries
}

fn is_identifier(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
        && text.chars().next().is_some_and(|c| !c.is_numeric())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn python_scripts_change_hands_and_others_stay() {
        let script = b"#!/opt/python/3.11.7/bin/python3.11 -I\nimport sys\n";
        assert_eq!(
            with_interpreter(script, "/e/bin/python").unwrap(),
            b"#!/e/bin/python\nimport sys\n"
        );
        let long = format!("/{}/bin/python", "x".repeat(130));
        let moved = with_interpreter(script, &long).unwrap();
        assert!(moved.starts_with(b"#!/bin/sh\n'''exec' '/xxx"));
        assert_eq!(
            with_interpreter(&moved, "/e/bin/python").unwrap(),
            b"#!/e/bin/python\nimport sys\n"
        );
        for other in [
            &b"#!/bin/sh\nexec true\n"[..],
            b"\x7fELF\x02\n",
            b"",
            b"#!/usr/bin/env python\n",
        ] {
            assert_eq!(with_interpreter(other, "/e/bin/python"), None);
        }
    }

    #[test]
    fn entry_points_become_scripts() {
        let text = "[console_scripts]\npytest = pytest:console_main\npy.test=pytest : main [x]\n# c = a:b\nbad = a-b:c\n\n\
                    [pytest11]\ncov = pytest_cov.plugin:x\n";
        let entries = console_entries(text);
        let names: Vec<_> = entries.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["pytest", "py.test"]);
        assert_eq!(entries[1].2, "main");
        insta::assert_snapshot!(console_script("/quarry/env/bin/python", "a.b", "c.d"), @r"
        #!/quarry/env/bin/python
        import sys
        from a.b import c
        if __name__ == '__main__':
            sys.exit(c.d())
        ");
    }

    proptest! {
        #[test]
        fn bodies_are_kept(body in proptest::collection::vec(any::<u8>(), 0..60), python in "(/[a-z ]{1,60}){1,4}/python") {
            let mut script = b"#!/usr/bin/python3\n".to_vec();
            script.extend_from_slice(&body);
            let moved = with_interpreter(&script, &python).unwrap();
            prop_assert!(moved.ends_with(&body));
            prop_assert_eq!(with_interpreter(&moved, "/usr/bin/python3").unwrap(), script);
        }

        #[test]
        fn nothing_makes_the_readers_panic(script in proptest::collection::vec(any::<u8>(), 0..60), text in "(.|\n){0,60}") {
            let _ = with_interpreter(&script, "/p");
            let _ = console_entries(&text);
        }
    }
}
