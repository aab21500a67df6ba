//! Directives that say since when something is there: `versionadded`, `versionchanged`, `deprecated`. A documentation's change
//! that adds one says itself that it tells of something new, and in which version: evidence beside the release notes'.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The directives, as Sphinx names them.
const DIRECTIVES: [&str; 3] = ["versionadded", "versionchanged", "deprecated"];

/// A directive that a change of documentation adds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The file, as the statement's diff names it.
    pub file: String,
    /// `versionadded`, `versionchanged` or `deprecated`.
    pub directive: String,
    /// The version that it names, as it is written; empty where it names none.
    pub version: String,
}

/// The directives that a statement adds and does not take away elsewhere, in its order: reStructuredText's
/// (`.. versionadded:: 2.0`), and Markdown's (`` ```{versionadded} 2.0 ``).
pub fn marks(statement: &str) -> Vec<Mark> {
    let (mut file, mut added, mut removed) = (String::new(), vec![], vec![]);
    for line in statement.lines() {
        if let Some(path) = line.strip_prefix("+++ ") {
            path.strip_prefix("b/").unwrap_or(path).clone_into(&mut file);
        } else if let Some(text) = line.strip_prefix('+') {
            added.extend(directive(text).map(|(directive, version)| Mark {
                file: file.clone(),
                directive,
                version,
            }));
        } else if let Some(text) = line.strip_prefix('-') {
            removed.extend(directive(text));
        }
    }
    // A directive that only moved says nothing new.
    for (directive, version) in removed {
        let same = |mark: &Mark| mark.directive == directive && mark.version == version;
        if let Some(place) = added.iter().position(same) {
            added.remove(place);
        }
    }
    added
}

/// A line's directive and its version.
fn directive(line: &str) -> Option<(String, String)> {
    let line = line.trim_start();
    let fence = line.trim_start_matches(['`', ':']);
    let (word, rest) = if let Some(rest) = line.strip_prefix(".. ") {
        rest.trim_start().split_once("::")?
    } else if line.len() - fence.len() >= 3 {
        fence.strip_prefix('{')?.split_once('}')?
    } else {
        return None;
    };
    let known = DIRECTIVES.contains(&word);
    let version = rest.split_whitespace().next().unwrap_or_default();
    known.then(|| (word.to_owned(), version.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_new_is_told_and_what_moved_is_not() {
        let statement = "\
--- a/docs/api.rst
+++ b/docs/api.rst
@@ -1,2 +1,9 @@ API
+.. versionadded:: 2.0
+   The whole thing.
+      .. versionchanged:: 2.1  Faster.
+.. deprecated::
+.. note:: versionadded:: 3.0
-.. versionadded:: 1.4
+    .. versionadded:: 1.4
 .. versionadded:: 1.0
--- a/docs/use.md
+++ b/docs/use.md
@@ -1 +1,2 @@
+```{versionadded} 2.0
+::: {versionadded} 2.0
+:::{versionchanged} NEXT
+`{versionadded} 2.0`
";
        let told: Vec<String> = marks(statement)
            .iter()
            .map(|mark| format!("{} {} {}", mark.file, mark.directive, mark.version))
            .collect();
        assert_eq!(
            told,
            [
                "docs/api.rst versionadded 2.0",
                "docs/api.rst versionchanged 2.1",
                "docs/api.rst deprecated ",
                "docs/use.md versionadded 2.0",
                "docs/use.md versionchanged NEXT",
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in r"([+ -](\.\. |```\{|::|\}|versionadded|deprecated|1\.0|é| )*\n){0,8}") {
            prop_assert!(marks(&text).len() <= text.lines().count());
        }
    }
}
