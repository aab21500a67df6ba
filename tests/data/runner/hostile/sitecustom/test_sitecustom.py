def test_sitecustomize_came_too_late():
    assert open("stolen", "rb").read() == b""
