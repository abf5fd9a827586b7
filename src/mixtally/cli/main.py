"""Entry point of the command line, which turns errors into one line and an exit status.

All other modules are imported inside of ``run``, so that an interruption during the imports is
handled, too.
"""

import io
import json
import os
import sys
from contextlib import suppress

from mixtally.errors import AccountingError, DataError, InputError

_INTERRUPTED, _CLOSED = 130, 141
"""Exit statuses that shells use for SIGINT and for SIGPIPE."""
_NAME = "mixtally: "
"""The beginning of every error line. It is not added to messages that already begin with it."""
LAB = frozenset({"msgspec", "narwhals", "numpy", "rich", "scipy", "typer"})
"""Packages of the extra ``lab``, which a device does not need."""


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
    # Matrix products in this program are so small that several threads can be slower than one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from mixtally.cli.app import call  # errors of this import are handled below as well

        status = call()
        sys.stdout.flush()
    except InputError as error:
        return _report_error(error, 2)
    except AccountingError as error:
        return _report_error(error, 3)
    except ModuleNotFoundError as error:
        # If another module is missing, the installation is damaged, so this is no missing extra.
        if error.name not in LAB:
            raise
        missing = DataError(
            "the command line",
            expected="the packages of mixtally[lab]",
            got=f"no {error.name}, as mixtally without extras contains the device only",
            do="pip install 'mixtally[lab]'",
        )
        return _report_error(missing, 2)
    except (BrokenPipeError, SystemExit) as ended:  # click and rich exit on a closed pipe
        if isinstance(ended, SystemExit) and not isinstance(ended.__context__, BrokenPipeError):
            raise
        _discard_output()
        return _CLOSED
    except OSError as error:
        _discard_output()
        refused = DataError(
            str(error.filename or "output"),
            expected="a file or pipe that can be written",
            got=error,
            do="check its free space; files that were written before are complete",
        )
        return _report_error(refused, 2)
    return status


def _prepare_streams() -> None:
    """Make standard output and standard error accept every character, and replace closed ones."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        # print would raise for a stream that is None.
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):  # the encoding may lack characters of labels
            stream.reconfigure(errors="backslashreplace")


def _report_error(error: Exception, status: int) -> int:
    if "--json" in sys.argv:
        with suppress(OSError):
            sys.stdout.write(json.dumps(_error_facts(error, status), indent=1) + "\n")
            sys.stdout.flush()
    line = str(error) if str(error).startswith(_NAME) else f"{_NAME}{error}"
    with suppress(OSError):  # standard error is closed; the exit status still reports the error
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    return status


def _error_facts(error: Exception, status: int) -> dict[str, object]:
    """Return the error as facts, which ``--json`` prints instead of a result."""
    facts: dict[str, object] = {"error": str(error), "status": status}
    if isinstance(error, InputError):
        facts |= {"subject": error.subject, "expected": error.expected, "got": error.got}
        facts |= {"do": error.do, **error.details}
    return facts


def _discard_output() -> None:
    """Discard buffered output, so that Python does not try to write it again at exit."""
    with suppress(OSError, ValueError):  # a stream without a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
