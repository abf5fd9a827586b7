"""Where every call begins: errors become a line and an exit status, whatever they are.

Nothing else is imported before ``run``, so that a key pressed meanwhile ends it quietly, too.
"""

import io
import json
import os
import sys
from contextlib import suppress

from mixtally.errors import AccountingError, DataError, InputError

_INTERRUPTED, _CLOSED = 130, 141
"""As a shell states the signals for a key and for a pipe that nobody reads."""
_NAME = "mixtally: "
"""What every line begins with, once: errors of the whole command have it as their subject."""
LAB = frozenset({"msgspec", "narwhals", "numpy", "rich", "scipy", "typer"})
"""What the command line needs and a device does not: the extra ``lab``."""


def run() -> None:
    """Run the command line; docs/reference/commands.md has every exit status."""
    try:
        status = _run_with_status()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    if status:
        sys.exit(status)


def _run_with_status() -> int:
    _prepare_streams()
    # Products here are small: on a busy machine several threads take far longer than one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from mixtally.cli.app import call  # what stops its loading is answered below as well

        status = call()
        sys.stdout.flush()
    except InputError as error:
        return _report_error(error, 2)
    except AccountingError as error:
        return _report_error(error, 3)
    except ModuleNotFoundError as error:
        if error.name not in LAB:
            raise
        missing = DataError(
            "the command line",
            expected="the packages of mixtally[lab]",
            got=f"no {error.name}: mixtally alone is a device's",
            do="pip install 'mixtally[lab]'",
        )
        return _report_error(missing, 2)
    except (BrokenPipeError, SystemExit) as ended:  # click and rich make an exit of a closed pipe
        if isinstance(ended, SystemExit) and not isinstance(ended.__context__, BrokenPipeError):
            raise
        _discard_output()
        return _CLOSED
    except OSError as error:
        _discard_output()
        refused = DataError(
            str(error.filename or "output"),
            expected="a place that takes what is written",
            got=str(error),
            do="look at it and its free space; files written before are whole",
        )
        return _report_error(refused, 2)
    return status


def _prepare_streams() -> None:
    """Both take every character, and are there even where the caller closed them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):  # a label may hold what its encoding has not
            stream.reconfigure(errors="backslashreplace")


def _report_error(error: Exception, status: int) -> int:
    if "--json" in sys.argv:
        with suppress(OSError):
            sys.stdout.write(json.dumps(_error_facts(error, status), indent=1) + "\n")
            sys.stdout.flush()
    line = str(error) if str(error).startswith(_NAME) else f"{_NAME}{error}"
    with suppress(OSError):  # nobody can be told; the status still can
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    return status


def _error_facts(error: Exception, status: int) -> dict[str, object]:
    """What a program is told in place of a result."""
    told: dict[str, object] = {"error": str(error), "status": status}
    if isinstance(error, InputError):
        told |= {"subject": error.subject, "expected": error.expected, "got": error.got}
        told |= {"do": error.do, **error.beside}
    return told


def _discard_output() -> None:
    """What could not be printed is not tried once more when the process ends."""
    with suppress(OSError, ValueError):  # a stream without a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
