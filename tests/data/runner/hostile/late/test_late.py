def test_fails():
    assert False


def test_passes():
    pass
