"""The most frequent words of a crowd when nobody knows beforehand which words there are."""

from mixtally.simulate.heavy.design import Design, Way, design
from mixtally.simulate.heavy.result import Found, HeavyResult, Round
from mixtally.simulate.heavy.rounds import find_words
from mixtally.simulate.heavy.search import Search

__all__ = ["Design", "Found", "HeavyResult", "Round", "Search", "Way", "design", "find_words"]
