"""judge.py CHECKER LIST ROOT NEW AGAIN [lines] [keep]: an independent checker's verdict on a stripped tree, and bytecode's.

CHECKER is a Python file with `check(original, stripped, again, lines, allow)` that gives a list of violations; without
one (`-`) the bytecode alone is judged. `keep`: docstrings and comments were asked to stay, so the checker's rules on
what must be gone do not apply. Files that this interpreter does not parse are counted apart.
"""

import collections
import importlib.util
import multiprocessing
import os
import re
import sys
import warnings

warnings.simplefilter("ignore")
sys.setrecursionlimit(50000)
TYPE = re.compile(r"#[ \t]*type:[ \t]*(?!ignore\b)")
CYTHON = re.compile(r"#[ \t]*(cython|distutils)[ \t]*:")
SCRIPT = re.compile(r"(?m)^# /// [a-zA-Z0-9-]+\r?$\s(^#(| .*)$\s)+")
here = os.path.dirname(os.path.abspath(__file__))
source = open(os.path.join(here, "../../data/strip/judge.py")).read()
second = {}
exec(source.rsplit("\nmain()", 1)[0], second)


def always(text):
    """The comments that the stripper documents to keep always."""
    block = set()
    for match in SCRIPT.finditer(text):
        block.update(line.rstrip("\r") for line in match.group(0).split("\n"))
    return lambda comment: bool(TYPE.match(comment) or CYTHON.match(comment) or comment in block)


def one(name):
    def read(root):
        with open(os.path.join(root, name), "rb") as file:
            return file.read()

    original, stripped, again = read(ROOT), read(NEW), read(AGAIN)
    found = ["not idempotent"] if stripped != again else []
    verdict = second["judge"](original, stripped, False)
    if verdict.startswith("differs"):
        found.append("bytecode: " + verdict)
    skipped = verdict.startswith("skip")
    if checker and not skipped:
        allow = always(original.decode("latin-1")) if not KEEP else lambda comment: True
        for line in checker.check(original, stripped, again, LINES, allow):
            # With docstrings that stay, trees and literals differ from what the checker takes for granted.
            if not (KEEP and line[:2] in ("b:", "d:", "g:")):
                found.append(line)
    return name, skipped, found


def main():
    files = [line.rstrip("\n") for line in open(LIST)]
    with multiprocessing.Pool(2) as pool:
        results = pool.map(one, files, chunksize=32)
    kinds = collections.Counter(line.split(":")[0] for _, _, found in results for line in found)
    skipped = sum(skipped for _, skipped, _ in results)
    bad = [(name, found) for name, _, found in results if found]
    print("%d files judged, %d not this interpreter's, %d with violations %s" % (
        len(results) - skipped, skipped, len(bad), dict(kinds) or ""))
    for name, found in bad[:20]:
        print("   ", name, found)
    sys.exit(bool(bad))


CHECKER, LIST, ROOT, NEW, AGAIN = sys.argv[1:6]
LINES, KEEP = "lines" in sys.argv[6:], "keep" in sys.argv[6:]
checker = None
if CHECKER != "-":
    spec = importlib.util.spec_from_file_location("checker", CHECKER)
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
if __name__ == "__main__":
    main()
