"""A source of chosen words, so that a test knows what is drawn."""

import numpy as np


class Scripted:
    """A source that returns chosen words and refuses to give more than it has."""

    def __init__(self, *words):
        self.left = list(words)

    def words(self, count):
        assert count <= len(self.left), "more words were drawn than the script holds"
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype=np.uint64)
