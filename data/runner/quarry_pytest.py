"""The pytest side: a plugin object that turns reports into events. pytest 3 to 9.

Under xdist only the controller holds this plugin, and the workers' reports reach it there.
"""

import hashlib
import os
import sys
import traceback

import pytest


def version():
    """pytest's version."""
    return pytest.__version__


def run(arguments, send, shorten, clean, wishes):
    """Runs pytest; returns its exit status."""
    package = os.path.dirname(pytest.__file__)
    main = os.path.join(package, "__main__.py")
    sys.argv = [main if os.path.exists(main) else pytest.__file__] + arguments
    failures = watch_conftests()
    plugin = Plugin(send, shorten, clean, wishes)
    # pytest takes a file that is not there for a mistake on its command line.
    arguments = list(arguments) + [name for name in wishes.get("ids", []) if os.path.exists(name.partition("::")[0])]
    try:
        status = int(pytest.main(arguments, plugins=[plugin]))
    except (SystemExit, pytest.UsageError) as error:
        # Old versions leave this way when they do not take an argument.
        sys.stderr.write("%s: %s\n" % (type(error).__name__, error))
        status = 4
    except Exception:
        # pytest 8 raises what was never awaited or closed once the session has ended: by then every outcome is told.
        if plugin.ended not in (0, 1):
            raise
        traceback.print_exc()
        status = plugin.ended
    if status == 4 and failures:
        # A conftest that cannot be imported ends the run before there is a session to report it.
        for path, message in failures:
            send("collect-error", node=clean(path), message=shorten(message))
        return 1
    return status


def watch_conftests():
    """A list that fills with (path, message) of every conftest that pytest fails to import."""
    failures = []
    try:
        from _pytest.config import ConftestImportFailure
    except ImportError:
        return failures
    original = ConftestImportFailure.__init__

    def remember(self, path, *rest, **named):
        original(self, path, *rest, **named)
        try:
            cause = rest[0] if rest else named.get("cause", named.get("excinfo"))
            if isinstance(cause, tuple):
                cause = cause[1]
            name = os.path.relpath(str(path), os.getcwd())
            failures.append((name, "%s: %s" % (type(cause).__name__, cause)))
        except Exception:
            failures.append(("conftest.py", "it cannot be imported"))

    ConftestImportFailure.__init__ = remember
    return failures


def node_id(raw, clean):
    """A node's id; pytest 3 writes the instance of a class as a part of its own."""
    head, bracket, parameters = raw.partition("[")
    return clean(head.replace("::()::", "::") + bracket + parameters)


def message_of(report, shorten):
    """Why a report is not a plain pass."""
    try:
        reason = getattr(report, "wasxfail", None)
        if isinstance(reason, str) and reason:
            return shorten(reason)
        longrepr = report.longrepr
        if longrepr is None:
            return ""
        if isinstance(longrepr, tuple) and len(longrepr) == 3:
            return shorten(str(longrepr[2]))
        return shorten(str(longrepr))
    except Exception as error:
        return "(a message that cannot be shown: %s)" % type(error).__name__


def outcome_of(report):
    """passed, failed, skipped, xfailed, xpassed, or what a plugin calls it (rerun)."""
    if hasattr(report, "wasxfail"):
        return {"skipped": "xfailed", "passed": "xpassed"}.get(report.outcome, report.outcome)
    return report.outcome


def seconds_of(report):
    """How long a phase took; 0 where a test had its own idea of time."""
    try:
        seconds = float(report.duration)
        return round(seconds, 6) if 0 <= seconds < 1e9 else 0.0
    except Exception:
        return 0.0


def covers(argument, module):
    """Whether a folder, a module or a test among pytest's arguments holds ``module``."""
    path = os.path.abspath(argument.partition("::")[0])
    module = os.path.abspath(module)
    return path == module or module.startswith(path.rstrip(os.sep) + os.sep)


