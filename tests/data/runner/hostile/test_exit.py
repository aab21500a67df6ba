import os


def test_before():
    pass


def test_leaves():
    os._exit(0)
