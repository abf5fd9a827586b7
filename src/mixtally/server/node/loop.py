"""Loop of a role, which performs due work once a second and whenever input arrives."""

import threading
from collections.abc import Callable
from time import monotonic

from mixtally.server.node.disk import is_full, is_temporary

TICK_SECONDS = 1.0
_FULL_SECONDS = 10.0
"""Seconds until the next try after the disk was full."""
_WATCH_SECONDS = 5.0
"""Seconds between two looks at the age of the last pass."""


def _ignore_age(seconds: float) -> None:
    """Ignore the age of the last pass."""


class Loop:
    """Thread that calls ``tick`` with the time once a second.

    A call of ``tick`` is a *pass*. An error of ``tick`` is passed to ``stop``, which must end the
    process. ``watch`` is called in another thread with the seconds since the last pass ended, also
    while a pass hangs.
    """

    def __init__(
        self,
        tick: Callable[[int], None],
        clock: Callable[[], int],
        stop: Callable[[BaseException], None],
        watch: Callable[[float], None] = _ignore_age,
    ) -> None:
        self._tick, self._clock, self._stop, self._watch = tick, clock, stop, watch
        self._woken, self._ended = threading.Event(), False
        self._over = threading.Event()
        self._stepped = monotonic()
        self._thread = threading.Thread(target=self._run, name="rounds", daemon=True)
        self._watcher = threading.Thread(target=self._watch_passes, name="watch", daemon=True)

    def wake(self) -> None:
        """Call ``tick`` as soon as possible, because input has arrived."""
        self._woken.set()

    def start(self) -> None:
        """Start the thread."""
        self._stepped = monotonic()
        self._thread.start()
        self._watcher.start()

    def age(self) -> float:
        """Return the seconds since the last pass ended."""
        return monotonic() - self._stepped

    def end(self) -> None:
        """Finish the current work and stop the thread."""
        self._ended = True
        self._woken.set()
        self._thread.join()
        self._over.set()
        self._watcher.join()

    def _watch_passes(self) -> None:
        while not self._over.wait(_WATCH_SECONDS):
            self._watch(self.age())

    def _run(self) -> None:
        while not self._ended:
            # Cleared before the work, so that input which arrives during the work triggers another
            # pass.
            self._woken.clear()
            pause = TICK_SECONDS
            try:
                self._tick(self._clock())
            # Deliberately every exception: a role whose thread has died would seem to be running.
            except BaseException as error:
                if not is_temporary(error):
                    self._stop(error)
                    return
                if is_full(error):
                    # The operator may free space meanwhile.
                    pause = _FULL_SECONDS
            self._stepped = monotonic()
            self._woken.wait(pause)
