//! The audit as one page: no network, from disk as well, readable without scripts.

use minijinja::{Environment, context};
use serde::Serialize;

use super::funnel::{Audit, Step, told};

const TEMPLATE: &str = include_str!("../../data/report/audit.html");
const STYLE: &str = include_str!("../../data/report/page.css");

#[derive(Serialize)]
struct Funnel<'a> {
    name: &'a str,
    steps: &'a [Step],
}

#[derive(Serialize)]
struct Row {
    candidate: String,
    step: String,
    verdict: String,
    why: String,
    observed: String,
}

/// The page.
///
/// # Errors
/// Never in practice: the template is this program's own.
pub fn html(audit: &Audit) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.add_template("audit.html", TEMPLATE)?;
    let mut funnels = vec![Funnel {
        name: "",
        steps: &audit.funnel,
    }];
    if audit.by_repo.len() > 1 {
        funnels.extend(audit.by_repo.iter().map(|(name, steps)| Funnel { name, steps }));
    }
    let dropped: Vec<Row> = audit
        .dropped
        .iter()
        .map(|one| Row {
            candidate: one.candidate.to_string(),
            step: one.step.clone(),
            verdict: one.verdict.clone(),
            why: format!("{}{}", one.evidence, told(one)),
            observed: one.observed.to_string(),
        })
        .collect();
    environment.get_template("audit.html")?.render(context! {
        css => STYLE,
        title => format!("{} {}: what is in it, and why the rest is not", audit.dataset, audit.version),
        kept => audit.kept,
        funnels => funnels,
        reasons => audit.reasons(),
        dropped => dropped,
    })
}

#[cfg(test)]
mod tests {
    use super::super::funnel::tests::audit;
    use super::*;

    #[test]
    fn the_page_holds_everybody_and_takes_nothing_from_outside() {
        let mut audit = audit();
        "<img src=x>".clone_into(&mut audit.dropped[0].evidence);
        let page = html(&audit).unwrap();
        for number in 1..=4 {
            assert!(
                page.contains(&format!("<code>a&#x2f;b#{number}</code>")),
                "{number}: {page}"
            );
        }
        assert!(!page.contains("<img") && page.contains("&lt;img src=x&gt;"));
        for outside in ["http://", "https://", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
