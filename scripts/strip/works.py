"""works.py QUARRY SRC WORK [NAME…]: does it still work? Builds and tests real projects before and after stripping.

SRC holds unpacked source distributions. For each project: the tree as it is and its safe code-only variant (lines kept or
not: --keep-lines) are installed into an environment of their own and its tests are run; outcomes are compared by name. Prints
what differs, by test function, and whether the stripper's report had warned: of the test's own file, of one that it
imports, or of one further on. Every test that differs is listed by its name in WORK/NAME/differences.txt.
"""

import ast
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


class Imports:
    """Which files of a tree a file imports, and by that which warnings concern it."""

    def __init__(self, tree):
        self.tree, self.known = tree, {}
        self.files = {os.path.relpath(os.path.join(top, file), tree)
                      for top, _, files in os.walk(tree) for file in files if file.endswith(".py")}

    def module(self, name):
        """The files that importing a module runs: its own, and its packages'."""
        found, parts = [], name.split(".")
        for root in ("", "src/"):
            for end in range(1, len(parts) + 1):
                stem = root + "/".join(parts[:end])
                found += [path for path in (stem + ".py", stem + "/__init__.py") if path in self.files]
        return found

    def of(self, path):
        if path not in self.known:
            names = []
            try:
                with open(os.path.join(self.tree, path), "rb") as file:
                    nodes = list(ast.walk(ast.parse(file.read())))
            except (SyntaxError, ValueError):
                nodes = []
            package = path.split("/")[:-1]
            for node in nodes:
                if isinstance(node, ast.Import):
                    names += [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    start = package[:len(package) + 1 - node.level] if node.level else []
                    base = ".".join([part for part in start if part != "src"] + ([node.module] if node.module else []))
                    names += [base] + ["%s.%s" % (base, alias.name) for alias in node.names]
            # What pytest runs beside a test.
            above = ["/".join(package[:end] + ["conftest.py"]) for end in range(len(package) + 1)]
            self.known[path] = {file for name in names for file in self.module(name)} | (set(above) & self.files)
        return self.known[path]

    def warned(self, test, needs):
        stem = test.split("::")[0].replace(".", "/")
        # A class's name may stand behind the module's.
        level = {path for path in self.files if stem == path[:-3] or stem.startswith(path[:-3] + "/")}
        seen = set()
        for where in ["itself", "an import"] + ["a further import"] * 20:
            # That a doctest is gone explains no other test.
            kinds = set().union(*(needs.get(path, set()) for path in level)) - {"doctest"}
            if kinds:
                return where, kinds
            seen |= level
            level = {path for file in level for path in self.of(file)} - seen
        return "nothing", set()


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
        imports = Imports(os.path.join(work, name, "full", "tree"))
        groups, unwarned = collections.Counter(), 0
        with open(os.path.join(work, name, "differences.txt"), "w") as listing:
            for test in gone + new + changed:
                where, kinds = imports.warned(test, needs)
                line = "%s → %s; warned of %s: %s" % (
                    before.get(test), after.get(test), where, ", ".join(sorted(kinds)) or "-")
                listing.write("%s: %s\n" % (test, line))
                groups[test.split("[")[0], line] += 1
                unwarned += not kinds
        for (test, line), count in sorted(groups.items()):
            print("    %s%s: %s" % (test, " (%d times)" % count if count > 1 else "", line))
        if groups:
            print("    %d of %d differences were not warned of" % (unwarned, sum(groups.values())))
        print("    the report warns of %d files: %s" % (
            len(needs), dict(collections.Counter(kind for kinds in needs.values() for kind in kinds))), flush=True)
    sys.exit(bool(bad))


main(*sys.argv[1:])
