"""The unittest side: a runner whose result object turns what it is told into events.

A test's id is unittest's own: ``package.module.Class.method``.
"""

import hashlib
import sys
import time
import unittest

clock = getattr(time, "perf_counter", time.time)


def version():
    """unittest is as old as its Python."""
    return "%d.%d.%d" % sys.version_info[:3]


def run(arguments, send, shorten, clean, wishes):
    """Runs unittest; returns what pytest's exit status would be: 0 passed, 1 failed, 5 nothing to run."""
    sys.argv = [unittest.__file__.replace("__init__", "__main__")] + arguments

    arguments = list(arguments) + wishes.get("ids", [])
    watch_loader()

    class Runner(unittest.TextTestRunner):
        def _makeResult(self):
            return make_result(self, send, shorten, clean)

        def run(self, test):
            if wishes.get("order"):
                shuffle(test, wishes["order"])
                send("shuffled", seed=wishes["order"])
            tests = tell_suite(test, send, shorten, clean, wishes)
            if "ids" in wishes:
                test = unittest.TestSuite(tests)
            self.collected = tell_collected(tests, send, clean)
            # The suite drops tests as it goes; what a class failed for is told to all of its tests at the end.
            result = unittest.TextTestRunner.run(self, test)
            result.close_groups()
            return result

    try:
        program = unittest.main(module=None, argv=["python -m unittest"] + arguments, testRunner=Runner, exit=False)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) and stop.code in (2, 4, 5) else 4
    result = getattr(program, "result", None)
    return 4 if result is None else status_of(result, send)


def tell_suite(suite, send, shorten, clean, wishes):
    """Tells what of a suite could not be loaded, and what ids select; returns the tests to run."""
    tests = list(each_test(suite))
    for case in tests:
        if is_stand_in(case):
            event, node, message = stand_in(case)
            send(event, node=clean(node), message=shorten(message))
    tests = [case for case in tests if not is_stand_in(case)]
    if "ids" in wishes:
        tell("addressed", [clean(case.id()) for case in tests], send)
        only = set(wishes.get("only", []))
        tests = [case for case in tests if clean(case.id()) in only]
    return tests


def tell_collected(tests, send, clean):
    """Tells which tests are to run; returns their ids."""
    ids = [clean(case.id()) for case in tests]
    tell("collected", ids, send)
    return ids


def tell(event, ids, send):
    for start in range(0, max(len(ids), 1), 200):
        send(event, ids=ids[start : start + 200])


def status_of(result, send):
    """A result as pytest's exit status: 0 passed, 1 failed, 2 broken off, 5 nothing to run."""
    if result.shouldStop:
        send("interrupted", message="the run was told to stop")
        return 2
    if result.testsRun == 0 and result.wasSuccessful():
        return 5
    return 0 if result.wasSuccessful() else 1


def each_test(suite):
    """Every test of a suite, depth first, in the order they run."""
    if isinstance(suite, unittest.BaseTestSuite if hasattr(unittest, "BaseTestSuite") else unittest.TestSuite):
        for inner in suite:
            for case in each_test(inner):
                yield case
    elif suite is not None:
        yield suite


def shuffle(suite, seed):
    """Puts the parts of a suite, and theirs, into an order that the seed and the names alone decide.

    Modules and classes stay together, as their fixtures are made for.
    """
    parts = getattr(suite, "_tests", None)
    if isinstance(parts, list):
        for part in parts:
            shuffle(part, seed)
        parts.sort(key=lambda part: digest(seed, name_of(part)))


def name_of(part):
    """A test's name, or for a suite one that does not depend on its order."""
    return min([case.id() for case in each_test(part)] or [""])


def digest(seed, name):
    return hashlib.sha256((seed + "\0" + name).encode("utf-8", "backslashreplace")).hexdigest()


def watch_loader():
    """Has every stand-in that is loaded by a dotted name remember that name: unittest keeps its last part alone.

    A module that skips itself gets one here, too, as discovery gives it: by name it would end the run.
    """
    plain = unittest.TestLoader.loadTestsFromName

    def load(loader, name, module=None):
        try:
            suite = plain(loader, name, module)
        except unittest.SkipTest as skip:
            if module is not None:
                raise
            suite = unittest.loader._make_skipped_test(name, skip, loader.suiteClass)
        parts = name.split(".")
        for case in each_test(suite):
            last = getattr(case, "_testMethodName", "")
            if module is None and is_stand_in(case) and last in parts:
                case.quarry_name = ".".join(parts[: parts.index(last) + 1])
        return suite

    unittest.TestLoader.loadTestsFromName = load


