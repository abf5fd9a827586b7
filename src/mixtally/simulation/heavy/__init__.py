"""The most frequent words of a crowd when nobody knows beforehand which words there are."""

from mixtally.simulation.heavy.design import Way, design
from mixtally.simulation.heavy.rounds import find_words
from mixtally.simulation.heavy.search import Search

__all__ = ["Search", "Way", "design", "find_words"]
