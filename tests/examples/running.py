"""An example, run as its first lines say, in a process of its own that forgives no warning."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name, *arguments, cwd=None):
    """The finished process."""
    return subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, check=False, timeout=1700,
    )  # fmt: skip


def printed(name, *arguments, cwd=None):
    """What it prints, having ended well and said nothing else."""
    done = example(name, *arguments, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(name, *arguments):
    """Whether it ends with one line that begins with its name, and nothing else."""
    done = example(name, *arguments)
    return (
        done.returncode != 0
        and (done.stdout, done.stderr.count("\n")) == ("", 1)
        and done.stderr.startswith(f"{name}: ")
    )
