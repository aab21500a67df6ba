import socket

import pytest


def test_no_way_out():
    for address in ["192.0.2.1", "1.1.1.1"]:
        with pytest.raises(OSError):
            socket.create_connection((address, 80), timeout=20)
    with pytest.raises(OSError):
        socket.getaddrinfo("example.org", 80)


def test_loopback():
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(1)
    socket.create_connection(server.getsockname(), timeout=20).close()
