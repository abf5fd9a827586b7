"""A process of intake beside the mix: it takes bundles for the rounds whose windows stand.

It has no key, and imports nothing that can read one. What is not known to it may be known a moment
later, so it answers that the same bytes may come again; a window that it saw and that is gone is
over.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.problem import Problem
from mixtally.errors import DataError, ParameterError
from mixtally.server.mix.intake import Intake
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


class IntakeProcess:
    """The rounds for which this process takes."""

    def __init__(
        self, rounds: Path, intake: Intake, step: Step = no_step, log: Log | None = None
    ) -> None:
        self._rounds, self._intake, self._step = rounds, intake, step
        self._log = log or Log()
        self._shares: dict[tuple[str, int], Share] = {}
        self._over: set[tuple[str, int]] = set()

    def tick(self, _: int) -> None:
        """Begin where a window stands, and end where it does no more."""
        for key, one in list(self._shares.items()):
            if not one.is_window_open():
                self._leave(key)
        known = {one.folder for one in self._shares.values()}
        for folder in list_announced(self._rounds):
            if folder not in known:
                self._join(folder)

    def find(self, contract: str, number: int) -> Window:
        """The window of a round; raises ProblemError, for the route of bundles."""
        key = contract, number
        found = self._shares.get(key)
        if found is not None:
            return found.window
        if key in self._over:
            raise ProblemError(Problem.ROUND_CLOSED)
        raise ProblemError(Problem.NOT_READY, after=_RETRY_SECONDS)

    def end(self) -> None:
        """Commit what waits, and give all files back."""
        for key in list(self._shares):
            self._leave(key)
        self._intake.end()

    def _join(self, folder: Path) -> None:
        found = acquire_share(folder)
        if found is None:
            return
        self._step("after share")
        try:
            self._intake.open(folder.name)
        except BaseException:
            found.release()
            raise
        self._shares[found.window.contract, found.window.round] = found
        window = found.window
        times = {"opens": format_time(window.opens), "closes": format_time(window.closes)}
        self._log.tell("round signed by all", contract=window.contract, round=window.round, **times)

    def _leave(self, key: tuple[str, int]) -> None:
        """What was taken is on the disk, and its file closed, before the share is given back."""
        one = self._shares.pop(key)
        self._over.add(key)
        self._intake.close(one.folder.name)
        self._step("after intake closed")
        one.release()
        self._log.tell("round closed", contract=key[0], round=key[1])


class IntakeOptions(NamedTuple):
    """How a process of intake is served.

    where
      number   of the process, from 1: its files have it in their names
      ready    told the address once the socket listens
      clocks   of the machine
      step     told the name of every durable step
      log      tells the operator what happens
    """

    number: int
    host: str
    port: int
    ready: Callable[[str], None] = print
    clocks: Clocks | None = None
    step: Step = no_step
    log: Log = Log()


def serve_intake(folder: Path, taking: IntakeOptions) -> None:
    """Take bundles for the mix of a folder until a signal ends it; raises what must end it.

    Raises ParameterError for a number out of range, DataError for one that a process has, for the
    folder of no mix and of one that is never the first, and as ``run``.
    """
    if not 1 <= taking.number <= MOST_NUMBER:
        raise ParameterError(
            "--number",
            expected=f"1 to {MOST_NUMBER}: the mix itself has number 0",
            got=taking.number,
            do="give every process of intake a number of its own",
        )
    check_first_mix(folder)
    with exclusive_service(folder, taking.number):
        clock = Clock(folder / "clock", taking.log, taking.clocks, keep=False)

        def begin(stop: Stop, _: Wake) -> ServedRole:
            rounds = folder / "rounds"
            intake = Intake(rounds, stop, taking.step, taking.number)
            beside = IntakeProcess(rounds, intake, taking.step, taking.log)
            bundles = BundleRoute(intake, beside.find, clock.now, BodyBudget(MOST_BODIES_BYTES))
            return ServedRole(
                beside.tick, beside.end, bundle_application(bundles, stop, taking.log)
            )

        host, port = taking.host, taking.port
        run(ListenOptions(host, port, clock.certain_time, taking.ready, folder, taking.log), begin)


def check_first_mix(folder: Path) -> None:
    """Raises DataError for the folder of no mix, and of one that no contract has as its first."""
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
