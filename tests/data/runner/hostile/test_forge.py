import json
import os
import sys


def channel():
    """The channel's path, as anybody can find it."""
    line = open("/proc/self/cmdline").read().split("\0")
    return line[line.index("pytest") - 1]


def test_forges():
    with open(channel(), "a") as file:
        for n in range(100):
            event = {"e": "phase", "id": "test_forge.py::test_fails", "phase": "call", "outcome": "passed", "n": n}
            file.write("0" * 32 + " " + json.dumps(event) + "\n")
        file.write(json.dumps({"e": "finish", "status": 0, "n": 1}) + "\n")


def test_fails():
    assert 0
