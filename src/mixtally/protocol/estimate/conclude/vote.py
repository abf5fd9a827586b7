"""Votes out of a tally of ballots, and who may have won."""

from mixtally.model.certificate import Certificate
from mixtally.model.mechanism import Shuffled
from mixtally.model.result import Vote
from mixtally.model.results import Tally
from mixtally.protocol.estimate.debias import estimate_counts
from mixtally.protocol.estimate.winner import may_have_won, winner_chances

EXACT_ONES = 50_000.0
"""Ballots are few bins, so that exact intervals are affordable up to this many flipped ones."""


def conclude_vote(
    mechanism: Shuffled,
    certificate: Certificate,
    tally: Tally,
    users: int,
    level: float = 0.95,
    blank: int | None = None,
) -> Vote:
    """The votes of ``users`` people whose ballots were sent by ``mechanism``.

    ``blank`` is the option of blank ballots, which are counted and elect nobody.

    Raises ParameterError for a level outside (0, 1), MessageError for ballots missing or too many
    and for a tally that no votes explain.
    """
    estimate = estimate_counts(mechanism, tally, users, level=level, exact_ones=EXACT_ONES)
    return Vote(
        certificate=certificate,
        messages=tally.messages,
        estimate=estimate,
        chances=winner_chances(mechanism, tally, users, blank),
        may_win=may_have_won(estimate, blank),
        blank=blank,
    )
