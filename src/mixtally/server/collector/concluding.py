"""Estimates of a round from its stored tally and the manifests of all hops.

The collector's server and its commands use it. A tally can be analyzed any number of times, at no
further cost in privacy.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from mixtally.device.wire.manifest import Manifest
from mixtally.device.wire.sheet import Sheet
from mixtally.errors import MessageError, ParameterError
from mixtally.model.received import Received
from mixtally.model.result import Result
from mixtally.protocol.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.protocol.estimate.conclude import conclude
from mixtally.server.collector.contracts import SignedContract
from mixtally.server.collector.prefixes import name_prefix_bins
from mixtally.server.collector.reconcile import reconcile_numbers
from mixtally.server.collector.stored import StoredTally

OPEN_QUESTION_REFUSAL = (
    "the question is open: words are counted when they are listed, at no further cost"
)
"""The reason why a round with an open domain has no estimates: words to look for are missing."""


class Conclusion(NamedTuple):
    """The outcome of a round: estimates, or the reason why none are released."""

    received: Received | None
    """Numbers of messages received; None if the numbers of the hops are inconsistent."""
    result: Result | None
    """The estimates; None if nothing is released."""
    refusal: str | None
    """Reason why nothing is released; None if there are estimates."""


class CountedRound(NamedTuple):
    """The data from which a conclusion is computed."""

    agreed: SignedContract
    sheet: Sheet
    digest: str
    """SHA-256 of the sheet."""
    manifests: Sequence[tuple[str, Manifest]]
    """Manifests of all hops in order, each with its SHA-256."""
    stored_tally: StoredTally


def conclude_round(counted: CountedRound, analysis: Analysis = COUNTS_ALONE) -> Conclusion:
    """Check the numbers of a round, and compute the estimates that may be released.

    Raises ParameterError if the analysis needs data that the tally does not contain.
    """
    plan, received = counted.agreed.contract.plan, None
    tallies = [part.tally for part in counted.stored_tally.parts]
    if analysis.pairs and any(tally.pairs is None for tally in tallies):
        raise ParameterError(
            "pairs",
            expected="records of several bits that travel whole",
            got="a tally that holds single bins",
            do="leave --pairs out: the messages were destroyed",
        )
    analysis.check_sums(plan.question)
    unlisted = plan.question.hashed is not None and analysis.listed is None
    if not analysis.pairs:
        # Counts of pairs are stored for later analyses. They are ignored unless they are requested.
        tallies = [replace(tally, pairs=None) for tally in tallies]
    try:
        received = reconcile_numbers(
            counted.agreed, counted.digest, counted.manifests, counted.stored_tally
        )
        if unlisted:
            return Conclusion(received, None, OPEN_QUESTION_REFUSAL)
        result = conclude(plan, tallies, analysis, received=received)
    except MessageError as error:
        return Conclusion(received, None, str(error))
    if plan.prefixes is not None:
        asked = name_prefix_bins(plan, counted.sheet.prefixes)
        result = replace(result, question=asked)
    return Conclusion(received, result, None)
