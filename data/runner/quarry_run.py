"""Runs a project's tests the way ``python -m pytest``, ``python -m unittest`` or a program of its own does, and tells
every outcome through a channel that the tests' own output cannot reach.

    python -S quarry_run.py CHANNEL pytest|unittest|script [ARGUMENT ...]

On standard input: the secret's hex digits and a line's end, then, if there is anything to say, a JSON object.

    order    what a random order is made of; without it tests run as they are collected
    ids      test ids that are arguments, too: what they select is told, what they do not is no error
    only     of those, the ids that run
    also     modules to collect beside what the project's own settings say

The channel is a file outside the work tree. Every line is one event: 32 hex digits, a space, a JSON object. The
digits seal the object with the secret (HMAC-SHA256), and every object holds its place in the sequence (``n``), so a
line that something else wrote is not taken for ours, and a line that went missing is missed.

``-S`` puts off ``site``: nothing of the environment or of the project (``.pth`` files, ``sitecustomize``) runs, and
nothing that PYTHONPATH names is imported, before the secret is read and standard input is empty. The secret is in no file, no argument and no environment
variable, and no child process has it. Code in this very process can still reach the open channel if it sets out to:
a run is proof against accidents and cheap tricks, not against an adversary inside the interpreter.

Plain Python, 3.6 to 3.13 and later; no dependency but the runner itself.
"""

import sys


def read_request():
    """The secret and what else is asked; standard input is empty from here on."""
    import json
    import os

    text = b""
    while True:
        chunk = os.read(0, 65536)
        if not chunk:
            break
        text += chunk
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    secret, _, wishes = text.partition(b"\n")
    wishes = json.loads(wishes.decode("utf-8")) if wishes.strip() else {}
    return bytes(bytearray.fromhex(secret.decode("ascii").strip())), wishes


def clean(text):
    """``text`` without lone surrogates, which no JSON reader takes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def encoder():
    """A function value → JSON for what events hold; nothing of it is looked up later."""
    from json.encoder import encode_basestring_ascii as quote

    def encode(value, str=str, list=list, dict=dict, isinstance=isinstance, repr=repr, sorted=sorted):
        if isinstance(value, str):
            return quote(value)
        if isinstance(value, list):
            return "[" + ",".join([encode(item) for item in value]) + "]"
        if isinstance(value, dict):
            return "{" + ",".join([quote(key) + ":" + encode(value[key]) for key in sorted(value)]) + "}"
        return repr(value)

    return encode


def open_channel(path, secret):
    """A function ``send(event, **fields)`` that appends one sealed line to the channel.

    Everything it needs is bound here: tests replace ``os``, ``json`` and ``time`` at will. It never raises; a line
    that could not be written shows as a gap in the sequence.
    """
    import fcntl
    import hmac
    import os

    flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
    seal = hmac.new(secret, digestmod="sha256")
    encode = encoder()
    os_open, os_close, os_write, os_fstat, os_getpid = os.open, os.close, os.write, os.fstat, os.getpid
    fcntl_fcntl, duplicate = fcntl.fcntl, fcntl.F_DUPFD_CLOEXEC
    owner = os_getpid()
    state = {"n": 0, "fd": -1, "file": None}

    def connect():
        low = os_open(path, flags)
        try:
            # Out of the way of tests that close or count the low descriptors.
            state["fd"] = fcntl_fcntl(low, duplicate, 700)
            os_close(low)
        except OSError:
            state["fd"] = low
        info = os_fstat(state["fd"])
        state["file"] = (info.st_dev, info.st_ino)

    def descriptor():
        try:
            info = os_fstat(state["fd"])
            if (info.st_dev, info.st_ino) == state["file"]:
                return state["fd"]
        except OSError:
            pass
        connect()
        return state["fd"]

    def send(event, **fields):
        if os_getpid() != owner:
            return  # A test forked and came back: its copy of us has nothing to say.
        fields["e"] = event
        fields["n"] = state["n"]
        state["n"] += 1
        try:
            body = encode(fields).encode("ascii")
            digest = seal.copy()
            digest.update(body)
            line = digest.hexdigest()[:32].encode("ascii") + b" " + body + b"\n"
            while line:
                line = line[os_write(descriptor(), line) :]
        except Exception:
            pass

    connect()
    return send


def shorten(text, limit=2000):
    """The beginning and the end of a long message."""
    text = clean(text if isinstance(text, str) else str(text))
    if len(text) <= limit:
        return text
    return text[: limit // 4] + "\n...\n" + text[-(limit - limit // 4) :]


def hold_back_python_path():
    """Takes the folders that PYTHONPATH names, which may be the tree's, off ``sys.path``, and returns them."""
    import posix

    named = posix.environ.get(b"PYTHONPATH")
    count = named.count(b":") + 1 if named else 0
    held = sys.path[1 : 1 + count]
    del sys.path[1 : 1 + count]
    return held


def start_site(held):
    """What starting Python without ``-S`` would have done."""
    import os
    import site
    import subprocess

    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and sys.path[0] == here:
        del sys.path[0]
    sys.path[:0] = held
    site.main()
    # Python children started "with the same flags" must not inherit our -S.
    same_flags = subprocess._args_from_interpreter_flags
    subprocess._args_from_interpreter_flags = lambda: [flag for flag in same_flags() if flag != "-S"]
    return here


def load(here, name):
    """One of the files beside this one; their folder does not stay on ``sys.path``."""
    import importlib

    sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(here)


def main(argv):
    held = hold_back_python_path()
    import os

    channel, runner, arguments = argv[1], argv[2], argv[3:]
    secret, wishes = read_request()
    send = open_channel(channel, secret)
    del secret
    python = "%d.%d.%d" % sys.version_info[:3]
    here = start_site(held)
    # `python -m` puts the working folder first, once site is done. The runner and what it stands on come before: they are
    # the environment's, and a file of the tree that has the name of one of them is none.
    cwd = os.getcwd()
    try:
        adapter = load(here, "quarry_" + runner)
    except ImportError:
        adapter = None
    sys.path.insert(0, cwd)
    if adapter is None:
        # The tree may bring the runner itself.
        try:
            adapter = load(here, "quarry_" + runner)
        except ImportError as error:
            send("missing", runner=runner, python=python, message=shorten(str(error)))
            return 97
    send("hello", protocol=1, runner=runner, version=adapter.version(), python=python)
    try:
        status = adapter.run(arguments, send, shorten, clean, wishes)
    except BaseException:
        import traceback

        text = traceback.format_exc()
        sys.stderr.write(text)
        send("internal-error", message=shorten(text))
        status = 3
    send("finish", status=status)
    return status


if __name__ == "__main__":
    import os

    code = main(sys.argv)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    # Threads and exit handlers that tests left behind have no say in outcomes that are already told.
    os._exit(code)
