//! The pages of `evaluate` and `audit` in a browser (Debian's chromium, which `scripts/setup --tests` installs): from disk,
//! without any network, light and dark, on a desk and on a phone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use quarry::audit::funnel::{Audit, Dropped, Step};
use quarry::audit::page;
use quarry::domain::outcome::TestStatus;
use quarry::evaluate::report::{Beside, Conditions, Kind, Parts, Report, html};
use quarry::evaluate::result::{Applied, Class, Outcome, Strategy};
use serde_json::{Value, json};

/// What a phone's screen is wide, in CSS pixels.
const PHONE: u32 = 400;
/// A name that has no place to be broken at.
const LONG: &str = "tests/test_a_module_with_a_long_name.py::TestACaseWithALongName::test_something[a-parameter-of-many-letters-0123456789]";
/// What a page must show, not run.
const HOSTILE: &str = "<script>console.error('ran')</script>";

#[expect(
    clippy::disallowed_methods,
    reason = "a test finds its browser where programs are found"
)]
fn browser() -> PathBuf {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .find_map(|name| {
            let path = std::env::var_os("PATH")?;
            std::env::split_paths(&path)
                .map(|folder| folder.join(name))
                .find(|file| file.is_file())
        });
    found.unwrap_or_else(|| {
        panic!("no browser is installed\nhint: run `scripts/setup --tests`, as `scripts/test` does")
    })
}

/// What the browser made of a page: its document, and what it complained of.
fn load(folder: &Path, page: &Path, scheme: Scheme) -> (String, Vec<String>) {
    let output = Command::new(browser())
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ])
        .args([
            "--enable-logging=stderr",
            "--window-size=1200,900",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("--blink-settings=preferredColorScheme={}", scheme as u8))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .env("HOME", folder)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let told = errors.lines().filter(|line| line.contains("CONSOLE"));
    let told = told.map(str::to_owned).collect();
    (String::from_utf8(output.stdout).unwrap(), told)
}

/// The browser's own numbers.
#[derive(Debug, Clone, Copy)]
enum Scheme {
    Dark = 0,
    Light = 1,
}

/// A script that opens everything and leaves what it measures of the page in an attribute.
const MEASURE: &str = "<script>document.querySelectorAll('details').forEach(function (one) { one.open = true; }); document.documentElement.dataset.seen = JSON.stringify({\
    width: document.documentElement.clientWidth, needed: document.documentElement.scrollWidth, \
    ink: getComputedStyle(document.body).color, paper: getComputedStyle(document.documentElement).backgroundColor + \
    getComputedStyle(document.body).backgroundColor, shown: document.body.innerText.length});</script>";

/// What [`MEASURE`] left in a document.
fn measured(document: &str) -> Value {
    let start = document
        .find("data-seen=\"")
        .unwrap_or_else(|| panic!("nothing was measured: {document}"));
    let text = document[start + 11..].split('"').next().unwrap();
    serde_json::from_str(&text.replace("&quot;", "\"")).unwrap()
}

/// The page in a frame that is as wide as a phone; what was measured in it goes to the outer document.
fn on_a_phone(page: &str) -> String {
    let inner = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!doctype html><iframe width={PHONE} height=800 frameborder=0 srcdoc=\"{inner}\"></iframe><script>\
         document.querySelector('iframe').addEventListener('load', function () {{ document.documentElement.dataset.seen = \
         this.contentDocument.documentElement.dataset.seen; }});</script>"
    )
}

fn look(name: &str, page: &str, rows: &[&str]) {
    let temp = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let file = temp.path().join(name);
        fs::write(&file, text).unwrap();
        file
    };
    let page = page.replace("</body>", &format!("{MEASURE}</body>"));
    let file = put("page.html", &page);
    let phone = put("phone.html", &on_a_phone(&page));
    let mut looks = vec![];
    for scheme in [Scheme::Light, Scheme::Dark] {
        let (document, errors) = load(temp.path(), &file, scheme);
        assert_eq!(errors, [""; 0], "{name}, {scheme:?}");
        for text in rows {
            assert!(document.contains(text), "{name} does not show {text}");
        }
        let seen = measured(&document);
        assert!(seen["shown"].as_u64() > Some(200), "{name}: {seen}");
        assert!(
            seen["needed"].as_u64() <= seen["width"].as_u64(),
            "{name}: {seen}"
        );
        looks.push((seen["ink"].clone(), seen["paper"].clone()));
    }
    assert!(
        looks[0].0 != looks[1].0 && looks[0].1 != looks[1].1,
        "{name}: light and dark are alike: {looks:?}"
    );
    let (document, errors) = load(temp.path(), &phone, Scheme::Light);
    assert_eq!(errors, [""; 0], "{name} on a phone");
    let seen = measured(&document);
    assert!(seen["width"].as_u64() <= Some(PHONE.into()), "{seen}");
    assert!(
        seen["needed"].as_u64() <= seen["width"].as_u64(),
        "{name} on a phone: {seen}"
    );
}

