def test_conf():
    pass
