"""Plans for a cascade of mixes run by different people: who brings the cover, at what price."""

from mixtally.planner.cascade.choose import cascade
from mixtally.planner.cascade.option import CascadeChoice, CascadeOption
from mixtally.planner.cascade.request import CascadeRequest

__all__ = ["CascadeChoice", "CascadeOption", "CascadeRequest", "cascade"]
