import pytest

pytest.importorskip("no_such_module_anywhere")


def test_never():
    assert 0
