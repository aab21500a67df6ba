import atexit
import threading
import time


def test_leaves_a_thread():
    threading.Thread(target=time.sleep, args=(1000,)).start()
    atexit.register(time.sleep, 1000)
