//! unittest on every interpreter here.

use quarry::recipe::model::Runner;

use super::bench::{Bench, check_promises, interpreters, reason};

#[tokio::test]
async fn unittest_tells_every_outcome() {
    for interpreter in interpreters().values() {
        let which = &format!("Python {}", interpreter.version);
        let bench = Bench::new(interpreter, &[]);
        let ways: [(&[&str], usize); 4] = [
            (&["discover", "-v"], 21),
            (
                &["suite.test_async", "suite.test_broken", "suite.test_module_skip"],
                1,
            ),
            (
                &["suite.test_units", "suite.test_async", "suite.test_module_setup"],
                21,
            ),
            // The same test twice under one id.
            (&["suite.test_async", "suite.test_async"], 1),
        ];
        for (args, count) in ways {
            let (result, told) = bench.run("units", Runner::Unittest, args, |_| {}).await;
            assert_eq!(
                reason(&result, &told).0,
                "ok",
                "{which}: {}",
                result.stdout.text()
            );
            check_promises(which, &told, count);
            if args[0] == "discover" || args.len() == 3 && args[1] == "suite.test_broken" {
                let errors: Vec<&String> = told.outcome.collection_errors.keys().collect();
                assert_eq!(errors, ["suite.test_broken"], "{which}");
                let skips: Vec<&String> = told.outcome.collection_skips.keys().collect();
                assert_eq!(skips, ["suite.test_module_skip"], "{which}");
            }
        }
    }
}
