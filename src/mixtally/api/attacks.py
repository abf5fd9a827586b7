"""``attack``: every known attack on a plan, or on a claim, and what it proves."""

import os
from typing import Any

from mixtally.api import checks
from mixtally.api.contracts import contract_bytes
from mixtally.api.planning import Plan
from mixtally.app import attack as use
from mixtally.app.attack import Attacked as Attacked
from mixtally.app.attack import ClaimOptions, GameOptions
from mixtally.app.contracts import read_plan_or_contract
from mixtally.errors import ParameterError
from mixtally.model.contract import Contract
from mixtally.model.contract import Plan as Record


@checks.translate_errors
@checks.accept_options(ClaimOptions, GameOptions)
def attack(target: Plan | str | os.PathLike[str] | bytes | None = None, **given: Any) -> Attacked:
    """Play every known attack on a plan, or on what somebody claims of a protocol.

    Parameters
    ----------
    target : Plan, str, os.PathLike, bytes or None
        A plan, the path or the bytes of the file of a plan or contract, or the name of a protocol.
    **given
        The claim: ``epsilon`` and ``delta``, the parameters of the protocol, and ``honest_share``,
        the share of the fakes that the claim counts on. The games: ``only`` one attack; ``runs``,
        100 to 10^7 through the code; ``drawn``, as many with drawn counts; ``level``, the
        confidence of all outcomes together, 0.5 to 1 - 1e-9; ``seed``, which makes them repeat;
        ``unverified``, to attack a plan whose certificate is false. ``protocol`` is the name of
        the protocol, if ``target`` is left out.

    Returns
    -------
    Attacked
        The target and the outcome of each attack.

    Raises
    ------
    DataError
        For a file that cannot be read.
    ParameterError
        For arguments that are missing, not taken or out of range.
    PlanError
        For a plan whose certificate is false.

    Examples
    --------
    >>> mixtally.attack("flip", epsilon=1, delta=1e-6, users=100, bits=1, flip=0.4, only="n-1")
    """
    read: Contract | Record | None = None
    if isinstance(target, Plan):
        read = target.record
    elif isinstance(target, os.PathLike | bytes):
        read = read_plan_or_contract(contract_bytes(target), "the plan under attack")
    elif target is not None:
        name = checks.check_text("target", target)
        if given.setdefault("protocol", name) != name:
            raise ParameterError(
                "attack", expected="one protocol", got="two", do="leave protocol out, or target"
            )
    claimed, game = (
        checks.read_options(ClaimOptions, given),
        checks.read_options(GameOptions, given),
    )
    return use.attack(read, claimed, game)
