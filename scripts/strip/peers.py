"""peers.py CHECKER BASELINE LIST: what else people use, on the same files, one process: speed and violations.

A violation is a verdict of the second judge (data/strip/judge.py) or a comment or docstring that is left, by CHECKER.
"""

import importlib.util
import io
import os
import sys
import tempfile
import time
import warnings

warnings.simplefilter("ignore")
sys.setrecursionlimit(20000)
here = os.path.dirname(os.path.abspath(__file__))
second = {}
exec(open(os.path.join(here, "../../data/strip/judge.py")).read().rsplit("\nmain()", 1)[0], second)


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def minifier(data):
    import python_minifier

    switches = dict.fromkeys((
        "remove_annotations", "remove_pass", "combine_imports", "hoist_literals", "rename_locals", "rename_globals",
        "remove_object_base", "convert_posargs_to_args", "preserve_shebang", "remove_asserts", "remove_debug",
        "remove_explicit_return_none", "remove_builtin_exception_brackets", "constant_folding"), False)
    return python_minifier.minify(data, remove_literal_statements=True, **switches).encode()


def commremover(data):
    import pycommremover

    return pycommremover.remove_comments_and_docstrings(data.decode()).encode()


def strip_docs(data):
    from strip_docs.strip_docs import do_file

    with tempfile.NamedTemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None, suffix=".py") as file:
        file.write(data)
        file.flush()
        do_file(file.name)
        with open(file.name, "rb") as new:
            return new.read()


def main(checker, baseline, listing):
    files = []
    for line in open(listing):
        with open(line.rstrip("\n"), "rb") as file:
            files.append(file.read())
    size = sum(map(len, files))
    checker = load(checker, "checker") if checker != "-" else None
    tools = [("python-minifier", minifier), ("pycommremover", commremover), ("strip-docs", strip_docs)]
    if baseline != "-":
        reference = load(baseline, "baseline")
        tools.insert(0, ("Python reference", lambda data: reference.strip_bytes(data)[0]))
    for name, tool in tools:
        results, failed, start = [], 0, time.perf_counter()
        for data in files:
            try:
                results.append(tool(data))
            except Exception:
                failed += 1
                results.append(None)
        seconds = time.perf_counter() - start
        bad = 0
        for data, result in zip(files, results):
            if result is None:
                continue
            verdict = second["judge"](data, result, False)
            if verdict.startswith("skip"):
                continue
            found = checker.check(data, result) if checker else []
            bad += verdict.startswith("differs") or bool(found)
        print("%-20s %8.2f MB/s %8.0f files/s   %d files with violations, %d failed" % (
            name, size / 1e6 / seconds, len(files) / seconds, bad, failed), flush=True)


main(*sys.argv[1:])
