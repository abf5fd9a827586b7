"""An observer of all sockets: who speaks to a role speaks through it, and it keeps every byte."""

import re
import select
import socket
import threading
from contextlib import suppress
from typing import NamedTuple

DIGEST = re.compile(rb"[0-9a-f]{64}")
_AT_ONCE = 1 << 16


class Exchange(NamedTuple):
    """One request and its answer, as an observer tells them apart without a key.

    where
      role            whom it was sent to
      asked, said     the lines before the bodies; digests are numbered as they come up
      sent, came      bytes of the bodies
    """

    role: str
    asked: bytes
    sent: int
    said: bytes
    came: int


class Tap:
    """Listens in a role's place and passes everything on to where it really is."""

    def __init__(self, taps, role):
        self.role, self.upstream, self._taps = role, None, taps
        self._place = socket.create_server(("127.0.0.1", 0))
        self.port = self._place.getsockname()[1]
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        while True:
            try:
                link, _ = self._place.accept()
            except OSError:
                return
            self._taps.begin(self, link)

    def end(self):
        self._place.shutdown(socket.SHUT_RDWR)
        self._place.close()
        self._thread.join()


class Taps:
    """Taps of all roles, and what passed them, in the order in which connections were made."""

    def __init__(self, names):
        self.heard, self._threads, self._turn = [], [], threading.Lock()
        self.of = {name: Tap(self, name) for name in names}

    @property
    def ports(self):
        return [tap.port for tap in self.of.values()]

    def begin(self, tap, link):
        """A connection: a thread passes its bytes on and keeps them."""
        with self._turn:
            kept = (tap.role, bytearray(), bytearray())
            self.heard.append(kept)
            thread = threading.Thread(target=_pass_on, args=(link, tap.upstream, kept), daemon=True)
            self._threads.append(thread)
        thread.start()

    def take(self):
        """What passed since the last time: (role, bytes to it, bytes from it)."""
        for thread in self._threads:
            thread.join()
        heard, self.heard, self._threads = self.heard, [], []
        return heard

    def end(self):
        for tap in self.of.values():
            tap.end()


def _pass_on(link, port, kept):
    _, sent, came = kept
    with link, socket.create_connection(("127.0.0.1", port)) as role:
        open_ = {link: (role, sent), role: (link, came)}
        while open_:
            for one in select.select(list(open_), [], [])[0]:
                other, record = open_[one]
                with suppress(OSError):
                    if some := one.recv(_AT_ONCE):
                        record += some
                        other.sendall(some)
                        continue
                with suppress(OSError):
                    other.shutdown(socket.SHUT_WR)
                del open_[one]
                if one is role:  # what it has said is all there is
                    return


def shapes(heard):
    """What an observer sees of it: how many exchanges with whom, their heads and their lengths."""
    numbers = {}

    def numbered(head):
        return DIGEST.sub(lambda one: b"#%d" % numbers.setdefault(one[0], len(numbers)), head)

    found = []
    for role, sent, came in heard:
        (asked, body), (said, answer) = (bytes(one).split(b"\r\n\r\n", 1) for one in (sent, came))
        found.append(Exchange(role, numbered(asked), len(body), numbered(said), len(answer)))
    return found
