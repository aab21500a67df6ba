//! What a failed step's log says of whose fault it is: one table, read top down.
//!
//! Only the resolver's own words count (its `error:` line and the causes below it). What a project's build prints is
//! quoted there, further in, and a project that fails because *it* cannot reach a host is still the project's fault.

use super::index::without_hosts;

/// The steps of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Requirements into a lock.
    Resolve,
    /// A lock into the layer of dependencies.
    Dependencies,
    /// The repository's own packages.
    Project,
}

/// Whose fault a failed step is. The word is stable: it is in the ledger, in events and in summaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The candidate's: final for this input.
    Project(&'static str),
    /// The outside's: tried again.
    Infra(&'static str),
    /// No fault yet: the project's build tool does not know editable installs, so the old way has its turn.
    NoEditable,
}

const INDEX: Fault = Fault::Infra("index-unreachable");

/// Words of uv, in the order they are looked for, and what they mean.
const TABLE: &[(&str, Fault)] = &[
    ("No space left on device", Fault::Infra("disk-full")),
    ("Disk quota exceeded", Fault::Infra("disk-full")),
    ("Cannot allocate memory", Fault::Infra("out-of-memory")),
    ("Too many open files", Fault::Infra("too-many-files")),
    ("has no attribute 'build_editable'", Fault::NoEditable),
    ("does not support editable", Fault::NoEditable),
    ("missing the `build_editable` hook", Fault::NoEditable),
    ("HTTP status client error (401", Fault::Infra("index-refuses")),
    ("HTTP status client error (403", Fault::Infra("index-refuses")),
    ("HTTP status client error (429", INDEX),
    ("HTTP status client error (407", Fault::Infra("index-refuses")),
    ("HTTP status server error", INDEX),
    ("Request failed after", INDEX),
    ("error sending request", INDEX),
    ("error decoding response body", INDEX),
    ("dns error", INDEX),
    ("tcp connect error", INDEX),
    ("operation timed out", INDEX),
    ("Connection reset by peer", INDEX),
    ("invalid peer certificate", Fault::Infra("index-refuses")),
    ("network was disabled", Fault::Infra("index-offline")),
    ("Network connectivity is disabled", Fault::Infra("index-offline")),
    ("not found in the cache", Fault::Infra("index-offline")),
    ("Hash mismatch", Fault::Infra("index-changed")),
];

/// Classifies a failed step by its log.
pub fn classify(step: Step, log: &str) -> Fault {
    let said = own_words(log).join("\n");
    // The hook's absence shows in the traceback of the build, so it is looked for in the whole log, and only there.
    let hit = TABLE.iter().find(|(words, fault)| match fault {
        Fault::NoEditable => step == Step::Project && log.contains(words),
        _ => said.contains(words),
    });
    match hit {
        Some((_, fault)) => fault.clone(),
        None if step == Step::Resolve && said.contains("build backend returned an error") => {
            Fault::Project("metadata-failed")
        }
        None if step == Step::Resolve => Fault::Project("resolve-failed"),
        None => Fault::Project("install-failed"),
    }
}

/// The log in one sentence for a reader: the resolver's own words, or else the last line; no host, at most 300 signs.
pub fn summary(log: &str) -> String {
    let own = own_words(log);
    let text = if own.is_empty() {
        log.lines()
            .map(str::trim)
            .rfind(|line| !line.is_empty())
            .unwrap_or("it left no word")
            .to_owned()
    } else {
        own.join(": ")
    };
    let text = without_hosts(&text);
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// What uv itself says: its `error:` lines, the causes and hints right below them, their numbering removed.
fn own_words(log: &str) -> Vec<String> {
    const MARKS: [&str; 8] = [
        "error: ",
        "  cause: ",
        "  Caused by: ",
        "hint: ",
        "  × ",
        "  ├─▶ ",
        "  ╰─▶ ",
        "  help: ",
    ];
    let words = log.lines().filter_map(|line| {
        let line = line.trim_end();
        MARKS
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
            .map(|rest| rest.trim().to_owned())
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNREACHABLE: &str = "\
error: Request failed after 1 retry in 1.6s
  cause: Failed to fetch: http://127.0.0.1:9/simple/flask/
  cause: error sending request for url (http://127.0.0.1:9/simple/flask/)
  cause: client error (Connect)
  cause: tcp connect error
  cause: Connection refused (os error 111)
";
    const NAME: &str = "\
error: Request failed after 3 retries in 10.9s
  cause: Failed to fetch: https://nosuch.invalid/simple/flask/
  cause: error sending request for url (https://nosuch.invalid/simple/flask/)
  cause: client error (Connect)
  cause: dns error
  cause: error resolving DNS
  cause: failed to lookup address information: Name or service not known
";
    const BUSY: &str = "\
error: Request failed after 1 retry in 1.1s
  cause: Failed to fetch: http://127.0.0.1:8765/simple/flask/
  cause: HTTP status server error (503 Service Unavailable) for url (http://127.0.0.1:8765/simple/flask/)
";
    const OFFLINE: &str = "\
error: No solution found when resolving dependencies
  cause: Because flask was not found in the cache and you require flask, we can conclude that your requirements are unsatisfiable.

hint: Packages were unavailable because the network was disabled. When the network is disabled, registry packages may only be read from the cache.
";
    const OLDER_UV: &str = "\
  × Failed to fetch: `https://index.example.org/simple/six/`
  ├─▶ Request failed after 3 retries
  ╰─▶ error sending request for url (https://index.example.org/simple/six/)
";
    const NO_SUCH_PACKAGE: &str = "\
error: No solution found when resolving dependencies
  cause: Because quarry-no-such-package-xyz was not found in the package registry and you require quarry-no-such-package-xyz, we can conclude that your requirements are unsatisfiable.
";
    const TOO_NEW: &str = "\
error: No solution found when resolving dependencies
  cause: Because there is no version of pytest-httpbin==2.0.0 and you require pytest-httpbin==2.0.0, we can conclude that your requirements are unsatisfiable.

hint: `pytest-httpbin` was filtered by `exclude-newer` to only include packages uploaded before 2021-06-01T10:00:00Z. The requested version, v2.0.0, was published at 2023-05-08T20:12:03.997Z. Consider using `exclude-newer-package` to override the cutoff for this package.
";
    const OLD_BACKEND: &str = "\
Using Python 3.6.15 environment at: /quarry/env
   Building file:///testbed
error: The build backend returned an error
  cause: Call to `setuptools.build_meta:__legacy__.build_editable` failed (exit status: 1)

         [stderr]
         Traceback (most recent call last):
           File \"<string>\", line 11, in <module>
         AttributeError: '_BuildMetaLegacyBackend' object has no attribute 'build_editable'
";
    const BUILD_CALLS_HOME: &str = "\
   Building file:///testbed
error: The build backend returned an error
  cause: Call to `setuptools.build_meta.prepare_metadata_for_build_wheel` failed (exit status: 1)

         [stderr]
         urllib.error.URLError: <urlopen error dns error: tcp connect error>
         error: operation timed out
";

    #[test]
    fn the_outside_is_told_from_the_project() {
        use Fault::{Infra, NoEditable, Project};
        let cases = [
            (Step::Resolve, UNREACHABLE, Infra("index-unreachable")),
            (Step::Dependencies, NAME, Infra("index-unreachable")),
            (Step::Project, BUSY, Infra("index-unreachable")),
            (Step::Resolve, OFFLINE, Infra("index-offline")),
            (Step::Resolve, OLDER_UV, Infra("index-unreachable")),
            (Step::Resolve, NO_SUCH_PACKAGE, Project("resolve-failed")),
            (Step::Resolve, TOO_NEW, Project("resolve-failed")),
            (Step::Project, OLD_BACKEND, NoEditable),
            (Step::Resolve, OLD_BACKEND, Project("metadata-failed")),
            (Step::Resolve, BUILD_CALLS_HOME, Project("metadata-failed")),
            (Step::Project, BUILD_CALLS_HOME, Project("install-failed")),
            (Step::Dependencies, "", Project("install-failed")),
            (
                Step::Dependencies,
                "error: Failed to install: six-1.16.0\n  cause: failed to copy file: No space left on device (os error 28)\n",
                Infra("disk-full"),
            ),
        ];
        for (step, log, fault) in cases {
            assert_eq!(classify(step, log), fault, "{step:?}\n{log}");
        }
    }

    #[test]
    fn a_summary_is_the_resolvers_own_words_without_hosts() {
        insta::assert_snapshot!(summary(UNREACHABLE), @"Request failed after 1 retry in 1.6s: Failed to fetch: http://…/simple/flask/: error sending request for url (http://…/simple/flask/): client error (Connect): tcp connect error: Connection refused (os error 111)");
        assert_eq!(summary("a\nlast words\n\n"), "last words");
        assert_eq!(
            summary(&format!("error: {}", "é".repeat(400))).chars().count(),
            301
        );
    }
}