def is_stand_in(case):
    """Whether unittest put this in the place of a module that it could not load or that skips itself."""
    return type(case).__module__ == "unittest.loader" and type(case).__name__ in ("_FailedTest", "ModuleSkipped")


def stand_in(case):
    """What has no tests for it, and why."""
    last = getattr(case, "_testMethodName", "") or case.id()
    name = getattr(case, "quarry_name", last)
    if type(case).__name__ == "ModuleSkipped":
        return "collect-skip", name, str(getattr(getattr(case, last, None), "__unittest_skip_why__", ""))
    return "collect-error", name, str(getattr(case, "_exception", "it cannot be loaded"))


def group_of(holder):
    """``setUpClass (pkg.mod.Class)`` → (``setUpClass``, ``pkg.mod.Class``); ``None`` for a test."""
    if type(holder).__name__ != "_ErrorHolder":
        return None
    step, _, rest = holder.id().partition(" (")
    return step, rest[:-1] if rest.endswith(")") else rest


def make_result(runner, send, shorten, clean):
    class Result(unittest.TextTestResult):
        def __init__(self):
            unittest.TextTestResult.__init__(self, runner.stream, runner.descriptions, runner.verbosity)
            self._began = 0.0
            self._told = {}
            self._last = {}
            self._groups = []

        def _tell(self, test, outcome, message="", phase="call"):
            name = clean(test.id())
            self._told[name] = outcome
            fields = {"id": name, "phase": phase, "outcome": outcome, "seconds": round(clock() - self._began, 6)}
            if message:
                fields["message"] = shorten(message)
            send("phase", **fields)

        def _fault(self, test, outcome, message):
            """A test's own fault, or that of a class or module, which all of its tests share."""
            group = group_of(test)
            if group is None:
                if not is_stand_in(test):
                    self._tell(test, outcome, message)
            else:
                self._groups.append((group[0], group[1], outcome, message))

        def close_groups(self):
            for step, name, outcome, message in self._groups:
                inside = [test for test in runner.collected if test.startswith(clean(name) + ".")]
                if step.startswith("tearDown"):
                    # Told of the last test that ran there, as pytest does.
                    ran = [test for test in inside if test in self._told]
                    for test in ran[-1:]:
                        send("phase", id=test, phase="teardown", outcome=outcome, message=shorten(message))
                    continue
                for test in inside:
                    if test not in self._told:
                        send("start", id=test)
                        send("phase", id=test, phase="setup", outcome=outcome, message=shorten(message))

        def startTest(self, test):
            self._began = clock()
            if not is_stand_in(test):
                send("start", id=clean(test.id()))
            unittest.TextTestResult.startTest(self, test)

        def stopTest(self, test):
            # A test whose only other word is a skipped subtest gets none of its own from unittest.
            if group_of(test) is None and not is_stand_in(test) and clean(test.id()) not in self._told:
                self._tell(test, "passed")
            unittest.TextTestResult.stopTest(self, test)

        def addSuccess(self, test):
            self._tell(test, "passed")
            unittest.TextTestResult.addSuccess(self, test)

        def addError(self, test, err):
            self._fault(test, "failed", self._text(err))
            unittest.TextTestResult.addError(self, test, err)

        def addFailure(self, test, err):
            self._fault(test, "failed", self._text(err))
            unittest.TextTestResult.addFailure(self, test, err)

        def addSkip(self, test, reason):
            parent = getattr(test, "test_case", None)
            if parent is not None:
                # A skipped subtest: its test goes on.
                send("subtest", id=clean(parent.id()), outcome="skipped", message=shorten(str(reason)))
            else:
                self._fault(test, "skipped", str(reason))
            unittest.TextTestResult.addSkip(self, test, reason)

        def addExpectedFailure(self, test, err):
            self._tell(test, "xfailed", self._text(err))
            unittest.TextTestResult.addExpectedFailure(self, test, err)

        def addUnexpectedSuccess(self, test):
            # unittest counts it as a failure.
            self._tell(test, "failed", "unexpected success")
            unittest.TextTestResult.addUnexpectedSuccess(self, test)

        def addSubTest(self, test, subtest, err):
            fields = {"id": clean(test.id()), "outcome": "passed" if err is None else "failed"}
            if err is not None:
                self._told[fields["id"]] = "failed"
                fields["message"] = shorten(self._text(err))
            send("subtest", **fields)
            unittest.TextTestResult.addSubTest(self, test, subtest, err)

        def _text(self, err):
            try:
                return "%s: %s" % (err[0].__name__, err[1])
            except Exception:
                return "(a message that cannot be shown)"

    return Result()
