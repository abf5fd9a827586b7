"""Roles as processes whose clocks are turned forward, so that no round has to be waited for.

A round can then be open for much longer than a busy machine needs. The wall clock and the steady
clock of a role leap together, which is no jump to the role. Tests use it, and ``network.py`` and
``survey.py`` with ``--hurry``.
"""

import os
import time
from pathlib import Path

PROGRAM = """
import time
from pathlib import Path
from mixtally.server.node import clock
def ahead(usual):
    def read():
        try:
            return usual() + int(Path({path!r}).read_text())
        except FileNotFoundError:
            return usual()
    return read
clock.Clocks.__new__.__defaults__ = ahead(time.time), ahead(clock.since_boot), clock.this_boot()
from mixtally.cli.main import run; run()
"""


def command(path: Path) -> str:
    """Return the program of ``mixtally`` in which a role's clock is ahead as the file says."""
    return PROGRAM.format(path=str(path))


def leap(path: Path, seconds: int) -> None:
    """Set by how many seconds the clocks of these processes are ahead."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(f"{seconds}")
    os.replace(new, path)


class LeapingClock:
    """The clock of the roles whose clocks are ahead by the seconds in the file ``path``."""

    def __init__(self, path: Path) -> None:
        self._path, self._ahead = path, 0

    def now(self) -> float:
        """Return the time of the roles."""
        return time.time() + self._ahead

    def turn_to(self, moment: int) -> None:
        """Turn the clock forward to ``moment``, if this moment is not past."""
        self._ahead += max(0, moment - int(self.now()))
        leap(self._path, self._ahead)
