"""``Device``: one person's messages from a contract, once it has been checked."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from mixtally.client import Limits, checked, messages, read
from mixtally.client.encode import Value
from mixtally.door import checks
from mixtally.door.contracts import contract_bytes
from mixtally.errors import ParameterError
from mixtally.ground.chance import SecureChance


@dataclass(frozen=True, slots=True)
class Sent:
    """What one person sends: messages by part, in random order, for one contract.

    where
      contract   the fingerprint of the contract that they were drawn for
      parts      the messages of each part: the own one and the fakes
    """

    contract: str
    parts: tuple[tuple[bytes, ...], ...]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(part)} of {len(part[0])} bytes" for part in self.parts)
        return f"messages for the contract {self.contract[:16]}: {sizes}"


def _plain(subject: str, value: Any, *, several: bool = True) -> Any:
    """A value without NumPy's types; ParameterError for what no question has."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if several and isinstance(value, list | tuple | set | frozenset):
        return [_plain(f"{subject}[{i}]", one, several=False) for i, one in enumerate(value)]
    if isinstance(value, int):
        return value if isinstance(value, bool) else checks.whole(subject, value)
    if value is None or isinstance(value, str | float):
        return value
    raise ParameterError(
        subject,
        wanted="a label, a number, or a list of labels or bits",
        got=checks.shown(value),
        do="give what the question asks for",
    )


class Device:
    """One person's device, which takes part in a contract that keeps to its limits.

    where
      contract         the path or the bytes of a contract
      epsilon, delta   the most that this person gives away under one contract
      local_epsilon    the most that may be left when all mixes collude; None for anything
      hops             the fewest mixes

    It answers as often as the contract prices, and no more. What it counts dies with it: a device
    that is switched off keeps a diary instead (``mixtally client``).

    Raises RefusedError for a contract that is damaged or past a limit, with its reason.

    >>> device = mixtally.Device("contract.json")
    """

    @checks.in_python
    def __init__(
        self,
        contract: str | Path | bytes,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        local_epsilon: float | None = None,
        hops: int = 2,
    ) -> None:
        limits = Limits(
            epsilon=checks.number("epsilon", epsilon),
            delta=checks.number("delta", delta),
            local_epsilon=checks.maybe_number("local epsilon", local_epsilon),
            hops=checks.whole("hops", hops),
        )
        self._contract = checked(read(contract_bytes(contract)), limits)
        self._chance, self._turn, self._answers = SecureChance(), threading.Lock(), 0
        self._owner = os.getpid()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the contract's text."""
        return self._contract.fingerprint

    @property
    def promise(self) -> str:
        """What the contract promises this person."""
        plan = self._contract.plan
        times = f" over all of its {plan.collections:,} rounds" if plan.collections > 1 else ""
        return (
            f"epsilon = {plan.epsilon:g}, delta <= {plan.upper:.3g}{times}, against anyone who "
            f"sees all shuffled messages. Assumes: {plan.assumption.removeprefix('holds if ')}."
        )

    @checks.in_python
    def messages(self, value: Value) -> Sent:
        """What is sent for ``value``: a label, a number, a list of labels or bits.

        Raises RefusedError for a value that the question does not have, ParameterError when the
        contract's rounds have all been answered, and in a forked process.

        >>> device.messages("yes")
        """
        collections = self._contract.plan.collections
        with self._turn:
            if os.getpid() != self._owner:
                raise ParameterError(
                    "device", wanted="the process that made it", got="a fork of it, which would "
                    "answer again", do="make a device for every person",
                )  # fmt: skip
            if self._answers >= collections:
                raise ParameterError(
                    "device",
                    wanted=f"{collections:,} answers under this contract, for which it is priced",
                    got="one more",
                    do="make a contract for more collections",
                )
            sent = messages(self._contract, _plain("value", value), self._words)
            self._answers += 1
        return Sent(self.fingerprint, tuple(map(tuple, sent)))

    def _words(self, count: int) -> bytes:
        return self._chance.words(count).astype("<u8").tobytes()

    def __repr__(self) -> str:
        asked = self._contract.plan.question.name
        return f"{self.promise}\ncontract {self._contract.name}: {asked}"

    def __reduce__(self) -> NoReturn:
        raise ParameterError(
            "device",
            wanted="one device a person",
            got="a copy or a pickle of it, which would answer again",
            do="make a device for every person",
        )
