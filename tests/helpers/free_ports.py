"""Ports that roles are told before they bind them."""

import os
import socket
from contextlib import suppress

FIRST, EACH = 20_000, 10


def free_ports(count):
    """Ports that nobody holds, below those that systems give away: a process has its own ten."""
    found, port = [], FIRST + os.getpid() % 1_000 * EACH
    while len(found) < count:
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            found.append(port)
        port += 1
    return found
