"""``mix``: many people's messages shuffled, with what mixes add, as a collector receives them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mixtally.api import checks
from mixtally.api.device import Sent
from mixtally.api.planning import Plan
from mixtally.api.verified_plan import load_verified_plan
from mixtally.errors import DataError, MessageError
from mixtally.model.contract import Part
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import SecureChance
from mixtally.protocol.mixing import draw_recipe_messages, shuffle


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Shuffled messages: their order says nothing about who sent which.

    where
      agreed     the fingerprint of the plan or contract that they were made under
      parts      the messages of each part, shape (messages, bytes)
      people     whose messages they are
      declared   by part, how many messages each mix says it added; None where it draws none
    """

    fingerprint: str
    parts: tuple[Rows, ...]
    people: int
    declared: tuple[tuple[int | None, ...], ...]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(part):,}" for part in self.parts)
        return f"a shuffled batch of {sizes} messages under {self.fingerprint[:16]}"


@checks.translate_errors
def mix(messages: Any, plan_or_contract: Plan | str | Path | bytes) -> Batch:
    """The messages of a whole collection, shuffled, with the fakes that mixes add.

    where
      messages   what every device sent: a ``Sent`` each
      agreed     the plan; or the contract, by its path or bytes

    One process plays all mixes here: anyone who runs it sees what goes in and what comes out.

    Raises MessageError for messages of another plan or contract, of the wrong length, too few or
    too many; DataError for fewer people than the plan's minimum crowd.

    >>> mixtally.mix([mixtally.Device("contract.json").messages("yes")], "contract.json")
    """
    under, chance = load_verified_plan(plan_or_contract), SecureChance()
    plan, sent = under.plan, _check_sent(messages, under.fingerprint)
    if len(sent) < plan.minimum_crowd:
        raise DataError(
            "messages",
            expected=f"at least {plan.minimum_crowd:,} people, the minimum crowd",
            got=f"{len(sent):,}",
            do="such a round is destroyed: ask again, or plan for fewer people",
        )
    parts, declared = [], []
    for place, part in enumerate(plan.parts):
        people = [_person_messages(one, place, part) for one in sent]
        rows = part.layout.parse_messages([message for several in people for message in several])
        drawn = [draw_recipe_messages(part.recipe, part.layout, chance) for _ in range(plan.hops)]
        for fakes in drawn:
            rows = shuffle(np.concatenate([rows, fakes]), chance)
        parts.append(rows)
        declared.append(tuple(len(fakes) or None for fakes in drawn))
    return Batch(under.fingerprint, tuple(parts), len(sent), tuple(declared))


def _check_sent(messages: Any, fingerprint: str) -> list[Sent]:
    """What every person sent; MessageError for anything else, and for one device twice."""
    given = checks.read_list("messages", messages) if isinstance(messages, Iterable) else [messages]
    seen: set[int] = set()
    for place, one in enumerate(given):
        if not isinstance(one, Sent):
            raise MessageError(
                f"messages[{place}]",
                expected="what a mixtally.Device sends",
                got=checks.describe_value(one),
                do="call Device(agreed).messages(value) for every person",
            )
        if one.fingerprint != fingerprint or id(one) in seen:
            raise MessageError(
                f"messages[{place}]",
                expected=f"messages made under {fingerprint[:16]}, each person's once",
                got="the same a second time"
                if id(one) in seen
                else f"some made under {one.fingerprint[:16]}",
                do="mix the messages of each plan or contract by themselves",
            )
        seen.add(id(one))
    return given


def _person_messages(one: Sent, place: int, part: Part) -> Sequence[bytes]:
    """A person's messages in one part; MessageError for too few or too many."""
    least, most = part.least, part.most
    several = one.parts[place] if place < len(one.parts) else ()
    if not least <= len(several) <= most:
        raise MessageError(
            f"part {place + 1} of a person",
            expected=f"{least} to {most} messages, fakes included",
            got=f"{len(several)}",
            do="send all that Device.messages gave: without the fakes the promise is void",
        )
    return several
