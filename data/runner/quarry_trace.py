"""Runs tests as ``quarry_run.py`` does, and tells at the end which lines of some files ran.

    python -S quarry_trace.py CHANNEL pytest|unittest|script [ARGUMENT ...]

One thing more can be asked:

    trace    files to watch, from the working folder

An event for each of them: ``code``, the lines that hold code (as the compiler says), and ``ran``, those that ran in
this process, in any of its threads; ``branches``, pairs of a line that decides and a line that it may lead to (0: out
of the function), and ``taken``, those that were. What a decision leads to within its own line is no branch, nor is an
``except`` that may not match. Not seen: child processes; before Python 3.12, which has ``sys.monitoring``, also what
runs after a test has put another function in the place of ``sys.settrace``'s.

A launcher of its own: a run that is not traced has nothing of this in it.
"""

import sys

import quarry_run

LEAVES = 0


class Places(object):
    """What a code object's instructions are to lines."""

    def __init__(self, code):
        import dis

        self.steps = list(dis.get_instructions(code))
        self.at = dict([(step.offset, index) for index, step in enumerate(self.steps)])
        # An instruction belongs to the line that began last; some belong to none.
        self.starts = dict(dis.findlinestarts(code))
        self.lines, line = [], None
        for step in self.steps:
            line = self.starts.get(step.offset, line)
            self.lines.append(line)

    def leads(self, index, line):
        """The line that comes next from an instruction on: ``LEAVES`` out of the function, ``None`` undecided."""
        seen, back = set(), False
        while index is not None and index < len(self.steps) and index not in seen:
            seen.add(index)
            step = self.steps[index]
            # As an interpreter sees it: a line begins where it says so, or where a jump goes back to.
            if (back or step.offset in self.starts) and self.lines[index] not in (None, line):
                return self.lines[index]
            name = step.opname
            if returns(name):
                return LEAVES
            if decides(name) or name in ("RAISE_VARARGS", "RERAISE", "BREAK_LOOP", "CONTINUE_LOOP"):
                return None
            following = self.at.get(step.argval) if jumps(name) else index + 1
            back = following is not None and following < index
            index = following
        return None

    def branches(self):
        """Pairs of a deciding line and each line that it may lead to."""
        found = set()
        for index, step in enumerate(self.steps):
            line = self.lines[index]
            catches = index > 0 and (
                self.steps[index - 1].opname == "CHECK_EXC_MATCH" or self.steps[index - 1].argval == "exception match"
            )
            if decides(step.opname) and line and not catches:
                ways = set([self.leads(way, line) for way in (index + 1, self.at.get(step.argval))])
                if len(ways) == 2 and None not in ways:
                    found.update([(line, way) for way in ways])
        return found


def decides(name):
    return (name.startswith(("POP_JUMP", "JUMP_IF")) and name != "JUMP_IF_NOT_EXC_MATCH") or name == "FOR_ITER"


def returns(name):
    return name.startswith("RETURN_") and name != "RETURN_GENERATOR"


def jumps(name):
    return name in ("JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")


def code_of(path):
    """The lines of a file that hold code, and its branches."""
    import dis

    try:
        with open(path, "rb") as file:
            codes = [compile(file.read(), path, "exec", 0, True)]
    except Exception:
        return set(), set()
    lines, branches = set(), set()
    while codes:
        code = codes.pop()
        lines.update([line for _, line in dis.findlinestarts(code) if line])
        branches.update(Places(code).branches())
        codes.extend([part for part in code.co_consts if isinstance(part, type(code))])
    return lines, branches


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


def by_monitoring(names, ran, taken):
    """Begins to watch with ``sys.monitoring``; a function that ends it, or ``None`` where there is none."""
    monitoring = getattr(sys, "monitoring", None)
    free = [tool for tool in (4, 3, 1, 2, 0, 5) if monitoring.get_tool(tool) is None] if monitoring else []
    if not free:
        return None
    tool, disable, events = free[0], monitoring.DISABLE, monitoring.events
    places, ways = {}, {}

    def see(code, number):
        path = names[code.co_filename]
        if path is not None:
            ran.add((path, number))
        return disable  # Of this place there is nothing more to learn.

    def decide(code, offset, target):
        path = names[code.co_filename]
        if path is None:
            return disable
        known = ways.setdefault((code, offset), set())
        if target not in known:
            known.add(target)
            place = places.get(code)
            if place is None:
                place = places[code] = Places(code)
            line = place.lines[place.at[offset]]
            taken.add((path, line, place.leads(place.at.get(target), line)))
        return disable if len(known) > 1 else None

    # Since 3.14 each way of a branch has its own event.
    both = [name for name in ("BRANCH", "BRANCH_LEFT", "BRANCH_RIGHT") if hasattr(events, name)]
    both = both[1:] if len(both) == 3 else both
    monitoring.use_tool_id(tool, "quarry")
    monitoring.register_callback(tool, events.LINE, see)
    watched = events.LINE
    for name in both:
        monitoring.register_callback(tool, getattr(events, name), decide)
        watched |= getattr(events, name)
    monitoring.set_events(tool, watched)

    def stop():
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)

    return stop


def by_tracing(names, ran, taken):
    """Begins to watch with ``sys.settrace``; a function that ends it."""
    import dis
    import threading

    leaving = set([code for name, code in dis.opmap.items() if returns(name)])

    def enter(frame, event, argument):
        path = names[frame.f_code.co_filename]
        if path is None:
            return None
        last = [None]

        def see(frame, event, argument):
            if event == "line":
                number = frame.f_lineno
                ran.add((path, number))
                taken.add((path, last[0], number))
                last[0] = number
            # Not by an exception, and not for a while, as a generator does where it yields.
            elif event == "return" and frame.f_code.co_code[frame.f_lasti] in leaving:
                taken.add((path, last[0], LEAVES))
            return see

        return see

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
        told = [(path,) + code_of(path) for path in paths]
        names, ran, taken = Names(paths), set(), set()
        stop = by_monitoring(names, ran, taken) or by_tracing(names, ran, taken)
        try:
            return run(arguments, send, shorten, clean, wishes)
        finally:
            stop()
            ran, taken = list(ran), list(taken)
            for path, code, branches in told:
                send(
                    "lines",
                    path=path,
                    code=sorted(code),
                    ran=sorted([line for of, line in ran if of == path]),
                    branches=[list(pair) for pair in sorted(branches)],
                    taken=[list(pair) for pair in sorted(branches & set([(a, b) for of, a, b in taken if of == path]))],
                )

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
