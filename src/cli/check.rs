//! `quarry check RECIPE…`: every key, every rule, every fact.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::args::CheckArgs;
use super::error::CliError;
use super::exit_code::ExitCode;
use super::session::Session;
use crate::filter::{compile, plan};
use crate::recipe::language::fact_table;
use crate::recipe::{self, RecipeError, schema};

pub(super) fn run(args: &CheckArgs, session: &Session) -> Result<ExitCode, CliError> {
    if args.schema {
        session.printer.raw(&schema::schema_text())?;
        return Ok(ExitCode::Success);
    }
    if args.facts {
        let table = fact_table();
        session.printer.result(&table, &table.text())?;
        return Ok(ExitCode::Success);
    }
    let mut text = String::new();
    let mut reports = Vec::new();
    let mut sound = true;
    for file in &args.recipes {
        let loaded = match recipe::load(file.as_std_path()) {
            Ok(loaded) => loaded,
            Err(error @ RecipeError::Invalid { .. }) => {
                sound = false;
                for problem in error.problems() {
                    let _ = writeln!(text, "{problem}\n");
                }
                let _ = writeln!(text, "{file}: {}", counted(error.problems().len()));
                reports.push(json!({ "recipe": file, "problems": error.problems() }));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let program = compile(&loaded.recipe)?;
        let rules = loaded.recipe.rules.len();
        let mut report = json!({ "recipe": file, "hash": loaded.hash, "rules": rules, "problems": [] });
        if args.plan {
            let plan = plan(&program);
            let _ = write!(text, "{}", plan.text());
            report["plan"] = serde_json::to_value(&plan).unwrap_or(Value::Null);
        }
        let dataset = &loaded.recipe.dataset;
        let _ = writeln!(
            text,
            "{file}: good: {} {}, {rules} rules",
            dataset.name, dataset.version
        );
        reports.push(report);
    }
    session.printer.result(&reports, &text)?;
    Ok(if sound {
        ExitCode::Success
    } else {
        ExitCode::Unsound
    })
}

fn counted(problems: usize) -> String {
    if problems == 1 {
        "1 problem".to_owned()
    } else {
        format!("{problems} problems")
    }
}
