"""The collector as a process: proposes rounds, takes each batch once, counts, concludes, publishes.

It is the observer of the promise: what it received is spent, whatever it publishes. A batch is
charged before any piece of it may come; whatever is computed of a tally afterwards is free.
"""

from mixtally.server.collector.collector import Collector
from mixtally.server.collector.contracts import (
    SignedContract,
    load_signed_contract,
    parse_signed_contract,
)
from mixtally.server.collector.core import CollectorState
from mixtally.server.collector.proposing import Proposal, propose, withdraw
from mixtally.server.collector.reanalysis import (
    build_page,
    conclude_again,
    find_prefixes,
    show_round,
)
from mixtally.server.collector.serve import serve
from mixtally.server.collector.signing import sign, verify_contract

__all__ = [
    "Collector",
    "CollectorState",
    "Proposal",
    "SignedContract",
    "build_page",
    "conclude_again",
    "find_prefixes",
    "load_signed_contract",
    "parse_signed_contract",
    "propose",
    "serve",
    "show_round",
    "sign",
    "verify_contract",
    "withdraw",
]
