"""What each test gave, one line each, for graders that read lines: "PASSED <id>".

As a pytest plugin (-p quarry_report), or with unittest: python quarry_report.py ARGUMENT... (those of unittest).
An id with white space has it, and "%", as percent-encoded UTF-8: graders take the word after the status for the whole id.
QUARRY_REPORT names a file for the same as JSON. Runs on every Python from 2.7.
"""
import json
import os
import re
import sys

OUTCOMES = {}


def encoded(name):
    if not re.search(r"\s", name, re.UNICODE):
        return name
    return re.sub(r"[\s%]", lambda sign: "".join("%%%02X" % byte for byte in bytearray(sign.group().encode("utf-8"))), name, flags=re.UNICODE)


def tell(write):
    write("")
    for name in sorted(OUTCOMES):
        write("%s %s" % (OUTCOMES[name], encoded(name)))
    if os.environ.get("QUARRY_REPORT"):
        with open(os.environ["QUARRY_REPORT"], "w") as file:
            json.dump({encoded(name): status for name, status in OUTCOMES.items()}, file, sort_keys=True)


def settle(name, status):
    """The worst step of a test counts."""
    order = ["PASSED", "SKIPPED", "FAILED", "ERROR"]
    before = OUTCOMES.get(name)
    if before is None or order.index(status) > order.index(before):
        OUTCOMES[name] = status


def pytest_runtest_logreport(report):
    expected = hasattr(report, "wasxfail")
    if report.outcome == "passed":
        if report.when == "call":
            settle(report.nodeid, "PASSED")
    elif report.outcome == "skipped":
        # What failed as it was marked to has not shown that anything works.
        settle(report.nodeid, "FAILED" if expected else "SKIPPED")
    else:
        settle(report.nodeid, "FAILED" if report.when == "call" else "ERROR")


def pytest_terminal_summary(terminalreporter):
    tell(terminalreporter.write_line)


def main():
    import unittest

    class Result(unittest.TextTestResult):
        def addSuccess(self, test):
            unittest.TextTestResult.addSuccess(self, test)
            settle(test.id(), "PASSED")

        def addFailure(self, test, error):
            unittest.TextTestResult.addFailure(self, test, error)
            settle(test.id(), "FAILED")

        def addError(self, test, error):
            unittest.TextTestResult.addError(self, test, error)
            settle(test.id(), "ERROR")

        def addSkip(self, test, reason):
            unittest.TextTestResult.addSkip(self, test, reason)
            settle(test.id(), "SKIPPED")

        def addExpectedFailure(self, test, error):
            unittest.TextTestResult.addExpectedFailure(self, test, error)
            settle(test.id(), "FAILED")

        def addUnexpectedSuccess(self, test):
            unittest.TextTestResult.addUnexpectedSuccess(self, test)
            settle(test.id(), "PASSED")

        def addSubTest(self, test, subtest, error):
            if error is not None:
                settle(test.id(), "FAILED")
            if hasattr(unittest.TextTestResult, "addSubTest"):
                unittest.TextTestResult.addSubTest(self, test, subtest, error)

    class Runner(unittest.TextTestRunner):
        resultclass = Result

    sys.path.insert(0, os.getcwd())
    done = unittest.main(module=None, argv=["unittest"] + sys.argv[1:], testRunner=Runner, exit=False)
    tell(print_line)
    sys.exit(not done.result.wasSuccessful())


def print_line(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
