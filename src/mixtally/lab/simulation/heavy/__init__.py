"""Heavy hitters: the most frequent words of a crowd, without a list of possible words."""

from mixtally.lab.simulation.heavy.design import Participation, design_search
from mixtally.lab.simulation.heavy.rounds import find_words
from mixtally.lab.simulation.heavy.search import Search

__all__ = ["Participation", "Search", "design_search", "find_words"]
