"""The collector, which proposes rounds, receives each batch once, counts, estimates and publishes.

The collector is the observer in the privacy guarantee. The privacy cost of a batch is recorded
before the first *piece* (file of messages) of the batch is accepted, and does not depend on what is
published later. Computing more from a stored tally costs no further privacy. The command ``mixtally
collector`` uses the names imported here.
"""

from mixtally.server.collector.codes import make_codes
from mixtally.server.collector.collector import Collector
from mixtally.server.collector.contracts import (
    SignedContract,
    load_signed_contract,
    parse_signed_contract,
)
from mixtally.server.collector.core import CollectorState
from mixtally.server.collector.exporting import export_round
from mixtally.server.collector.proposing import Proposal, propose, withdraw
from mixtally.server.collector.reanalysis import (
    build_page,
    conclude_again,
    find_prefixes,
    show_round,
)
from mixtally.server.collector.serve import Automation, serve
from mixtally.server.collector.signing import sign, verify_contract

__all__ = [
    "Automation",
    "Collector",
    "CollectorState",
    "Proposal",
    "SignedContract",
    "build_page",
    "conclude_again",
    "export_round",
    "find_prefixes",
    "load_signed_contract",
    "make_codes",
    "parse_signed_contract",
    "propose",
    "serve",
    "show_round",
    "sign",
    "verify_contract",
    "withdraw",
]
