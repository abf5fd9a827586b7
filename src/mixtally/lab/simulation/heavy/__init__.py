"""The most frequent words of a crowd when nobody knows beforehand which words there are."""

from mixtally.lab.simulation.heavy.design import Participation, design_search
from mixtally.lab.simulation.heavy.rounds import find_words
from mixtally.lab.simulation.heavy.search import Search

__all__ = ["Participation", "Search", "design_search", "find_words"]
