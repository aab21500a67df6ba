# -*- coding: utf-8 -*-
"""One test for each outcome; its name says which (see tests/it/runner_matrix.rs)."""
import os
import subprocess
import sys
import unittest

import pytest


class TestClass(object):
    def test_method_passes(self):
        pass


@pytest.mark.parametrize("value", ["a b", "[x]", "a\nb", u"\xe9", "x::()::y", "\udc80", "", "a-b/c.py::d"])
def test_ids_pass(value):
    pass


def test_call_fails():
    assert 1 == 2


@pytest.fixture
def broken():
    raise ValueError("broken")


def test_setup_errors(broken):
    pass


@pytest.fixture
def broken_afterwards():
    yield
    raise ValueError("broken afterwards")


def test_teardown_errors(broken_afterwards):
    pass


def test_call_and_teardown_fails(broken_afterwards):
    assert 0


@pytest.mark.skip(reason="for a reason")
def test_mark_skips():
    assert 0


def test_call_skips():
    pytest.skip("in the middle")


@pytest.mark.xfail
def test_mark_xfails():
    assert 0


@pytest.mark.xfail(run=False)
def test_not_run_xfails():
    os._exit(9)


def test_call_xfails():
    pytest.xfail("on the way")


@pytest.mark.xfail
def test_mark_xpasses():
    pass


@pytest.mark.xfail(strict=True)
def test_strict_xpass_fails():
    pass


class TestUnit(unittest.TestCase):
    def test_unit_passes(self):
        pass

    def test_unit_fails(self):
        self.assertEqual(1, 2)

    def test_subtest_fails(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertNotEqual(number, 1)

    def test_subtests_passes(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertNotEqual(number, 7)

    @unittest.expectedFailure
    def test_expected_xfails(self):
        self.assertEqual(1, 2)

    @unittest.expectedFailure
    def test_unexpected_success_fails(self):
        pass

    @unittest.skip("unit")
    def test_unit_skips(self):
        pass


def test_subtests_fixture_fails(request):
    try:
        subtests = request.getfixturevalue("subtests")
    except Exception:
        assert 0, "no subtests here"
    with subtests.test("one"):
        pass
    with subtests.test("two"):
        assert 0


def test_odd_id_passes():
    pass


def test_input_is_empty_passes():
    assert os.read(0, 10) == b""
    assert not [name for name in os.environ if "QUARRY" in name and name != "QUARRY_JOB"]


def test_fork_that_returns_passes():
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    elif "PYTEST_XDIST_WORKER" in os.environ:
        os._exit(0)  # Two processes on one execnet channel would be the end of any runner.


def test_children_have_site_passes():
    import multiprocessing

    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(sys_path_has_site, [0]) == [True]
    flags = subprocess._args_from_interpreter_flags()
    code = "import sys, pytest; sys.exit(sys.flags.no_site)"
    assert subprocess.call([sys.executable] + flags + ["-c", code]) == 0


def sys_path_has_site(_):
    return not sys.flags.no_site


def test_working_folder_first_passes():
    assert sys.path[0] == os.getcwd() or os.getcwd() in sys.path
    assert not [folder for folder in sys.path if folder.rstrip("/").endswith("/runner")]


def test_descriptors_closed_passes():
    os.closerange(100, 3000)


def test_after_that_passes():
    pass


def test_time_and_json_replaced_passes(monkeypatch):
    import json
    import time

    monkeypatch.setattr(time, "time", lambda: 0)
    monkeypatch.setattr(json, "dumps", None)
    monkeypatch.setattr(json.JSONEncoder, "iterencode", None)
    monkeypatch.setattr(os, "write", None)
    monkeypatch.setattr(os, "getpid", lambda: 1)


def test_output_closed_passes(capfd):
    with capfd.disabled():
        os.close(1)
        os.close(2)
        os.open(os.devnull, os.O_WRONLY)
        os.open(os.devnull, os.O_WRONLY)
