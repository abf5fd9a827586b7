"""Large batches after the shuffle: from every part of a batch to every part of what is sent on.

Of a uniform order the number of messages that go from one part to another is hypergeometric, which
is the distribution of a sum of independent coins (Vatutin, Mikhailov 1982) and so varies less than
the binomial that it is tested as (Hoeffding 1956).
"""

import numpy as np

from mixtally.attacks.checks import Checks
from mixtally.attacks.outcome import Lab
from mixtally.ground.bits import Counts

_SIZES = (20_001, 600_001)
"""Messages of a batch: more than is shuffled in games, and more than 4 MB of eight bytes each."""
_PARTS = 20


def shuffle_checks(lab: Lab) -> tuple[list[Checks], int]:
    """Tests of one batch of each size, and how many messages were shuffled."""
    checks = []
    for size in _SIZES:
        numbers = np.arange(size, dtype="<u8")
        mixed = lab.device.shuffle(numbers.view(np.uint8).reshape(size, 8), lab.chance)
        places = np.ascontiguousarray(mixed).view("<u8").reshape(-1).astype(np.int64)
        lost = size - len(np.unique(places[places < size]))
        moves = _part(places, size) * _PARTS + _part(np.arange(len(places)), size)
        seen = np.bincount(moves, minlength=_PARTS**2)[: _PARTS**2].reshape(_PARTS, _PARTS)
        parts = np.bincount(_part(numbers.astype(np.int64), size), minlength=_PARTS)
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


def _part(places: Counts, size: int) -> Counts:
    return np.minimum(places * _PARTS // size, _PARTS - 1).astype(np.int64)
