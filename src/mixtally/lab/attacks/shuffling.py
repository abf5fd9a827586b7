"""Tests of the shuffle: positions of messages in small batches, moves between blocks of large ones.

The audits ``randomizer`` and ``collection`` use these checks. A large batch is divided into blocks.
In a uniform order, the number of messages that move from one block to another is hypergeometric.
A hypergeometric number is distributed like a sum of independent bits with different probabilities
(Vatutin, Mikhailov 1982). So the number varies less than the binomial distribution of the test
(Hoeffding 1956), which only reduces the false-alarm probability.
"""

import numpy as np

from mixtally.lab.attacks.audit import Checks
from mixtally.lab.attacks.outcome import AttackLab
from mixtally.primitives.bits import Counts

_SIZES = (20_001, 600_001)
"""Messages of large batches: more than games shuffle, and more than fill 4 MB, at eight bytes each.
"""
_PARTS = 20
"""The number of blocks of a large batch."""
_FEW = 64
"""The number of messages of a small batch."""


def large_shuffle_checks(lab: AttackLab) -> tuple[list[Checks], int]:
    """Return tests of one batch of each size in ``_SIZES``, and the number of all messages."""
    checks = []
    for size in _SIZES:
        numbers = np.arange(size, dtype="<u8")
        mixed = lab.device.shuffle(numbers.view(np.uint8).reshape(size, 8), lab.chance)
        places = np.ascontiguousarray(mixed).view("<u8").reshape(-1).astype(np.int64)
        lost = size - len(np.unique(places[places < size]))
        moves = _part_number(places, size) * _PARTS + _part_number(np.arange(len(places)), size)
        seen = np.bincount(moves, minlength=_PARTS**2)[: _PARTS**2].reshape(_PARTS, _PARTS)
        parts = np.bincount(_part_number(numbers.astype(np.int64), size), minlength=_PARTS)
        checks += [
            Checks.of(f"message of {size:,} that a shuffle loses", lost, size, 0.0),
            Checks.of(
                f"message of {size:,} that goes from part to part",
                seen.ravel(),
                np.repeat(parts, _PARTS),
                np.tile(parts / size, _PARTS),
            ),
        ]
    return checks, sum(_SIZES)


def _part_number(places: Counts, size: int) -> Counts:
    return np.minimum(places * _PARTS // size, _PARTS - 1).astype(np.int64)


def small_shuffle_checks(lab: AttackLab) -> list[Checks]:
    """Return tests of where the first two messages of small batches are after a shuffle."""
    places = _FEW
    rows = np.arange(places, dtype=np.uint8)[:, None]
    runs = 2_000
    seen, adjacent = np.zeros(places, dtype=np.int64), 0
    for _ in range(runs):
        mixed = lab.device.shuffle(rows, lab.chance)[:, 0]
        first = int(np.flatnonzero(mixed == 0)[0])
        seen[first] += 1
        adjacent += int(mixed[(first + 1) % places] == 1)
    return [
        Checks.of("place of the first message after the shuffle", seen, runs, 1.0 / places),
        Checks.of("second message after the first", adjacent, runs, 1.0 / (places - 1)),
    ]
