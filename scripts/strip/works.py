"""works.py QUARRY SRC WORK [NAME…]: does it still work? Builds and tests real projects before and after stripping.

SRC holds unpacked source distributions. For each project: the tree as it is and its safe code-only variant (lines kept or
not: --lines) are installed into an environment of their own and its tests are run; outcomes are compared by name. Prints
what differs, and whether the stripper's report had warned of the file that differs.
"""

import collections
import glob
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

PROJECTS = {
    "flask": ("flask-3.*", ["pytest<8.4", "asgiref", "python-dotenv"], "tests"),
    "requests": ("requests-2.*", ["pytest<8.4", "pytest-httpbin==2.1.0", "httpbin~=0.10.0", "pytest-mock", "trustme",
                                  "PySocks"], "tests"),
    "jinja2": ("jinja2-3.*", ["pytest<8.4", "trio"], "tests"),
    "click": ("click-8.*", ["pytest<8.4"], "tests"),
    "attrs": ("attrs-2*", ["pytest<8.4", "hypothesis", "cloudpickle", "pympler", "pytest-xdist"], "tests"),
    "pylint": ("pylint-3.*", ["pytest<8.4", "pytest-benchmark", "pytest-timeout", "towncrier", "requests", "gitpython",
                              "setuptools", "typing-extensions", "six", "py"], "tests"),
}


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def outcomes(tree, work, python, dependencies, tests):
    venv = os.path.join(work, "venv")
    if not os.path.exists(venv):
        made = run("uv", "venv", "--quiet", "--python", python, venv)
        if made.returncode:
            return None, made.stdout
    interpreter = os.path.join(venv, "bin", "python")
    built = run("uv", "pip", "install", "--quiet", "--python", interpreter, tree, *dependencies)
    if built.returncode:
        return None, built.stdout
    report = os.path.join(work, "junit.xml")
    # A temporary folder of its own: some tests find there what an earlier run of theirs left.
    temporary = os.path.join(work, "tmp")
    os.makedirs(temporary, exist_ok=True)
    env = dict(os.environ, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1", TMPDIR=temporary)
    env.pop("PYTHONPATH", None)
    ran = run(interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "--junitxml", report,
              tests, cwd=tree, env=env, timeout=3000)
    if not os.path.exists(report):
        return None, ran.stdout[-3000:]
    found = {}
    for case in ET.parse(report).iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        name = ("%s::%s" % (case.get("classname"), case.get("name"))).replace(work, "WORK")
        found[name] = sorted(kinds)[0] if kinds else "passed"
    return found, ran.stdout


def main(quarry, src, work, *names):
    quarry, src, work = map(os.path.abspath, (quarry, src, work))
    options = [name for name in names if name.startswith("--")]
    names = [name for name in names if not name.startswith("--")] or list(PROJECTS)
    bad = 0
    for name in names:
        pattern, dependencies, tests = PROJECTS[name]
        original = sorted(glob.glob(os.path.join(src, pattern)))[0]
        results, summary = {}, {}
        for variant in ("full", "stripped"):
            folder = os.path.join(work, name, variant)
            tree = os.path.join(folder, "tree")
            os.makedirs(folder, exist_ok=True)
            if not os.path.exists(tree):
                made = run(quarry, "strip", original, "--out", tree, "--report", os.path.join(folder, "report.json"),
                           "--variant", "full" if variant == "full" else "code-only", *options)
                if made.returncode:
                    sys.exit("strip %s: %s" % (name, made.stdout))
            found, said = outcomes(tree, folder, "3.11", dependencies, tests)
            if found is None:
                print("%-9s %-9s does not build or run: %s" % (name, variant, said))
                bad += 1
                break
            results[variant] = found
            summary[variant] = dict(collections.Counter(found.values()))
        if len(results) < 2:
            continue
        report = json.load(open(os.path.join(work, name, "stripped", "report.json")))
        needs = {}
        for file in report["files"]:
            for need in file.get("needs", []):
                needs.setdefault(file["path"], set()).add(need["kind"])
        before, after = results["full"], results["stripped"]
        gone, new = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
        changed = sorted(test for test in before.keys() & after.keys() if before[test] != after[test])
        print("%-9s collected %d → %d; %s → %s; gone %d, new %d, other outcome %d" % (
            name, len(before), len(after), summary["full"], summary["stripped"], len(gone), len(new), len(changed)))
        for test in gone + new + changed:
            module = test.split("::")[0].replace(".", "/")
            warned = sorted(set().union(*(
                kinds for path, kinds in needs.items() if path[:-3] == module or module.startswith(path[:-3] + "/"))))
            print("    %s: %s → %s; its own file was warned of: %s" % (
                test, before.get(test), after.get(test), ", ".join(warned) or "no"))
        print("    the report warns of %d files: %s" % (
            len(needs), dict(collections.Counter(kind for kinds in needs.values() for kind in kinds))), flush=True)
    sys.exit(bool(bad))


main(*sys.argv[1:])
