"""The most frequent words of a crowd when nobody knows beforehand which words there are."""

from mixtally.simulation.heavy.design import Design, Way, design
from mixtally.simulation.heavy.result import Found, HeavyResult, Round
from mixtally.simulation.heavy.rounds import find_words
from mixtally.simulation.heavy.search import Search

__all__ = ["Design", "Found", "HeavyResult", "Round", "Search", "Way", "design", "find_words"]
