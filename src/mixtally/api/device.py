"""The device of one person, which checks a plan or contract and then draws messages."""

import math
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from mixtally.api import checks
from mixtally.api.files import contract_bytes
from mixtally.device.client import Limits, check_plan, messages, parse_contract
from mixtally.device.client.encode import Value
from mixtally.device.contract.fields import parse_json
from mixtally.device.contract.plan import ContractPlan as BarePlan
from mixtally.device.contract.plan import read_plan
from mixtally.errors import ParameterError, pluralize
from mixtally.primitives.chance import SecureChance
from mixtally.report.numbers import at_most

if TYPE_CHECKING:
    from mixtally.api.planning import Plan

_ANY = Limits(epsilon=math.inf, delta=1.0, hops=1)
"""The default limits for a plan, which accept any plan, because its owner made or verified it."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The messages that one person sends under one plan or contract, in random order.

    Parameters
    ----------
    fingerprint : str
        The fingerprint of the plan or contract for which the messages were drawn.
    parts : tuple of tuple of bytes
        The messages of each part: those with the person's value, and the device's fakes (dummy
        messages).

    Examples
    --------
    >>> import mixtally
    >>> plan = mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=1_000)
    >>> sent = mixtally.Device(plan).messages("yes")
    >>> sent.fingerprint == plan.fingerprint
    True
    """

    fingerprint: str
    parts: tuple[tuple[bytes, ...], ...]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(part)} of {len(part[0])} bytes" for part in self.parts)
        return f"messages made under {self.fingerprint[:16]}: {sizes}"


def _to_plain_value(subject: str, value: Any, *, several: bool = True) -> Any:
    """Return a value with Python types in place of NumPy types.

    Raises ParameterError for an unsuitable type, and for a list if ``several`` is False.
    """
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
        do="give a value that the question asks for",
    )


class Device:
    """The device of one person, which checks a plan or contract and then answers under it.

    A device answers as often as the plan allows. It stores nothing on disk. A device that must
    remember its answers after the process has ended needs a diary (``mixtally client``).

    Parameters
    ----------
    plan_or_contract : Plan, str, Path or bytes
        The plan, or the contract as a path or as bytes.
    epsilon, delta : float or None
        The largest accepted epsilon and delta. The defaults for a contract are 1 and 1e-6.
    local_epsilon : float or None
        The largest accepted epsilon if all mixes collude. None accepts any.
    hops : int or None
        The smallest accepted number of mixes in a row. The default for a contract is 2.

    Raises
    ------
    DataError
        If the file cannot be read.
    RefusedError
        If the contract is damaged or exceeds a limit. Its ``reason`` names the refusal.

    Examples
    --------
    >>> import mixtally
    >>> plan = mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=1_000)
    >>> device = mixtally.Device(plan, epsilon=1)
    >>> len(device.messages("yes").parts)
    1
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
        limits = {name: limit for name, limit in given.items() if limit is not None}
        self._agreed, plan, usual = _load_plan(plan_or_contract)
        self._plan = check_plan(plan, usual._replace(**limits))
        self._chance, self._turn, self._answers = SecureChance(), threading.Lock(), 0
        self._owner = os.getpid()

    @property
    def fingerprint(self) -> str:
        """The SHA-256 digest of the plan's file or of the contract's text."""
        return self._agreed

    @property
    def promise(self) -> str:
        """The guarantee for this person, in words."""
        plan = self._plan
        times = f" over all of its {plan.collections:,} rounds" if plan.collections > 1 else ""
        return (
            f"epsilon = {at_most(plan.epsilon, 6)}, delta <= {at_most(plan.upper)}{times}, against "
            "anyone who sees all shuffled messages. "
            f"Assumes: {plan.assumption.removeprefix('holds if ')}."
        )

    @checks.translate_errors
    def messages(self, value: Value) -> Sent:
        """Draw the messages to send for one value.

        Parameters
        ----------
        value : str, float, int or list
            A label, a number, a list of labels, or a list of bits, depending on the question.

        Returns
        -------
        Sent
            The messages, in random order.

        Raises
        ------
        ParameterError
            If the device has already answered as often as the plan allows, or if another process
            made the device and was forked.
        RefusedError
            If the question does not have this value.

        Examples
        --------
        >>> import mixtally
        >>> plan = mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=1_000)
        >>> len(mixtally.Device(plan).messages("yes").parts)
        1
        """
        collections = self._plan.collections
        # Without the lock, two threads could both use the last answer that the plan allows.
        with self._turn:
            if os.getpid() != self._owner:
                raise ParameterError(
                    "device", expected="the process that made the device", got="a forked process, "
                    "which would answer again", do="make a device for every person",
                )  # fmt: skip
            if self._answers >= collections:
                most = pluralize(collections, "answer")
                raise ParameterError(
                    "device",
                    expected=f"at most {most}, as the guarantee is proved for no more",
                    got="another answer",
                    do="make a plan with more collections",
                )
            # A refused value raises here and is not counted as an answer.
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
            expected="one device per person",
            got="a copy or a pickle, which would answer again",
            do="make a device for every person",
        )


def _load_plan(agreed: object) -> tuple[str, BarePlan, Limits]:
    """Return the fingerprint, the plan as a device reads it, and the default limits."""
    if isinstance(agreed, str | bytes | os.PathLike):
        contract = parse_contract(contract_bytes(agreed))
        return contract.fingerprint, contract.plan, Limits()
    # A device with a contract loads no planner.
    from mixtally.api.planning import load_verified_plan
    from mixtally.model.contract import write_plan

    found = load_verified_plan(agreed)
    return found.fingerprint, read_plan(parse_json(write_plan(found.plan))), _ANY
