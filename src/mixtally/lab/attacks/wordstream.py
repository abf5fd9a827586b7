"""The words that all noise is made of: none comes twice, from one source or from two."""

import numpy as np

from mixtally.lab.attacks.audit import Checks
from mixtally.primitives.chance import Chance, SecureChance
from mixtally.primitives.fixed import SCALE

_MANY, _TIMES = 1 << 16, 300


def word_checks(chance: Chance) -> list[Checks]:
    """Words in large and small draws, from ``chance`` and from two fresh secure sources.

    Of n words one that came before has a chance below n / 2^64 each.
    """
    drawn = []
    for source in (chance, SecureChance(), SecureChance()):
        drawn.append(source.words(_MANY).copy())
        drawn += [source.words(1 + i % 3).copy() for i in range(_TIMES)]
    words = np.concatenate(drawn)
    again = len(words) - len(np.unique(words))
    return [Checks.of("word that came before", again, len(words), len(words) / SCALE)]
