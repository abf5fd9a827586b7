"""Intake processes, which receive bundles for the first mix in addition to the mix itself.

An intake process has no key and imports no code that can read one. It may learn of a round later
than the mix. So it answers requests for an unknown round with "not ready", and the client repeats
them. If it knows that the window of a round has closed, it refuses requests for the round.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.problem import Problem
from mixtally.errors import DataError, ParameterError
from mixtally.server.mix.admission import load_admission
from mixtally.server.mix.intake import Intake
from mixtally.server.mix.intake_watch import register_process
from mixtally.server.mix.web import MOST_BODIES_BYTES, BundleRoute, bundle_application
from mixtally.server.mix.window import Share, Window, acquire_share, list_announced
from mixtally.server.node import disk
from mixtally.server.node.clock import Clock, Clocks
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.events import Log, format_time
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.running import (
    ListenOptions,
    ServedRole,
    Stop,
    Wake,
    exclusive_service,
    run,
)
from mixtally.server.node.web.bodies import BodyBudget

MOST_NUMBER = 99
_RETRY_SECONDS = 2
"""Seconds after which a client may repeat a request for an unknown round."""


class IntakeProcess:
    """The rounds for which this process receives bundles."""

    def __init__(
        self, rounds: Path, intake: Intake, step: Step = no_step, log: Log | None = None
    ) -> None:
        self._rounds, self._intake, self._step = rounds, intake, step
        self._log = log or Log()
        self._shares: dict[tuple[str, int], Share] = {}
        self._over: set[tuple[str, int]] = set()

    def tick(self, _: int) -> None:
        """Start to receive for open windows, and stop for windows that have closed."""
        for key, one in list(self._shares.items()):
            if not one.is_window_open():
                self._leave(key)
        known = {one.folder for one in self._shares.values()}
        for folder in list_announced(self._rounds):
            if folder not in known:
                self._join(folder)

    def find(self, contract: str, number: int) -> Window:
        """Return the window of a round, for the route of bundles; raises ProblemError."""
        key = contract, number
        found = self._shares.get(key)
        if found is not None:
            return found.window
        if key in self._over:
            raise ProblemError(Problem.ROUND_CLOSED)
        raise ProblemError(Problem.NOT_READY, retry_seconds=_RETRY_SECONDS)

    def end(self) -> None:
        """Commit all received bundles, and close all files."""
        for key in list(self._shares):
            self._leave(key)
        self._intake.end()

    def _join(self, folder: Path) -> None:
        found = acquire_share(folder)
        if found is None:
            return
        self._step("after share")
        try:
            window = found.window
            contract, most = window.contract, window.most_bundles
            admission = load_admission(self._rounds.parent, contract, window.admission, most)
            self._intake.open(folder.name, most, window.bundle_bytes, admission)
        except BaseException as error:
            found.release()
            if isinstance(error, Exception) and not folder.exists():
                return  # the mix has ended the round meanwhile, and deleted its files
            raise
        self._shares[contract, window.round] = found
        times = {"opens": format_time(window.opens), "closes": format_time(window.closes)}
        self._log.tell("round signed by all", contract=window.contract, round=window.round, **times)

    def _leave(self, key: tuple[str, int]) -> None:
        """Stop receiving for a round, and release its lock.

        Before the lock is released, all bundles are on disk and the file is closed. The mix reads
        the file as soon as the lock is released.
        """
        one = self._shares.pop(key)
        self._over.add(key)
        self._intake.close(one.folder.name)
        self._step("after intake closed")
        one.release()
        self._log.tell("round closed", contract=key[0], round=key[1])


class IntakeOptions(NamedTuple):
    """Options for serving an intake process."""

    number: int
    """Number of the process, from 1, which is part of the names of its files."""
    host: str
    port: int
    ready: Callable[[str], None] = print
    """Called with the address once the socket listens."""
    clocks: Clocks | None = None
    """Time sources; None for those of the machine."""
    step: Step = no_step
    """Called with the name of each durable step."""
    log: Log = Log()
    """Receives events for the operator."""


def serve_intake(folder: Path, taking: IntakeOptions) -> None:
    """Receive bundles for the mix of a folder until a signal arrives.

    Raises
    ------
    ParameterError
        If the number is out of range.
    DataError
        If the number is in use, the folder is not that of a first mix, the address is in use, or
        the libraries of the extra ``[serve]`` are missing.
    """
    if not 1 <= taking.number <= MOST_NUMBER:
        raise ParameterError(
            "--number",
            expected=f"1 to {MOST_NUMBER}: the mix itself has number 0",
            got=taking.number,
            do="give every intake process a different number",
        )
    check_first_mix(folder)
    with exclusive_service(folder, taking.number) as lock:
        register_process(lock)
        clock = Clock(folder / "clock", taking.log, taking.clocks, keep=False)

        def begin(stop: Stop, _: Wake) -> ServedRole:
            rounds = folder / "rounds"
            intake = Intake(rounds, stop, taking.step, taking.number, taking.log)
            process = IntakeProcess(rounds, intake, taking.step, taking.log)
            bundles = BundleRoute(intake, process.find, clock.now, BodyBudget(MOST_BODIES_BYTES))

            def tick(now: int) -> None:
                os.utime(lock)  # shows the mix that this process does not hang
                process.tick(now)

            return ServedRole(tick, process.end, bundle_application(bundles, stop, taking.log))

        host, port = taking.host, taking.port
        run(ListenOptions(host, port, clock.certain_time, taking.ready, folder, taking.log), begin)


def check_first_mix(folder: Path) -> None:
    """Raise DataError unless the folder is that of a first mix.

    It must have a job for a contract in which the mix is the first hop, or no job at present.
    """
    if not (folder / "role.toml").exists() or not (folder / "jobs").is_dir():
        raise _not_first_error(folder, "none")
    jobs = [disk.read_file(path, "a job") for path in (folder / "jobs").glob("*.json")]
    if jobs and not any(json.loads(job)["place"] == 1 for job in jobs):
        raise _not_first_error(folder, "a later one, to which no people send")


def _not_first_error(folder: Path, got: str) -> DataError:
    return DataError(
        str(folder),
        expected="the folder of a mix that is the first of a contract",
        got=got,
        do="run intake where `mix serve` of the first mix runs",
    )
