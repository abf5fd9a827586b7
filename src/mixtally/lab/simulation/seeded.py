"""A repeatable source of random words, for simulations and test vectors.

No role of a real round can import it; import contracts in ``pyproject.toml`` enforce this.
"""

import hashlib

from mixtally.primitives.chance import Chance, Keystream, SecureChance


class SeededChance(Keystream):
    """A source whose words are the keystream of a key derived from ``seed``.

    A seed always gives the same words, so these words keep nothing private.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(hashlib.sha256(f"mixtally seed {seed}".encode()).digest())


def build_chance(seed: int | None) -> Chance:
    """Return the operating system's randomness, or a repeatable source for a seed."""
    return SecureChance() if seed is None else SeededChance(seed)
