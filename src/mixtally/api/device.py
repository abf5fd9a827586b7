"""``Device``: one person's messages under a plan, or a contract, once it has been checked."""

import math
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from mixtally.api import checks
from mixtally.api.contracts import contract_bytes
from mixtally.device.client import Limits, check_plan, messages, parse_contract
from mixtally.device.client.encode import Value
from mixtally.device.contract.fields import parse_json
from mixtally.device.contract.plan import ContractPlan as BarePlan
from mixtally.device.contract.plan import read_plan
from mixtally.errors import ParameterError
from mixtally.primitives.chance import SecureChance

if TYPE_CHECKING:
    from mixtally.api.planning import Plan

_ANY = Limits(epsilon=math.inf, delta=1.0, hops=1)
"""Whoever holds a plan made it, or saw it proved."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What one person sends: messages by part, in random order, under one plan or contract.

    where
      agreed   the fingerprint of the plan or contract that they were drawn for
      parts    the messages of each part: the own ones and the fakes
    """

    fingerprint: str
    parts: tuple[tuple[bytes, ...], ...]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(part)} of {len(part[0])} bytes" for part in self.parts)
        return f"messages made under {self.fingerprint[:16]}: {sizes}"


def _to_plain_value(subject: str, value: Any, *, several: bool = True) -> Any:
    """A value without NumPy's types; ParameterError for what no question has."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if several and isinstance(value, list | tuple | set | frozenset):
        return [
            _to_plain_value(f"{subject}[{i}]", one, several=False) for i, one in enumerate(value)
        ]
    if isinstance(value, int):
        return value if isinstance(value, bool) else checks.check_whole(subject, value)
    if value is None or isinstance(value, str | float):
        return value
    raise ParameterError(
        subject,
        expected="a label, a number, or a list of labels or bits",
        got=checks.describe_value(value),
        do="give what the question asks for",
    )


class Device:
    """One person's device, which takes part under a plan or contract that keeps to its limits.

    where
      agreed           a plan; or a contract, by its path or bytes
      epsilon, delta   the most that this person gives away under it; of strangers' contracts no
                       more than 1 and 1e-6 when left out
      local_epsilon    the most that may be left when all mixes collude; None for anything
      hops             the fewest mixes; of strangers' contracts 2 when left out

    It answers as often as the plan prices, and no more. What it counts dies with it: a device that
    is switched off keeps a diary instead (``mixtally client``).

    Raises RefusedError for a contract that is damaged or past a limit, with its reason.

    >>> device = mixtally.Device("contract.json")
    """

    @checks.translate_errors
    def __init__(
        self,
        plan_or_contract: "Plan | str | Path | bytes",
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        local_epsilon: float | None = None,
        hops: int | None = None,
    ) -> None:
        given: dict[str, Any] = {
            "epsilon": checks.check_optional_number("epsilon", epsilon),
            "delta": checks.check_optional_number("delta", delta),
            "local_epsilon": checks.check_optional_number("local epsilon", local_epsilon),
            "hops": checks.check_optional_whole("hops", hops),
        }
        told = {name: limit for name, limit in given.items() if limit is not None}
        self._agreed, plan, usual = _load_plan(plan_or_contract)
        self._plan = check_plan(plan, usual._replace(**told))
        self._chance, self._turn, self._answers = SecureChance(), threading.Lock(), 0
        self._owner = os.getpid()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the plan's file, or of the contract's text."""
        return self._agreed

    @property
    def promise(self) -> str:
        """What is promised to this person."""
        plan = self._plan
        times = f" over all of its {plan.collections:,} rounds" if plan.collections > 1 else ""
        return (
            f"epsilon = {plan.epsilon:g}, delta <= {plan.upper:.3g}{times}, against anyone who "
            f"sees all shuffled messages. Assumes: {plan.assumption.removeprefix('holds if ')}."
        )

    @checks.translate_errors
    def messages(self, value: Value) -> Sent:
        """What is sent for ``value``: a label, a number, a list of labels or bits.

        Raises RefusedError for a value that the question does not have, ParameterError when all
        collections have been answered, and in a forked process.

        >>> device.messages("yes")
        """
        collections = self._plan.collections
        with self._turn:
            if os.getpid() != self._owner:
                raise ParameterError(
                    "device", expected="the process that made it", got="a fork of it, which would "
                    "answer again", do="make a device for every person",
                )  # fmt: skip
            if self._answers >= collections:
                raise ParameterError(
                    "device",
                    expected=f"{collections:,} answers, for which its plan is priced",
                    got="one more",
                    do="plan for more collections",
                )
            sent = messages(self._plan, _to_plain_value("value", value), self._words)
            self._answers += 1
        return Sent(self.fingerprint, tuple(map(tuple, sent)))

    def _words(self, count: int) -> bytes:
        return self._chance.words(count).astype("<u8").tobytes()

    def __repr__(self) -> str:
        return f"{self.promise}\n{self._plan.question.name}, {self._agreed[:16]}"

    def __reduce__(self) -> NoReturn:
        raise ParameterError(
            "device",
            expected="one device a person",
            got="a copy or a pickle of it, which would answer again",
            do="make a device for every person",
        )


def _load_plan(agreed: object) -> tuple[str, BarePlan, Limits]:
    """The fingerprint, the plan as a device reads it, and the usual limits."""
    if isinstance(agreed, str | bytes | os.PathLike):
        contract = parse_contract(contract_bytes(agreed))
        return contract.fingerprint, contract.plan, Limits()
    from mixtally.api.verified_plan import load_verified_plan  # what made a plan is loaded already
    from mixtally.model.contract import write_plan

    found = load_verified_plan(agreed)
    return found.fingerprint, read_plan(parse_json(write_plan(found.plan))), _ANY
