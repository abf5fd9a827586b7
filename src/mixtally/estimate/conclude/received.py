"""Counts of a contract's question, out of what came: no number of it was only promised."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixtally.errors import MessageError
from mixtally.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.estimate.conclude.counts import side_by_side
from mixtally.estimate.conclude.numbers import numbers
from mixtally.estimate.conclude.pairs import pairs_and_tables
from mixtally.estimate.covering import as_came, covering
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
    analysis: Analysis = COUNTS_ALONE,
    *,
    noises: Noises | None = None,
) -> ContractResult:
    """What the tallies of one round tell, one for each part of ``terms``, in their order.

    where
      received   what came, which the number of fakes follows from
      analysis   what is wanted besides counts; where numbers were cut the terms themselves say
      noises     shared by many conclusions that are alike, which saves their time

    Parts stand side by side in the question's order, with intervals that hold for all bins of all
    parts at once; numbers that were cut into bins have their mean and quantiles. Raises
    MessageError for numbers that do not add up, ParameterError for a projection of counts that have
    no known sum.
    """
    parts = reconciled(terms, received)
    _check_tallied(received, tallies)
    noises, own = noises or Noises(), terms.question
    found = [
        estimate_counts(
            part.mechanism,
            tally,
            part.people,
            level=analysis.level,
            together=own.bins,
            noises=noises,
        )
        for part, tally in zip(parts, tallies, strict=True)
    ]
    every = side_by_side(own, list(terms.questions), found)
    return ContractResult(
        terms=terms,
        received=received,
        question=own,
        certificate=as_came(terms.certificate, terms.hops, covering(terms, received)),
        messages=sum(tally.messages for tally in tallies),
        estimate=replace(
            every, projected=analysis.projected(own, every.counts, min(one.people for one in parts))
        ),
        figures=tuple(_figures(terms, parts, tallies, every)),
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


def _figures(
    terms: Terms, parts: Sequence[Arrived], tallies: Sequence[Tally], found: Estimate
) -> list[Figures]:
    """Of pairs of bits, and of numbers, which travel as one message."""
    own, figures = terms.question, list[Figures]()
    for part, tally in zip(parts, tallies, strict=True):
        if tally.pairs is not None:
            figures += pairs_and_tables(own, part.mechanism, tally, found.each.level)
    if terms.edges is not None:
        edges, part, messages = np.array(terms.edges), parts[0], tallies[0].messages
        figures.append(numbers(own, part.mechanism, messages, found, edges, part.people))
    return figures
