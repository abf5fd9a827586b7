"""The rates of this machine: a second of each kind of work, in CPU seconds."""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from mixtally.engine.hands import Hands, Secrets
from mixtally.engine.scale import Rates
from mixtally.engine.sorting import Sorter
from mixtally.ground.chance import Chance
from mixtally.node.wrapping import secret_bytes
from mixtally.wire.envelope import Sealer
from mixtally.wire.suite import SUITES

_MESSAGES, _TRIES, _SYNCS = 500, 5, 20
_SHEET = bytes(32)


def measured(chance: Chance, message_bytes: int, folder: Path | None = None) -> Rates:
    """Medians of a few runs; ``folder`` is on the disk whose syncs count."""
    suite = SUITES[1]
    private = secret_bytes(chance, suite.private_bytes)
    key = suite.configuration(private)
    hands = Hands(Secrets(1, private, _SHEET, 1, secret_bytes(chance, 32), (key,)))
    messages = [secret_bytes(chance, message_bytes) for _ in range(_MESSAGES)]
    seal = Sealer(suite, [key], _SHEET).seal
    envelopes = [seal(one, 0) for one in messages]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        return Rates(
            open=_each(lambda: hands.inside(0, envelopes)),
            seal=_each(lambda: [seal(one, 0) for one in messages]),
            order=_each(partial(_order, hands, messages, Path(place), chance)),
            sync=_sync(Path(place)),
        )


def _order(hands: Hands, messages: list[bytes], place: Path, chance: Chance) -> None:
    sorter = Sorter(place, len(messages[0]), chance)
    ordered = hands.order(0, b"".join(messages), len(messages[0]))
    sorter.add(ordered.order, ordered.messages)
    for _ in sorter.ordered():
        pass


def _each(work: Callable[[], object]) -> float:
    """CPU seconds a message."""
    work()
    spent = []
    for _ in range(_TRIES):
        begun = time.process_time()
        work()
        spent.append((time.process_time() - begun) / _MESSAGES)
    return statistics.median(spent)


def _sync(place: Path) -> float:
    """Seconds until four kilobytes are kept."""
    spent = []
    with (place / "sync").open("wb", buffering=0) as file:
        for _ in range(_SYNCS):
            begun = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            spent.append(time.perf_counter() - begun)
    return statistics.median(spent)
