"""Counts of a contract's question, out of what came: no number of it was only promised."""

from collections.abc import Sequence

import numpy as np

from mixtally.errors import MessageError
from mixtally.estimate.conclude.counts import _side_by_side
from mixtally.estimate.conclude.numbers import numbers
from mixtally.estimate.debias import estimate_counts
from mixtally.estimate.noise import Noises
from mixtally.estimate.received import Arrived, reconciled
from mixtally.records.contract import Terms
from mixtally.records.received import Received
from mixtally.records.result import ContractResult
from mixtally.records.results import Estimate, Figures, Tally


def conclude_received(
    terms: Terms,
    received: Received,
    tallies: Sequence[Tally],
    *,
    level: float = 0.95,
    noises: Noises | None = None,
) -> ContractResult:
    """What the tallies of one round tell, one for each part of ``terms``, in their order.

    where
      received   what came, which the number of fakes follows from
      level      confidence level of all intervals, in (0, 1)
      noises     shared by many conclusions that are alike, which saves their time

    Parts stand side by side in the question's order, with intervals that hold for all bins of all
    parts at once; numbers that were cut into bins have their mean and quantiles. Raises
    MessageError for numbers that do not add up, ParameterError for a level that is none.
    """
    parts = reconciled(terms, received)
    _check_tallied(received, tallies)
    noises, own = noises or Noises(), terms.question
    found = [
        estimate_counts(
            part.mechanism, tally, part.people, level=level, together=own.bins, noises=noises
        )
        for part, tally in zip(parts, tallies, strict=True)
    ]
    every = _side_by_side(own, list(terms.questions), found)
    return ContractResult(
        terms=terms,
        received=received,
        question=own,
        certificate=terms.certificate,
        messages=sum(tally.messages for tally in tallies),
        estimate=every,
        figures=tuple(_figures(terms, parts[0], tallies[0], every)),
    )


def _check_tallied(received: Received, tallies: Sequence[Tally]) -> None:
    told = [part.received for part in received.parts]
    counted = [tally.messages for tally in tallies]
    if told != counted:
        raise MessageError(
            "tallies",
            wanted=f"{', '.join(f'{many:,}' for many in told)} messages, those that came",
            got=", ".join(f"{many:,}" for many in counted),
            do="tally every part of this round, each once",
        )


def _figures(terms: Terms, part: Arrived, tally: Tally, found: Estimate) -> list[Figures]:
    """Of numbers, which travel as one message."""
    if terms.edges is None:
        return []
    edges = np.array(terms.edges)
    return [numbers(terms.question, part.mechanism, tally.messages, found, edges, part.people)]
