import os


def test_second_try_passes():
    if not os.path.exists("tried"):
        open("tried", "w").close()
        assert 0


def test_never_passes_or_fails():
    assert 0
