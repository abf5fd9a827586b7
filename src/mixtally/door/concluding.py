"""``conclude``: what a batch of shuffled messages tells; no truth is known here."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mixtally.door import checks
from mixtally.door.agreed import agreed_of
from mixtally.door.batches import Batch
from mixtally.door.labels import labels_of
from mixtally.door.planning import Plan
from mixtally.door.result import Result
from mixtally.encode.hashed import sought
from mixtally.errors import MessageError
from mixtally.estimate import conclude as verbs
from mixtally.estimate.analysis import Analysis
from mixtally.records.received import PartReceived, Received
from mixtally.tally.fold import tally_messages
from mixtally.tally.sift import sift


@checks.in_python
def conclude(
    agreed: Plan | str | Path | bytes,
    batch: Batch,
    *,
    level: float = 0.95,
    candidates: Any = None,
) -> Result:
    """Counts with intervals, out of what a collector received.

    where
      agreed   the plan; or the contract, by its path or bytes
      batch    what ``mix`` gave
      level    of all intervals, in (0, 1)
      candidates   words that are looked for, where the question is open

    Raises MessageError for messages of another plan or contract, or numbers of them that do not add
    up, ParameterError for a level outside (0, 1).

    >>> mixtally.conclude("contract.json", batch)
    """
    analysis, under = Analysis(level=checks.number("level", level)), agreed_of(agreed)
    if candidates is not None:
        words = labels_of("candidates", candidates)
        analysis = replace(analysis, listed=sought(under.plan.question, words))
    _check(batch, under.fingerprint)
    parts, tallies = [], []
    for part, rows, declared in zip(under.plan.parts, batch.parts, batch.declared, strict=True):
        sifted = sift(part.layout, rows)
        parts.append(
            PartReceived(declared=declared, received=len(sifted.rows), dropped=sifted.dropped)
        )
        tallies.append(tally_messages(part.layout, sifted.rows))
    received = Received(contributors=batch.people, parts=tuple(parts))
    return Result(verbs.conclude(under.plan, tallies, analysis, received=received))


def _check(batch: Any, fingerprint: str) -> None:
    """Raises MessageError for anything but a batch under this plan or contract."""
    if not isinstance(batch, Batch):
        raise MessageError(
            "batch",
            wanted="what mixtally.mix gave",
            got=checks.shown(batch),
            do="mix what the devices sent",
        )
    if batch.agreed != fingerprint:
        raise MessageError(
            "batch",
            wanted=f"messages made under {fingerprint[:16]}",
            got=f"some made under {batch.agreed[:16]}",
            do="conclude with the plan or contract that people answered under",
        )
