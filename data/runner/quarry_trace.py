"""Runs tests as ``quarry_run.py`` does, and tells at the end which lines of some files ran.

    python -S quarry_trace.py CHANNEL pytest|unittest [ARGUMENT ...]

One thing more can be asked:

    trace    files to watch, from the working folder

An event for each of them: ``code``, the lines that hold code (as the compiler says), and ``ran``, those that ran in
this process, in any of its threads. Not seen: child processes; before Python 3.12, which has ``sys.monitoring``, also
what runs after a test has put another function in the place of ``sys.settrace``'s.

A launcher of its own: a run that is not traced has nothing of this in it.
"""

import sys

import quarry_run


def code_lines(path):
    """The lines of a file that hold code."""
    import dis

    try:
        with open(path, "rb") as file:
            codes = [compile(file.read(), path, "exec", 0, True)]
    except Exception:
        return set()
    lines = set()
    while codes:
        code = codes.pop()
        lines.update([line for _, line in dis.findlinestarts(code) if line])
        codes.extend([part for part in code.co_consts if isinstance(part, type(code))])
    return lines


class Names(dict):
    """A code object's file name → its path from the working folder, ``None`` for a file that is not watched."""

    def __init__(self, paths):
        import os
        import posixpath

        here = os.getcwd()
        self._here = here + "/"
        self._normal = posixpath.normpath
        self._watched = {}
        for path in paths:
            full = posixpath.normpath(posixpath.join(here, path))
            self._watched[full] = path
            self._watched[os.path.realpath(full)] = path

    def __missing__(self, name):
        try:
            path = self._watched.get(self._normal(name if name[:1] == "/" else self._here + name))
        except Exception:
            path = None
        self[name] = path
        return path


def by_monitoring(names, ran):
    """Begins to watch with ``sys.monitoring``; a function that ends it, or ``None`` where there is none."""
    monitoring = getattr(sys, "monitoring", None)
    free = [tool for tool in (4, 3, 1, 2, 0, 5) if monitoring.get_tool(tool) is None] if monitoring else []
    if not free:
        return None
    tool, disable, line = free[0], monitoring.DISABLE, monitoring.events.LINE

    def see(code, number):
        path = names[code.co_filename]
        if path is not None:
            ran.add((path, number))
        return disable  # Of this place there is nothing more to learn.

    monitoring.use_tool_id(tool, "quarry")
    monitoring.register_callback(tool, line, see)
    monitoring.set_events(tool, line)

    def stop():
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)

    return stop


def by_tracing(names, ran):
    """Begins to watch with ``sys.settrace``; a function that ends it."""
    import threading

    add = ran.add

    def see(frame, event, argument):
        if event == "line":
            add((names[frame.f_code.co_filename], frame.f_lineno))
        return see

    def enter(frame, event, argument):
        return None if names[frame.f_code.co_filename] is None else see

    settrace = sys.settrace
    threading.settrace(enter)
    settrace(enter)

    def stop():
        settrace(None)
        threading.settrace(None)

    return stop


def traced(run):
    """An adapter's ``run`` that watches the files that ``wishes`` name."""

    def run_traced(arguments, send, shorten, clean, wishes):
        paths = wishes.get("trace", [])
        code = [(path, sorted(code_lines(path))) for path in paths]
        names, ran = Names(paths), set()
        stop = by_monitoring(names, ran) or by_tracing(names, ran)
        try:
            return run(arguments, send, shorten, clean, wishes)
        finally:
            stop()
            seen = list(ran)
            for path, lines in code:
                send("lines", path=path, code=lines, ran=sorted([line for of, line in seen if of == path]))

    return run_traced


def load(here, name, untraced=quarry_run.load):
    """As ``quarry_run``'s; what it loads is traced."""
    adapter = untraced(here, name)
    adapter.run = traced(adapter.run)
    return adapter


if __name__ == "__main__":
    import os

    quarry_run.load = load
    code = quarry_run.main(sys.argv)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    os._exit(code)
