"""The side of a program that runs tests of unittest in its own way: Django's ``runtests.py``, ``manage.py test``,
``-m django test``, a script that sets something up and calls unittest.

The first argument is a script, or ``-m`` and a module's name; what follows goes to it. It runs as Python itself would
run it, and makes ready what it wants; the suite that it hands to unittest's runner is told of, put in order and cut to
the ids that are asked for, as ``quarry_unittest`` does with its own. A suite that a test runs inside is the test's.

A test's id is unittest's own, and an argument that such programs take.
"""

import os
import runpy
import sys
import traceback
import unittest

import quarry_unittest

version = quarry_unittest.version


def run(arguments, send, shorten, clean, wishes):
    """Runs the program; returns what pytest's exit status would be."""
    quarry_unittest.watch_loader()
    results, state = take_over(send, shorten, clean, wishes)
    code = 0
    try:
        start(list(arguments) + wishes.get("ids", []))
    except SystemExit as stop:
        code = stop.code
    except Exception:
        text = traceback.format_exc()
        sys.stderr.write(text)
        if state["begun"] != len(results):
            raise
        if not results:
            # What cannot be made ready cannot be collected: a module of models, a setting.
            send("collect-error", node="", message=shorten(text))
            return 1
    if not results:
        text = "the program ended with %r and gave unittest's runner no suite" % (code,)
        sys.stderr.write(text + "\n")
        if code not in (0, None, 2):
            # Checks of the project's own failed. (2 is what a wrong argument ends with.)
            send("collect-error", node="", message=shorten(text))
            return 1
        return 4 if code else 5
    statuses = [quarry_unittest.status_of(result, send) for result in results]
    return max([status for status in statuses if status != 5] or [5])


def start(arguments):
    """Runs a script, or a module after ``-m``, as Python's command line does."""
    if arguments[:1] == ["-m"]:
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    if not arguments or not os.path.isfile(arguments[0]):
        sys.stderr.write("the runner `script` takes a script of the tree, or -m and a module: %r\n" % (arguments,))
        raise SystemExit(2)
    sys.argv = arguments
    path = os.path.abspath(arguments[0])
    sys.path[0] = os.path.dirname(path)
    runpy.run_path(path, run_name="__main__")


def take_over(send, shorten, clean, wishes):
    """Puts this module between the program and unittest's runner.

    Returns the list that fills with the results of suites, and how many suites were begun.
    """
    plain = unittest.TextTestRunner.run
    results, state = [], {"begun": 0, "busy": False}

    def run_suite(runner, suite):
        if state["busy"]:
            return plain(runner, suite)
        state["begun"] += 1
        state["busy"] = True
        try:
            tests = quarry_unittest.tell_suite(suite, send, shorten, clean, wishes)
            if wishes.get("order"):
                tests.sort(key=lambda case: place_of(case, wishes["order"]))
                send("shuffled", seed=wishes["order"])
            if wishes.get("order") or "ids" in wishes:
                suite = unittest.TestSuite(tests)
            runner.collected = quarry_unittest.tell_collected(tests, send, clean)
            runner._makeResult = lambda: quarry_unittest.make_result(runner, send, shorten, clean)
            result = plain(runner, suite)
            result.close_groups()
        finally:
            state["busy"] = False
        results.append(result)
        return result

    unittest.TextTestRunner.run = run_suite
    return results, state


def place_of(case, seed):
    """A test's place in the random order: modules and classes stay together, as their fixtures are made for.

    Django runs the classes that put a database back before those that leave it changed: that is no order of chance.
    """
    kind = type(case)
    runner = getattr(sys.modules.get("django.test.runner"), "DiscoverRunner", None)
    ranks = [rank for rank, base in enumerate(getattr(runner, "reorder_by", ())) if isinstance(case, base)]
    module = "%s" % kind.__module__
    names = [module, module + "." + kind.__name__, case.id()]
    return ranks[:1] or [99], [quarry_unittest.digest(seed, name) for name in names]
