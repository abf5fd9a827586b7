"""The collector as a process: proposes rounds, takes each batch once, counts, concludes, publishes.

It is the observer of the promise: what it received is spent, whatever it publishes. A batch is
charged before any piece of it may come; whatever is computed of a tally afterwards is free.
"""

from mixtally.collector.agreed import Agreed, agreed_of, read_agreed
from mixtally.collector.collector import Collector
from mixtally.collector.core import State
from mixtally.collector.proposing import Proposal, propose, withdraw
from mixtally.collector.published import concluded_again, found_prefixes, published, whole_page
from mixtally.collector.serve import serve
from mixtally.collector.signing import checked, sign

__all__ = [
    "Agreed",
    "Collector",
    "Proposal",
    "State",
    "agreed_of",
    "checked",
    "concluded_again",
    "found_prefixes",
    "propose",
    "published",
    "read_agreed",
    "serve",
    "sign",
    "whole_page",
    "withdraw",
]
