from test_forge import channel


def test_truncates():
    open(channel(), "w").close()


def test_fails():
    assert 0
