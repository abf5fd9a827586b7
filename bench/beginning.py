"""What it costs to begin: the package imported, the command line's help; CPU seconds."""

import os
import statistics
import subprocess
import sys

from bench.clock import QUICK
from bench.row import Row, rated

IMPORT, HELP = 0.1, 0.3


def rows() -> list[Row]:
    """Benchmark lines; the interpreter's own beginning is taken off."""
    bare = _spent("pass")
    package = _spent("import mixtally") - bare
    told = _spent("import sys; sys.argv = ['mixtally', '--help']\n"
                  "from mixtally.cli.main import run\nrun()") - bare  # fmt: skip
    return [
        rated("import mixtally", _ms(package), f"of {IMPORT} s", IMPORT / max(package, 1e-3), 1),
        rated("mixtally --help", _ms(told), f"of {HELP} s", HELP / max(told, 1e-3), 1),
    ]


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.0f} ms"


def _spent(program: str) -> float:
    return statistics.median(_once(program) for _ in range(1 if QUICK else 7))


def _once(program: str) -> float:
    begun = os.times()
    subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=True)
    ended = os.times()
    return ended.children_user + ended.children_system - begun.children_user - begun.children_system