def place_of(raw, seed):
    """A test's place in the random order: nothing but the seed and the names decides it.

    Modules and classes stay together, as their fixtures are made for; what is shuffled is the modules, the classes of
    a module, the tests of a class.
    """
    names = raw.partition("[")[0].replace("::()::", "::").split("::")
    groups = ["::".join(names[:depth]) for depth in range(1, len(names))]
    return [digest(seed, name) for name in groups + [raw]]


def digest(seed, name):
    return hashlib.sha256((seed + "\0" + name).encode("utf-8", "backslashreplace")).hexdigest()


class Plugin(object):
    """Registered as an object, so it has no name that ``-p no:`` or a conftest's ``pytest_plugins`` could hit."""

    def __init__(self, send, shorten, clean, wishes):
        self._order = wishes.get("order")
        self._only = set(wishes.get("only", [])) if "ids" in wishes else None
        self._also = wishes.get("also", [])
        self._prefix = ""
        self._session = None
        self._send = send
        self._shorten = shorten
        self._clean = clean
        self._collected = False
        self.ended = None

    def _id(self, raw):
        name = node_id(raw, self._clean)
        if self._prefix and name:
            path, colons, rest = name.partition("::")
            name = os.path.normpath(self._prefix + path).replace(os.sep, "/") + colons + rest
        return name

    def pytest_configure(self, config):
        # Where settings lie in a folder below, pytest names tests from there; they are found from here.
        below = os.path.relpath(str(config.rootdir), os.getcwd())
        if below != os.curdir and not below.startswith(os.pardir):
            self._prefix = below + os.sep
        for module in self._also:
            if not any(covers(str(argument), module) for argument in config.args):
                config.args.append(module)

    def pytest_sessionstart(self, session):
        self._session = session

    def _forgive(self):
        """What no id selects would end the run before any test."""
        if self._only is not None:
            del getattr(self._session, "_notfound", [])[:]

    def _tell_collected(self, ids):
        self._collected = True
        self._tell("collected", ids)

    def _tell(self, event, ids):
        ids = [self._id(raw) for raw in ids]
        for start in range(0, max(len(ids), 1), 200):
            self._send(event, ids=ids[start : start + 200])

    def pytest_collectreport(self, report):
        self._forgive()
        if report.failed:
            self._send("collect-error", node=self._id(report.nodeid), message=message_of(report, self._shorten))
        elif report.skipped:
            self._send("collect-skip", node=self._id(report.nodeid), message=message_of(report, self._shorten))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session, config, items):
        # First: what pytest and the project then do about the order (fixtures shared, tests marked as first) holds.
        if self._only is not None:
            self._tell("addressed", [item.nodeid for item in items])
            items[:] = [item for item in items if self._id(item.nodeid) in self._only]
        if self._order:
            items.sort(key=lambda item: place_of(item.nodeid, self._order))
            self._send("shuffled", seed=self._order)

    def pytest_collection_finish(self, session):
        self._tell_collected([item.nodeid for item in getattr(session, "items", [])])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids):
        if not self._collected:
            if self._only is not None:
                self._tell("addressed", ids)
            self._tell_collected(ids)

    def pytest_runtest_logstart(self, nodeid, location):
        self._send("start", id=self._id(nodeid))

    def pytest_runtest_logreport(self, report):
        fields = {"id": self._id(report.nodeid), "outcome": outcome_of(report)}
        if fields["outcome"] != "passed":
            fields["message"] = message_of(report, self._shorten)
        if report.when not in ("setup", "call", "teardown"):
            self._send("crash", **fields)  # xdist: the worker that ran this test is gone.
            return
        if type(report).__name__.lower() == "subtestreport":
            self._send("subtest", **fields)
            return
        fields["seconds"] = seconds_of(report)
        self._send("phase", phase=report.when, **fields)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        self.ended = int(exitstatus)

    def pytest_internalerror(self, excrepr):
        self._send("internal-error", message=self._shorten(str(excrepr)))

    def pytest_keyboard_interrupt(self, excinfo):
        self._send("interrupted", message=self._shorten("%s: %s" % (excinfo.typename, excinfo.value)))
