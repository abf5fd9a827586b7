"""Mixing in one process: shuffled messages, with the fakes that mixes add."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mixtally.api import checks
from mixtally.api.device import Sent
from mixtally.api.planning import Plan, load_verified_plan
from mixtally.errors import DataError, MessageError, pluralize
from mixtally.model.contract import Part
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import SecureChance
from mixtally.protocol.mixing import draw_recipe_messages, shuffle


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The shuffled messages of a collection. Their order does not depend on their senders.

    Parameters
    ----------
    fingerprint : str
        The fingerprint of the plan or contract under which the messages were made.
    parts : tuple of ndarray
        The messages of each part of the plan, with shape (messages, bytes).
    people : int
        The number of people who sent messages.
    declared : tuple of tuple
        For each part, a tuple with one entry per mix: the number of fakes (dummy messages) that the
        mix states to have added, or None if it added none.

    Examples
    --------
    >>> import mixtally
    >>> plan = mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=100)
    >>> sent = [mixtally.Device(plan).messages("yes") for _ in range(100)]
    >>> batch = mixtally.mix(sent, plan)
    >>> batch.people
    100
    >>> len(batch.parts)
    1
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
    """Shuffle the messages of a whole collection and add the fakes that its mixes draw.

    All mixes run in this process, so the operator of the process can link messages to senders.

    Parameters
    ----------
    messages : iterable of Sent
        The messages of every person, as ``Device.messages`` returns them.
    plan_or_contract : Plan, str, Path or bytes
        The plan, or the contract as a path or as bytes.

    Returns
    -------
    Batch
        The shuffled messages of each part.

    Raises
    ------
    DataError
        If there are fewer people than the minimum crowd of the plan.
    MessageError
        If a message has the wrong length or was made under another plan or contract, or if a
        person's messages are too few, too many, or given twice.

    Examples
    --------
    >>> import mixtally
    >>> plan = mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=100)
    >>> sent = [mixtally.Device(plan).messages("yes") for _ in range(100)]
    >>> mixtally.mix(sent, plan).people
    100
    """
    under, chance = load_verified_plan(plan_or_contract), SecureChance()
    plan, sent = under.plan, _check_sent(messages, under.fingerprint)
    if len(sent) < plan.minimum_crowd:
        least = pluralize(plan.minimum_crowd, "person", "people")
        raise DataError(
            "messages",
            expected=f"at least {least}, the minimum crowd",
            got=f"{len(sent):,}",
            do="discard this round, and ask again or plan for fewer people",
        )
    parts, declared = [], []
    for place, part in enumerate(plan.parts):
        people = [_person_messages(one, place, part) for one in sent]
        rows = part.layout.parse_messages([message for several in people for message in several])
        drawn = [draw_recipe_messages(part.recipe, part.layout, chance) for _ in range(plan.hops)]
        # Each mix adds its fakes before it shuffles, so that their positions reveal nothing.
        for fakes in drawn:
            rows = shuffle(np.concatenate([rows, fakes]), chance)
        parts.append(rows)
        declared.append(tuple(len(fakes) or None for fakes in drawn))
    return Batch(under.fingerprint, tuple(parts), len(sent), tuple(declared))


def _check_sent(messages: Any, fingerprint: str) -> list[Sent]:
    """Return the messages of each person as a list.

    Raises MessageError for an object that is not a ``Sent``, that was made under another plan or
    contract, or that occurs twice.
    """
    given = checks.read_list("messages", messages) if isinstance(messages, Iterable) else [messages]
    seen: set[int] = set()  # identities, because two people may send equal messages
    for place, one in enumerate(given):
        if not isinstance(one, Sent):
            raise MessageError(
                f"messages[{place}]",
                expected="the messages of a mixtally.Device",
                got=checks.describe_value(one),
                do="call Device(plan_or_contract).messages(value) for every person",
            )
        if one.fingerprint != fingerprint or id(one) in seen:
            raise MessageError(
                f"messages[{place}]",
                expected=f"messages made under {fingerprint[:16]}, once per person",
                got="the same messages a second time"
                if id(one) in seen
                else f"messages made under {one.fingerprint[:16]}",
                do="mix the messages of each plan or contract separately",
            )
        seen.add(id(one))
    return given


def _person_messages(one: Sent, place: int, part: Part) -> Sequence[bytes]:
    """Return a person's messages in part number ``place``, counted from 0.

    Raises MessageError if there are too few or too many messages.
    """
    least, most = part.least, part.most
    several = one.parts[place] if place < len(one.parts) else ()
    if not least <= len(several) <= most:
        raise MessageError(
            f"part {place + 1} of a person",
            expected=f"{least} to {most} messages, fakes included",
            got=f"{len(several)}",
            do="send all messages from Device.messages: the guarantee needs the fakes",
        )
    return several
