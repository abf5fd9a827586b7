"""A source of words that repeats: for simulations and test vectors, out of reach of every role."""

import hashlib

from mixtally.primitives.chance import Chance, Keystream, SecureChance


class SeededChance(Keystream):
    """The keystream of a key derived from ``seed``: the same words every time. Not private."""

    def __init__(self, seed: int) -> None:
        super().__init__(hashlib.sha256(f"mixtally seed {seed}".encode()).digest())


def build_chance(seed: int | None) -> Chance:
    """The operating system's randomness, or a repeatable one for a seed."""
    return SecureChance() if seed is None else SeededChance(seed)
