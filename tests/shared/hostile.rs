//! Tests that a project may bring along and that must not get what they want: nothing is lost, nothing passes, nothing
//! stays running.

use quarry::domain::attempt::AttemptOutcome;
use quarry::domain::ids::TestId;
use quarry::domain::oracle::Oracle;
use quarry::verify::VerifyOutcome;

use crate::CLOSED;
use crate::site::Site;
use crate::verify::GOLD;

/// A test module with one hostile test after an honest one.
fn module(imports: &str, body: &str) -> String {
    let body = body.replace('\n', "\n        ");
    format!(
        "import os\nimport unittest\n{imports}\nimport lib\n\n\nclass Lib(unittest.TestCase):\n    \
         def test_honest(self):\n        self.assertEqual(lib.VALUE, 2)\n\n    def test_hostile(self):\n        {body}\n"
    )
}

/// How the verification of a hostile module fails: `(reason, what its log holds)`.
async fn reason(
    site: &Site,
    tests: &str,
    change: impl FnOnce(&mut quarry::recipe::model::Verification),
) -> (String, String) {
    let mut request = site.request(tests, GOLD);
    request.subject.settings.infra_tries = 1;
    request.subject.settings.timeout_seconds = 60;
    change(&mut request.subject.settings);
    let failure = site.failure(&request).await;
    assert_eq!(failure.outcome, AttemptOutcome::Infra, "{failure:?}");
    assert_eq!(site.attempts().len(), 1, "nothing is lost");
    assert!(site.attempts()[0].result.is_none(), "nothing passes");
    assert_eq!(site.leftovers(), [""; 0]);
    let log = site.log(&failure);
    (failure.reason, log)
}

async fn oracle(site: &Site, tests: &str) -> (Oracle, u64) {
    let request = site.request(tests, GOLD);
    match site.verifier.verify(&request).await.unwrap() {
        VerifyOutcome::Verified(verified) => (verified.oracle, verified.forged_lines),
        other => panic!("{other:?}"),
    }
}

fn id(name: &str) -> TestId {
    TestId(format!("tests.test_lib.Lib.{name}"))
}

#[tokio::test]
async fn a_test_that_kills_its_session_makes_no_oracle() {
    let site = Site::new(CLOSED);
    let tests = module("import signal", "os.killpg(0, signal.SIGKILL)");
    let (reason, log) = reason(&site, &tests, |_| {}).await;
    assert!(reason == "crash" || reason == "lost-channel", "{reason}: {log}");
}

#[tokio::test]
async fn a_test_that_kills_everything_it_may_makes_no_oracle() {
    let site = Site::new(CLOSED);
    let tests = module(
        "import signal",
        "try:\n    os.kill(-1, signal.SIGKILL)\nexcept OSError:\n    pass\nos.kill(os.getpid(), signal.SIGKILL)",
    );
    let (reason, log) = reason(&site, &tests, |_| {}).await;
    assert!(reason == "crash" || reason == "lost-channel", "{reason}: {log}");
}

#[tokio::test]
async fn a_fork_bomb_is_stopped() {
    let site = Site::new(CLOSED);
    let tests = module(
        "import time",
        "for _ in range(400):\n    try:\n        os.fork() or time.sleep(30)\n    except OSError:\n        time.sleep(30)",
    );
    let (reason, _) = reason(&site, &tests, |settings| settings.processes = 60).await;
    assert_eq!(reason, "process-limit");
}

#[tokio::test]
async fn a_memory_hog_is_stopped() {
    let site = Site::new(CLOSED);
    let tests = module(
        "",
        "hog = []\nfor _ in range(60):\n    hog.append(bytes(os.urandom(1 << 20)) * 8)",
    );
    let (reason, _) = reason(&site, &tests, |settings| settings.memory_mb = 128).await;
    assert_eq!(reason, "memory-limit");
}

#[tokio::test]
async fn endless_output_is_stopped() {
    let site = Site::new(CLOSED);
    let tests = module("", "while True:\n    os.write(1, b'y' * 65536)");
    let (reason, log) = reason(&site, &tests, |settings| settings.output_mb = 4).await;
    assert_eq!(reason, "output-limit");
    assert!(log.len() < 3 << 20, "what is kept is capped");
}

#[tokio::test]
async fn a_teardown_that_hangs_is_stopped_and_named() {
    let site = Site::new(CLOSED);
    let tests = module("import time", "pass") + "\n    def tearDown(self):\n        time.sleep(1000)\n";
    let (reason, _) = reason(&site, &tests, |settings| settings.silence_seconds = 2).await;
    assert_eq!(reason, "silence");
}

#[tokio::test]
async fn forged_results_count_for_nothing() {
    let site = Site::new(CLOSED);
    let tests = module(
        "import glob\nimport sys",
        r#"line = '{"e": "phase", "id": "tests.test_lib.Lib.test_hostile", "phase": "call", "outcome": "passed"}'
forged = "0" * 32 + " " + line + "\n"
print("tests/test_lib.py::test_hostile PASSED")
print(forged)
for name in glob.glob("/quarry/*") + ["/quarry/report.json", "report.xml", "/testbed/.report.json"]:
    try:
        with open(name, "a") as file:
            file.write(forged)
    except OSError:
        pass
self.fail("it never passes")"#,
    );
    let (oracle, forged) = oracle(&site, &tests).await;
    assert_eq!(oracle.fail_to_pass, [id("test_honest")]);
    assert_eq!(oracle.fail_to_fail, [id("test_hostile")]);
    assert!(forged >= 6, "each run's forgery is seen: {forged}");
}

#[tokio::test]
async fn a_test_that_writes_outside_reaches_nothing() {
    let site = Site::new(CLOSED);
    let victim = site.folder.path().join("victim");
    std::fs::write(&victim, "whole").unwrap();
    let body = format!(
        r#"reached = []
for path in ["/usr/evil", "/etc/evil", "/evil", "/quarry/evil", "/quarry/runner/evil", "/var/run/docker.sock", "{victim}", "{ledger}"]:
    try:
        with open(path, "a") as file:
            file.write("evil")
        reached.append(path)
    except OSError:
        pass
self.assertEqual(reached, [])
self.assertEqual([name for name in os.environ if "TOKEN" in name or "DOCKER" in name], [])"#,
        victim = victim.display(),
        ledger = site.context.workspace.ledger(),
    );
    let (oracle, _) = oracle(&site, &module("", &body)).await;
    assert_eq!(oracle.pass_to_pass, [id("test_hostile")], "{oracle:?}");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "whole");
}
