"""From a stored tally and all manifests to estimates, or to why there are none.

Nothing here is spent: the same tally may be looked at in another way as often as one likes.
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


class Conclusion(NamedTuple):
    """What came of a round.

    where
      received   what came; None where the numbers of the hops do not belong together
      result     the estimates; None where nothing is released
      refusal    why nothing is; None where something is
    """

    received: Received | None
    result: Result | None
    refusal: str | None


class CountedRound(NamedTuple):
    """All that a conclusion follows from.

    where
      digest      SHA-256 of the sheet
      manifests   of all hops in order, each with its SHA-256
    """

    agreed: SignedContract
    sheet: Sheet
    digest: str
    manifests: Sequence[tuple[str, Manifest]]
    stored_tally: StoredTally


def conclude_round(given: CountedRound, analysis: Analysis = COUNTS_ALONE) -> Conclusion:
    """What is released of a round.

    Raises ParameterError for an analysis that its tally does not hold.
    """
    plan, came = given.agreed.contract.plan, None
    tallies = [part.tally for part in given.stored_tally.parts]
    if analysis.pairs and any(tally.pairs is None for tally in tallies):
        raise ParameterError(
            "pairs",
            expected="records of several bits that travel whole",
            got="a tally that holds single bins",
            do="leave --pairs out: the messages are gone",
        )
    analysis.check_sums(plan.question)
    unlisted = plan.question.hashed is not None and analysis.listed is None
    if not analysis.pairs:
        tallies = [replace(tally, pairs=None) for tally in tallies]
    try:
        came = reconcile_numbers(given.agreed, given.digest, given.manifests, given.stored_tally)
        if unlisted:
            return Conclusion(came, None, OPEN_QUESTION_REFUSAL)
        result = conclude(plan, tallies, analysis, received=came)
    except MessageError as error:
        return Conclusion(came, None, str(error))
    if plan.prefixes is not None:
        asked = name_prefix_bins(plan, given.sheet.prefixes)
        result = replace(result, question=asked)
    return Conclusion(came, result, None)
