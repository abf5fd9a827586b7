"""A command of the operator that is run when a round has ended.

The command receives one line of JSON on its standard input. It runs without a shell, without the
environment of the collector, which may contain the master key, and for a limited time. A command
that fails does not stop the collector.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore

from mixtally.errors import ParameterError, describe_error
from mixtally.server.node.events import FieldValue, Log

SECONDS = 10.0
"""Seconds after which the command is ended, with the processes that it started."""
_MOST_WAITING = 16
"""The maximum number of events that are waiting or being handled; further events are dropped."""
_ENVIRONMENT = ("PATH", "HOME", "LANG")
"""The environment variables that the command receives."""


class Notifier:
    """Runner of a command, once for each event and one at a time.

    Raises ParameterError if there is no such command.
    """

    def __init__(self, command: str, log: Log) -> None:
        self._command, self._log = parse_command(command), log
        self._runner = ThreadPoolExecutor(1, "notify")
        self._room = BoundedSemaphore(_MOST_WAITING)

    def notify(self, event: Mapping[str, FieldValue]) -> None:
        """Queue an event; the command is run once for each queued event, in order.

        If too many events are waiting, the event is dropped, and this is logged.
        """
        if self._room.acquire(blocking=False):
            self._runner.submit(self._handle, json.dumps(event).encode() + b"\n")
        else:
            self._tell_failure(f"{_MOST_WAITING} earlier events wait for the command")

    def end(self) -> None:
        """Wait until the running command has ended, and drop the events that still wait."""
        self._runner.shutdown(cancel_futures=True)

    def _handle(self, data: bytes) -> None:
        try:
            failure = self._run(data)
        finally:
            self._room.release()
        if failure:
            self._tell_failure(failure)

    def _tell_failure(self, why: str) -> None:
        self._log.tell("notify failed", because=why)

    def _run(self, data: bytes) -> str:
        """Run the command, and return why it failed, or ""."""
        inherited = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        try:
            with subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=inherited,
                start_new_session=True,
            ) as process:
                try:
                    process.communicate(data, timeout=SECONDS)
                except subprocess.TimeoutExpired:
                    # The process was not reaped yet, so its number belongs to no other process.
                    os.killpg(process.pid, signal.SIGKILL)
                    return f"it took more than {SECONDS:g} s"
        except OSError as error:
            return describe_error(error)
        return f"exit status {process.returncode}" if process.returncode else ""


def parse_command(text: str) -> list[str]:
    """Return the words of a command; raise ParameterError if it cannot be run."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words or shutil.which(words[0]) is None:
        raise ParameterError(
            "--notify",
            expected="a program of this machine and its arguments",
            got=repr(text[:99]),
            do="name an executable file; pipes and variables need `sh -c '...'`",
        )
    return words
