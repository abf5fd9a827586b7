"""The loop of a role: what is due is done once a second, and whenever something came."""

import threading
from collections.abc import Callable

from mixtally.server.node.disk import is_full

TICK_SECONDS = 1.0
_FULL_SECONDS = 10.0


class Loop:
    """Calls ``tick`` with the time; what it raises ends the process by ``stop``."""

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
        """Something came: look at once."""
        self._woken.set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """Stop after what is being done."""
        self._ended = True
        self._woken.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended:
            self._woken.clear()
            pause = TICK_SECONDS
            try:
                self._tick(self._clock())
            except BaseException as error:
                if not is_full(error):
                    self._stop(error)
                    return
                pause = _FULL_SECONDS  # an operator may make room
            self._woken.wait(pause)
