//! What a variant is made by, as words of the command line.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};

use crate::strip::{Check, DocstringsAsCode, Keep, Mode, Policy, Remove, Variant};

/// What a variant is made by.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// The published rule, or the one under which the repository still builds
    #[arg(long, value_enum, default_value_t = ModeArg::Safe)]
    pub mode: ModeArg,
    /// Leave every statement on its line
    #[arg(long)]
    pub keep_lines: bool,
    /// Comments that stay
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND,…")]
    pub keep: Vec<KeepArg>,
    /// What goes, too
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND,…")]
    pub remove: Vec<RemoveArg>,
    /// What becomes of docstrings that the program reads
    #[arg(long, value_enum, default_value_t = DocstringsArg::ByMode)]
    pub docstrings_as_code: DocstringsArg,
    /// Strip files that do not parse, too (Python 2), as far as their tokens prove it sound
    #[arg(long)]
    pub python2: bool,
}

/// What a tree is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// A folder.
    Folder,
    /// A tar archive, to --out or standard output.
    Tar,
    /// A git tree in the mirror; its name is printed.
    Tree,
}

macro_rules! mirror_enum {
    ($(#[$doc:meta])* $name:ident => $target:ident { $($(#[$variant_doc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
        pub enum $name {
            $($(#[$variant_doc])* $variant),+
        }
        impl From<$name> for $target {
            fn from(value: $name) -> Self {
                match value {
                    $($name::$variant => Self::$variant),+
                }
            }
        }
    };
}

mirror_enum! {
    /// The modes.
    ModeArg => Mode {
        /// Code-QA-Bench's rule
        Paper,
        /// What is referred to stays or becomes an empty stub
        Safe,
    }
}
mirror_enum! {
    /// The variants.
    VariantArg => Variant {
        /// The tree as it is
        Full,
        /// Without docstrings, comments and documentation
        CodeOnly,
        /// Without files that instruct coding agents
        NoContext,
    }
}
mirror_enum! {
    /// Comments for tools.
    KeepArg => Keep {
        /// type: ignore, mypy:, pyright:
        TypeIgnore,
        /// noqa, flake8:, ruff:, nosec
        Noqa,
        /// pylint:
        Pylint,
        /// pragma:
        Pragma,
        /// fmt:, yapf:, isort:
        Formatter,
        /// Comment lines that speak of copyright or a licence
        Licence,
    }
}
mirror_enum! {
    /// What stays by default.
    RemoveArg => Remove {
        /// Strings after an assignment
        AttributeDocstrings,
        /// Other statements that are strings
        StringStatements,
        /// Annotations in comments (PEP 484)
        TypeComments,
        /// Script metadata (PEP 723)
        ScriptMetadata,
        /// cython: and distutils:
        CythonDirectives,
    }
}
mirror_enum! {
    /// Docstrings that the program reads.
    DocstringsArg => DocstringsAsCode {
        /// PLY's stay in safe mode, none in paper mode
        ByMode,
        /// PLY's stay
        Ply,
        /// All that are known to be read stay
        Keep,
        /// All go
        Remove,
    }
}
mirror_enum! {
    /// The proofs.
    CheckArg => Check {
        /// Same tokens outside the cuts; a full comparison where that does not decide
        Tokens,
        /// Same tree, by parsing the result
        Tree,
        /// No proof
        None,
    }
}

impl PolicyArgs {
    /// The settings that these arguments say.
    pub fn policy(&self, check: Check) -> Policy {
        Policy {
            mode: self.mode.into(),
            keep_lines: self.keep_lines,
            keep: self
                .keep
                .iter()
                .map(|kind| (*kind).into())
                .collect::<BTreeSet<Keep>>(),
            remove: self
                .remove
                .iter()
                .map(|kind| (*kind).into())
                .collect::<BTreeSet<Remove>>(),
            docstrings_as_code: self.docstrings_as_code.into(),
            python2: self.python2,
            check,
        }
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Serialize;
    use serde_json::Value;

    use super::*;

    /// Every word that a schema allows.
    fn words(schema: &Value, found: &mut BTreeSet<String>) {
        match schema {
            Value::Object(map) => {
                found.extend(map.get("const").and_then(Value::as_str).map(str::to_owned));
                let listed = map.get("enum").and_then(Value::as_array);
                found.extend(
                    listed
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str)
                        .map(str::to_owned),
                );
                map.values().for_each(|inner| words(inner, found));
            }
            Value::Array(list) => list.iter().for_each(|inner| words(inner, found)),
            _ => {}
        }
    }

    fn agree<Word: ValueEnum, Setting: From<Word> + Serialize + JsonSchema>() {
        let mut here = BTreeSet::new();
        for word in Word::value_variants() {
            let name = word.to_possible_value().unwrap().get_name().to_owned();
            let setting = serde_json::to_value(Setting::from(word.clone())).unwrap();
            assert_eq!(setting, Value::from(name.as_str()));
            here.insert(name);
        }
        let mut there = BTreeSet::new();
        words(schemars::schema_for!(Setting).as_value(), &mut there);
        assert_eq!(here, there);
    }

    #[test]
    fn the_command_line_has_the_words_of_recipes() {
        agree::<ModeArg, Mode>();
        agree::<VariantArg, Variant>();
        agree::<KeepArg, Keep>();
        agree::<RemoveArg, Remove>();
        agree::<DocstringsArg, DocstringsAsCode>();
        agree::<CheckArg, Check>();
    }
}
