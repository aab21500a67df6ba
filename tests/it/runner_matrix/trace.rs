//! Branches, as every interpreter tells them.

/// Every kind of branch, and what is none; `(decides, leads to)` by line, 0 out of the function.
const BRANCHES: &str = "def early(x):
    if x > 1:
        return 1
    return 2
def loop(xs):
    for x in xs:
        if x:
            continue
        len(xs)
def both(a, b):
    if a and b:
        a = 3
def wait(n):
    while n:
        n -= 1
    else:
        n = 5
    return n
def inline(x):
    if x: return 1
    y = 2 if x else 3
    return [z for z in (1, y) if z]
def many(n):
    for k in range(n):
        yield k
def wrong(x):
    try:
        if x:
            raise ValueError
    except ValueError:
        pass
    except KeyError:
        pass
    assert not x
early(0)
loop([0])
both(1, 0)
wait(2)
inline(0)
list(many(1))
wrong(0)
";

const WATCH: &str = "
import json, sys
sys.path.insert(0, sys.argv[1])
import quarry_trace
code, branches = quarry_trace.code_of('module.py')
names, ran, taken = quarry_trace.Names(['module.py']), set(), set()
watch = [quarry_trace.by_tracing, quarry_trace.by_monitoring][sys.argv[2] == 'by_monitoring']
stop = watch(names, ran, taken)
if stop:
    exec(compile(open('module.py').read(), 'module.py', 'exec'), {})
    stop()
    print(json.dumps([sorted(branches), sorted(branches - set([(a, b) for _, a, b in taken]))]))
";

#[test]
fn branches_are_the_same_on_every_interpreter_and_seen_in_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("module.py"), BRANCHES).unwrap();
    let runner = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/runner");
    let mut seen = 0;
    for python in super::bench::interpreters().into_values() {
        for way in ["by_tracing", "by_monitoring"] {
            let output = std::process::Command::new(&python.executable)
                .current_dir(folder.path())
                .env("PYTHONDONTWRITEBYTECODE", "1")
                .args(["-S", "-c", WATCH])
                .arg(&runner)
                .arg(way)
                .output()
                .unwrap();
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{} {way}: {words}", python.version);
            if output.stdout.is_empty() {
                continue; // Before 3.12 there is one way only.
            }
            seen += 1;
            let found: [Vec<(u32, u32)>; 2] = serde_json::from_slice(&output.stdout).unwrap();
            let [branches, missed] = found;
            let expected = [
                (2, 3),
                (2, 4),
                (6, 0),
                (6, 7),
                (7, 8),
                (7, 9),
                (11, 0),
                (11, 12),
                (14, 15),
                (14, 17),
                (20, 0),
                (20, 21),
                (24, 0),
                (24, 25),
                (28, 29),
                (28, 34),
            ];
            assert_eq!(branches, expected, "{} {way}", python.version);
            let expected = [(2, 3), (7, 8), (11, 12), (20, 0), (28, 29)];
            assert_eq!(missed, expected, "{} {way}", python.version);
        }
    }
    assert!(seen >= 1, "no interpreter to try");
}
