"""A source of words that repeats: for simulations and test vectors, out of reach of every role."""

import hashlib

from mixtally.ground.chance import Keystream


class SeededChance(Keystream):
    """The keystream of a key derived from ``seed``: the same words every time. Not private."""

    def __init__(self, seed: int) -> None:
        super().__init__(hashlib.sha256(f"mixtally seed {seed}".encode()).digest())
