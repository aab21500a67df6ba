def test_interrupts():
    raise KeyboardInterrupt


def test_after():
    pass
