"""The collector as a process: proposes rounds, takes each batch once, counts, concludes, publishes.

It is the observer of the promise: what it received is spent, whatever it publishes. A batch is
charged before any piece of it may come; whatever is computed of a tally afterwards is free.
"""

from mixtally.server.collector.agreed import Agreed, agreed_of, read_agreed
from mixtally.server.collector.collector import Collector
from mixtally.server.collector.core import State
from mixtally.server.collector.proposing import Proposal, propose, withdraw
from mixtally.server.collector.published import (
    concluded_again,
    found_prefixes,
    published,
    whole_page,
)
from mixtally.server.collector.serve import serve
from mixtally.server.collector.signing import checked, sign

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
