"""The most frequent words of a crowd when nobody knows beforehand which words there are."""

from mixtally.lab.heavy.design import Design, Way, design
from mixtally.lab.heavy.result import Found, HeavyResult, Round
from mixtally.lab.heavy.rounds import find_words
from mixtally.lab.heavy.search import Search

__all__ = ["Design", "Found", "HeavyResult", "Round", "Search", "Way", "design", "find_words"]
