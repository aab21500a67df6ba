import os
import signal


def test_crashes():
    os.kill(os.getpid(), signal.SIGSEGV)
