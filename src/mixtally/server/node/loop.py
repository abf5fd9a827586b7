"""Loop of a role, which performs due work once a second and whenever input arrives."""

import threading
from collections.abc import Callable

from mixtally.server.node.disk import is_full

TICK_SECONDS = 1.0
_FULL_SECONDS = 10.0
"""Seconds until the next try after the disk was full."""


class Loop:
    """Thread that calls ``tick`` with the time once a second.

    An error of ``tick`` is passed to ``stop``, which must end the process.
    """

    def __init__(
        self,
        tick: Callable[[int], None],
        clock: Callable[[], int],
        stop: Callable[[BaseException], None],
    ) -> None:
        self._tick, self._clock, self._stop = tick, clock, stop
        self._woken, self._ended = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="rounds", daemon=True)

    def wake(self) -> None:
        """Call ``tick`` as soon as possible, because input has arrived."""
        self._woken.set()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """Finish the current work and stop the thread."""
        self._ended = True
        self._woken.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended:
            # Cleared before the work, so that input which arrives during the work triggers another
            # pass.
            self._woken.clear()
            pause = TICK_SECONDS
            try:
                self._tick(self._clock())
            # Deliberately everything: a role whose thread has died silently would seem alive.
            except BaseException as error:
                if not is_full(error):
                    self._stop(error)
                    return
                # The operator may free space meanwhile.
                pause = _FULL_SECONDS
            self._woken.wait(pause)
