"""``mix``: many people's messages shuffled, with what mixes add, as a collector receives them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mixtally.door import checks
from mixtally.door.contracts import contract_bytes
from mixtally.door.device import Sent
from mixtally.door.planning import Plan
from mixtally.errors import DataError, MessageError
from mixtally.ground.bits import Rows
from mixtally.ground.chance import SecureChance
from mixtally.mixing import added, shuffle
from mixtally.privacy.terms import verify
from mixtally.records.contract import Contract, Cover, Part, fingerprint_of, read_contract
from mixtally.records.layout import Layout


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Shuffled messages: their order says nothing about who sent which.

    where
      agreed     the fingerprint of the plan or contract that they were made under
      parts      the messages of each part, shape (messages, bytes)
      people     whose messages they are; None where that is not known
      declared   by part, how many messages each mix says it added; empty under a plan
    """

    agreed: str
    parts: tuple[Rows, ...]
    people: int | None = None
    declared: tuple[tuple[int | None, ...], ...] = ()

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(part):,}" for part in self.parts)
        return f"a shuffled batch of {sizes} messages under {self.agreed[:16]}"


@checks.in_python
def mix(messages: Any, agreed: Plan | str | Path | bytes) -> Batch:
    """The messages of a whole collection, shuffled, with the fakes that mixes add.

    where
      messages   what every device sent, a ``Sent`` each, under a contract; under a plan all
                 messages, fakes of people included, as bytes or rows of shape (messages, bytes)
      agreed     the contract, by its path or bytes; or the plan

    One process plays all mixes here: whoever runs it sees what goes in and what comes out.

    Raises MessageError for messages of another plan or contract, of the wrong length, too few or
    too many; DataError for fewer people than the contract's minimum crowd.

    >>> mixtally.mix([mixtally.Device("contract.json").messages("yes")], "contract.json")
    """
    if isinstance(agreed, Plan):
        return _under_plan(messages, agreed)
    data = contract_bytes(agreed)
    contract = read_contract(data, "contract")
    verify(contract.plan)
    return _under_contract(messages, contract, fingerprint_of(data))


def _under_plan(messages: Any, plan: Plan) -> Batch:
    (part, *others), chance = plan.record.parts, SecureChance()
    if others:
        raise MessageError(
            "messages",
            wanted="a plan whose records travel as one message",
            got=f"one with {1 + len(others)} messages a record",
            do="give what each device sent, under a contract of this plan",
        )
    rows = [rows_of(messages, part.layout)]
    least, most = plan.users * part.least, plan.users * part.most
    if not least <= len(rows[0]) <= most:
        raise MessageError(
            "messages",
            wanted=f"{least:,} to {most:,} of {plan.users:,} people, fakes included",
            got=f"{len(rows[0]):,}",
            do="give all that people sent, each message once",
        )
    rows += [added(part.recipe, part.layout, chance) for _ in range(plan.record.hops)]
    return Batch(plan.fingerprint, (shuffle(np.concatenate(rows), chance),), plan.users)


def _under_contract(messages: Any, contract: Contract, fingerprint: str) -> Batch:
    sent, plan, chance = _all_sent(messages, fingerprint), contract.plan, SecureChance()
    if len(sent) < plan.minimum_crowd:
        raise DataError(
            "messages",
            wanted=f"at least {plan.minimum_crowd:,} people, the contract's minimum crowd",
            got=f"{len(sent):,}",
            do="the round is destroyed: ask again, or make a contract for fewer people",
        )
    parts, declared = [], []
    for place, part in enumerate(plan.parts):
        people = [_of_person(one, place, part) for one in sent]
        rows = rows_of([message for several in people for message in several], part.layout)
        drawn = [added(part.recipe, part.layout, chance) for _ in range(plan.hops)]
        for fakes in drawn:
            rows = shuffle(np.concatenate([rows, fakes]), chance)
        parts.append(rows)
        mixed = plan.cover is Cover.MIXES
        declared.append(tuple(len(fakes) if mixed else None for fakes in drawn))
    return Batch(fingerprint, tuple(parts), len(sent), tuple(declared))


def _all_sent(messages: Any, fingerprint: str) -> list[Sent]:
    """What every person sent; MessageError for anything else, and for one device twice."""
    given = checks.listed("messages", messages) if isinstance(messages, Iterable) else [messages]
    seen: set[int] = set()
    for place, one in enumerate(given):
        if not isinstance(one, Sent):
            raise MessageError(
                f"messages[{place}]",
                wanted="what a mixtally.Device sends",
                got=checks.shown(one),
                do="call Device(contract).messages(value) for every person",
            )
        if one.contract != fingerprint or id(one) in seen:
            raise MessageError(
                f"messages[{place}]",
                wanted=f"messages for the contract {fingerprint[:16]}, each person's once",
                got="the same a second time"
                if id(one) in seen
                else f"some for {one.contract[:16]}",
                do="mix the messages of each contract by themselves",
            )
        seen.add(id(one))
    return given


def _of_person(one: Sent, place: int, part: Part) -> Sequence[bytes]:
    """A person's messages in one part; MessageError for too few or too many."""
    least, most = part.least, part.most
    several = one.parts[place] if place < len(one.parts) else ()
    if not least <= len(several) <= most:
        raise MessageError(
            f"part {place + 1} of a person",
            wanted=f"{least} to {most} messages, fakes included",
            got=f"{len(several)}",
            do="send all that Device.messages gave: without the fakes the promise is void",
        )
    return several


def rows_of(messages: Any, layout: Layout) -> Rows:
    """Messages as rows; MessageError for those of another length or form."""
    size = layout.message_bytes
    if isinstance(messages, np.ndarray) and messages.dtype == np.uint8:
        return layout.checked(messages)
    if isinstance(messages, str | bytes) or not isinstance(messages, Iterable):
        raise MessageError(
            "messages",
            wanted=f"many messages of {size} bytes",
            got=checks.shown(messages),
            do="give a list of bytes, or an array of shape (messages, bytes)",
        )
    several = checks.listed("messages", messages)
    for place, one in enumerate(several):
        if not isinstance(one, bytes) or len(one) != size:
            got = f"{len(one)} bytes" if isinstance(one, bytes) else checks.shown(one)
            raise MessageError(
                f"messages[{place}]",
                wanted=f"{size} bytes, as the layout has it",
                got=got,
                do="make it again under this plan",
            )
    return layout.checked(np.frombuffer(b"".join(several), dtype=np.uint8).reshape(-1, size))