fn outcome(id: &str, class: Class) -> Outcome {
    let not_passed: BTreeMap<_, _> = [
        (LONG.into(), TestStatus::Failed),
        (HOSTILE.into(), TestStatus::Absent),
    ]
    .into();
    Outcome {
        instance_id: id.into(),
        repo: "an-owner-with-a-long-name/a-repository-with-a-long-name".to_owned(),
        month: "2024-01".to_owned(),
        split: None,
        class,
        resolved_runs: u32::from(class == Class::Resolved),
        runs: 1,
        flaky: false,
        applied: Some(Applied {
            strategy: Strategy::Exact,
            fixes: vec![],
        }),
        ended: "ok".to_owned(),
        detail: format!("error: patch failed: {LONG}"),
        fail_to_pass_passed: 0,
        fail_to_pass: 1,
        pass_to_pass_passed: 2,
        pass_to_pass: 3,
        has_gold_files: true,
        not_passed: if class == Class::Unresolved {
            not_passed
        } else {
            BTreeMap::new()
        },
        edits: vec![],
        forged_lines: 1,
        patch_sha256: String::new(),
        logs: vec![],
        cost: None,
        steps: None,
    }
}

#[test]
fn an_evaluations_page_draws_everywhere() {
    let ids: Vec<String> = Class::ALL
        .iter()
        .enumerate()
        .map(|(index, _)| format!("owner__name-{index}"))
        .collect();
    let outcomes = ids.iter().zip(Class::ALL).map(|(id, class)| outcome(id, class));
    let report = Report::new(Parts {
        tool: "0.1.0".to_owned(),
        dataset: "a-dataset".to_owned(),
        version: "1.0.0".to_owned(),
        kind: Kind::Predictions,
        model: "a model".to_owned(),
        conditions: Conditions {
            runs: 1,
            fuzz: 0,
            count_infra: false,
            room: "process".to_owned(),
            only: vec![],
        },
        beside: Beside::default(),
        outcomes: outcomes.collect(),
    });
    let logs = [(
        ids[1].as_str().into(),
        vec![format!("$ pytest {LONG} {LONG}\n{HOSTILE}\n")],
    )]
    .into();
    let mut rows = vec![
        "<h1>",
        "Scores</h2>",
        "Instances</h2>",
        "6 of 6 instances",
        "a-repository-with-a-long-name",
        LONG,
    ];
    rows.extend(ids.iter().map(String::as_str));
    look("the evaluation", &html(&report, &logs).unwrap(), &rows);
}

#[test]
fn an_audits_page_draws_everywhere() {
    let ids: Vec<String> = (1..=4)
        .map(|number| format!("an-owner-with-a-long-name/a-repository#{number}"))
        .collect();
    let step = |step: &str| Step {
        step: step.to_owned(),
        kind: "rule".to_owned(),
        reason: format!("a reason that is as long as reasons are, with {LONG}"),
        entered: 9,
        dropped: 4,
        out: 5,
        ..Step::default()
    };
    let dropped = ids.iter().map(|id| Dropped {
        candidate: id.parse().unwrap(),
        step: "a-rule-with-a-long-name".to_owned(),
        verdict: "drop".to_owned(),
        evidence: HOSTILE.to_owned(),
        observed: json!({"gold.paths": [LONG, HOSTILE]}),
        near: None,
    });
    let audit = Audit {
        dataset: "a-dataset".to_owned(),
        version: "1.0.0".to_owned(),
        funnel: vec![step("mine"), step("a-rule-with-a-long-name")],
        by_repo: BTreeMap::from([
            ("a/b".to_owned(), vec![step("mine")]),
            ("c/d".to_owned(), vec![step("mine")]),
        ]),
        kept: 5,
        dropped: dropped.collect(),
    };
    let mut rows = vec![
        "<h1>",
        "Funnel</h2>",
        "Dropped</h2>",
        "4 of 4 pull requests",
        LONG,
    ];
    rows.extend(ids.iter().map(String::as_str));
    look("the audit", &page::html(&audit).unwrap(), &rows);
}
