import pytest


def test_stops():
    pytest.exit("enough")


def test_after():
    pass
