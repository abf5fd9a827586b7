"""Measurement of this machine's rates, about one second for each kind of work.

The command ``mixtally batch doctor`` predicts the duration of a round from these rates.
"""

import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import groupby, repeat
from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.suite import SUITES
from mixtally.primitives.chance import Chance
from mixtally.server.engine.envelope_worker import EnvelopeWorker, Secrets
from mixtally.server.engine.pool import Pool
from mixtally.server.engine.scale import Rates
from mixtally.server.engine.sorting import Sorter
from mixtally.server.node.wrapping import secret_bytes

_MESSAGES, _TRIES, _SYNCS, _CHUNKS = 500, 5, 20, 16
"""Messages per measurement, repetitions, measured syncs, and chunks for each core."""
_SHEET = bytes(32)


def measure_rates(
    chance: Chance, message_bytes: int, cores: int, folder: Path | None = None
) -> Rates:
    """Measure the CPU time of each kind of work, and the time of a sync.

    Parameters
    ----------
    chance : Chance
        Source of random messages and keys.
    message_bytes : int
        Length of a message.
    cores : int
        Number of cores. All of them open envelopes at the same time, as in a round.
    folder : Path, optional
        Folder on the disk whose syncs are measured.

    Returns
    -------
    Rates
        The rates, without the cost of receiving a bundle.
    """
    suite = SUITES[1]
    private = secret_bytes(chance, suite.private_bytes)
    key = suite.configuration(private)
    secrets = Secrets(1, private, _SHEET, 1, secret_bytes(chance, 32), (key,))
    worker = EnvelopeWorker(secrets)
    messages = [secret_bytes(chance, message_bytes) for _ in range(_MESSAGES)]
    seal = Sealer(suite, [key], _SHEET).seal
    envelopes = [seal(one, 0) for one in messages]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        return Rates(
            open=_measure_on_all_cores(secrets, envelopes, message_bytes, cores),
            seal=_measure_each(lambda: [seal(one, 0) for one in messages]),
            order=_measure_each(partial(_sort_messages, worker, messages, Path(place), chance)),
            sync=_measure_sync(Path(place)),
        )


class _CpuTime(NamedTuple):
    """The process id of a worker, and its CPU time in seconds after it has opened a chunk."""

    process: int
    seconds: float


def _open_chunk(
    worker: EnvelopeWorker, part: int, chunk: bytes, size: int, expected: int
) -> _CpuTime:
    worker.open(part, chunk, size, expected)
    return _CpuTime(os.getpid(), time.process_time())


def _measure_on_all_cores(
    secrets: Secrets, envelopes: list[bytes], expected: int, cores: int
) -> float:
    """Measure the CPU time for one envelope while all cores open envelopes.

    Each worker is measured from the end of its first chunk to the end of its last one. This
    excludes the start of the worker and includes the reading of chunks. The CPU time of this
    process, which distributes the chunks, is added.
    """
    chunk, size = b"".join(envelopes), len(envelopes[0])
    with Pool(secrets, cores) as pool:
        begun = time.process_time()
        spent = sorted(pool.run(_open_chunk, 0, repeat(chunk, cores * _CHUNKS), size, expected))
        handed_out = (time.process_time() - begun) / len(spent)
    by_process = [[one.seconds for one in own] for _, own in groupby(spent, lambda one: one[0])]
    worked = math.fsum(own[-1] - own[0] for own in by_process)
    counted = sum(len(own) - 1 for own in by_process)
    return (worked / counted + handed_out) / len(envelopes)


def _sort_messages(
    worker: EnvelopeWorker, messages: list[bytes], place: Path, chance: Chance
) -> None:
    sorter = Sorter(place, len(messages[0]), chance)
    ordered = worker.order(0, b"".join(messages), len(messages[0]))
    sorter.add(ordered.sort_keys, ordered.messages)
    for _ in sorter.iterate_sorted():
        pass


def _measure_each(work: Callable[[], object]) -> float:
    """Return the CPU time per message in seconds, as the median of several repetitions."""
    # The first call is not measured, because it includes one-time costs.
    work()
    spent = []
    for _ in range(_TRIES):
        begun = time.process_time()
        work()
        spent.append((time.process_time() - begun) / _MESSAGES)
    return statistics.median(spent)


def _measure_sync(place: Path) -> float:
    """Return the median time to write and sync four kilobytes, in seconds."""
    spent = []
    with (place / "sync").open("wb", buffering=0) as file:
        for _ in range(_SYNCS):
            begun = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            spent.append(time.perf_counter() - begun)
    return statistics.median(spent)
