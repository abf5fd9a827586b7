"""``conclude``: what a batch of shuffled messages, or its tally, tells; no truth is known here."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mixtally.door import checks
from mixtally.door.batches import Batch, rows_of
from mixtally.door.contracts import contract_bytes
from mixtally.door.planning import Plan
from mixtally.door.result import Result
from mixtally.errors import MessageError, ParameterError
from mixtally.estimate import conclude as verbs
from mixtally.estimate.analysis import Analysis
from mixtally.privacy.terms import verify
from mixtally.records.contract import Contract, fingerprint_of, read_contract
from mixtally.records.received import PartReceived, Received
from mixtally.records.results import Tally
from mixtally.tally.fold import tally_messages
from mixtally.tally.sift import sift


@checks.in_python
def conclude(
    agreed: Plan | str | Path | bytes,
    batch: Any,
    *,
    level: float = 0.95,
    edges: Sequence[float] | None = None,
) -> Result:
    """Counts with intervals, out of what a collector received.

    where
      agreed   the plan; or the contract, by its path or bytes
      batch    what ``mix`` gave; under a plan also messages, or a tally of them for every message
               of a record, in their order
      level    of all intervals, in (0, 1)
      edges    where numbers were cut into bins, bins + 1 of them, for their mean and quantiles;
               a contract has its own

    Raises MessageError for messages of another plan or contract, of the wrong length, too few or
    too many, ParameterError for a level outside (0, 1) or edges that do not fit.

    >>> mixtally.conclude("contract.json", batch)
    """
    confidence = checks.number("level", level)
    if isinstance(agreed, Plan):
        analysis = Analysis(level=confidence, edges=_edges(edges, agreed.question.bins))
        return _under_plan(agreed, batch, analysis)
    data = contract_bytes(agreed)
    contract = read_contract(data, "contract")
    if edges is not None:
        raise ParameterError(
            "edges", wanted="a contract alone", got="edges beside it", do="it has its own"
        )
    verify(contract.plan)
    return _under_contract(contract, fingerprint_of(data), batch, Analysis(level=confidence))


def _under_plan(plan: Plan, batch: Any, analysis: Analysis) -> Result:
    tallies = _tallies(plan, batch)
    return Result(verbs.conclude(plan.record, tallies, analysis))


def _tallies(plan: Plan, batch: Any) -> list[Tally]:
    """A tally for every message of a record; MessageError for anything else."""
    layouts = [part.layout for part in plan.record.parts]
    if isinstance(batch, Batch):
        _check_agreed(batch, plan.fingerprint)
        pairs = zip(layouts, batch.parts, strict=True)
        return [tally_messages(layout, rows) for layout, rows in pairs]
    if isinstance(batch, Tally):
        batch = [batch]
    if isinstance(batch, list | tuple) and batch and all(isinstance(t, Tally) for t in batch):
        for tally, layout in zip(batch, layouts, strict=False):
            _check_tally(tally, layout.bins)
        return list(batch)
    return [tally_messages(layouts[0], rows_of(batch, layouts[0]))]


def _check_tally(tally: Tally, bins: int) -> None:
    counts = np.asarray(tally.counts)
    whole = counts.shape == (bins,) and counts.dtype.kind in "iu"
    if not whole or counts.min() < 0 or counts.max() > tally.messages:
        raise MessageError(
            "tally",
            wanted=f"{bins:,} whole counts, each from 0 to the {tally.messages:,} messages",
            got=f"{counts.dtype} of shape {counts.shape}",
            do="tally the messages of this plan, each once",
        )


def _under_contract(contract: Contract, fingerprint: str, batch: Any, analysis: Analysis) -> Result:
    if not isinstance(batch, Batch) or batch.people is None:
        raise MessageError(
            "batch",
            wanted="what mixtally.mix gave for this contract",
            got=checks.shown(batch),
            do="mix what the devices sent",
        )
    _check_agreed(batch, fingerprint)
    plan, parts, tallies = contract.plan, [], []
    for part, rows, declared in zip(plan.parts, batch.parts, batch.declared, strict=True):
        sifted = sift(part.layout, rows)
        parts.append(
            PartReceived(declared=declared, received=len(sifted.rows), dropped=sifted.dropped)
        )
        tallies.append(tally_messages(part.layout, sifted.rows))
    received = Received(contributors=batch.people, parts=tuple(parts))
    return Result(verbs.conclude(plan, tallies, analysis, received=received))


def _check_agreed(batch: Batch, fingerprint: str) -> None:
    if batch.agreed != fingerprint:
        raise MessageError(
            "batch",
            wanted=f"messages made under {fingerprint[:16]}",
            got=f"some made under {batch.agreed[:16]}",
            do="conclude with the plan or contract that people answered under",
        )


def _edges(edges: Sequence[float] | None, bins: int) -> Any:
    if edges is None:
        return None
    if isinstance(edges, str | bytes) or not hasattr(edges, "__len__"):
        raise ParameterError(
            "edges", wanted="a list of numbers", got=checks.shown(edges), do="list the cuts"
        )
    cuts = np.array([checks.number("edges", one) for one in checks.listed("edges", edges)])
    if len(cuts) != bins + 1 or not np.all(np.diff(cuts) > 0.0):
        raise ParameterError(
            "edges",
            wanted=f"{bins + 1:,} rising numbers, the ends of {bins:,} bins",
            got=f"{len(cuts):,}" + ", not rising" * (not np.all(np.diff(cuts) > 0.0)),
            do="give those by which the values were cut",
        )
    return cuts
