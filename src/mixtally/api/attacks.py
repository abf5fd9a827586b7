"""Attacks on a plan, or on a claim about a protocol.

The attacks are in ``mixtally.lab.attacks``. This module checks the arguments and reads the target.
"""

import os
from typing import Any

from mixtally.api import checks
from mixtally.api.files import contract_bytes
from mixtally.api.matrices import is_matrix, matrix_of, with_path
from mixtally.api.planning import Plan
from mixtally.app import attack as use
from mixtally.app.attack import Attacked as Attacked
from mixtally.app.attack import ClaimOptions, GameOptions
from mixtally.app.contracts import read_plan_or_contract
from mixtally.errors import not_together
from mixtally.model.contract import Contract
from mixtally.model.contract import Plan as Record


@checks.translate_errors
@checks.accept_options(ClaimOptions, GameOptions)
def attack(target: Any = None, *, fake_row: str | None = None, **given: Any) -> Attacked:
    """Run every known attack on a plan, or on a claim about a protocol.

    An attack that fails proves nothing. An attack that succeeds proves that the guarantee is false.

    Parameters
    ----------
    target : Plan, str, os.PathLike, bytes, matrix or None
        A plan, the path or the bytes of a plan or contract, the name of a protocol, or the matrix
        of a randomizer as in ``delta``.
    fake_row : str, optional
        For a matrix, the label of the row from which fakes are drawn, or "uniform".
    protocol : str, optional
        The name of the protocol, if ``target`` is left out.
    honest_share : float, optional
        The share of the fakes (dummy messages) that the claim assumes to be honest. The default is
        1.
    only : str, optional
        The name of a single attack to run, for example "n-1". The command
        ``mixtally check attack --help`` lists the names.
    runs : int, optional
        The number of games of each attack, 100 to 10^7. A game draws the messages in two worlds,
        which the attack tries to distinguish. The default depends on the time of a game.
    drawn : int, optional
        The number of additional games, 100 to 10^7, whose counts are drawn from their stated
        distribution. In these games, the code that makes messages does not run.
    **given
        Further options of ``mixtally check attack``, which describe the claim and the games.

    Returns
    -------
    Attacked
        The target and the outcome of each attack.

    Raises
    ------
    DataError
        If a file cannot be read.
    ParameterError
        If an argument is missing, does not belong to the protocol, or is out of range.
    PlanError
        If the plan's certificate is false and ``unverified`` is not set.

    Examples
    --------
    >>> import mixtally
    >>> found = mixtally.attack(
    ...     "flip", epsilon=1, delta=1e-6, users=100, flip=0.4, bits=1, only="n-1", runs=100, seed=1
    ... )
    >>> found.violations
    []
    """
    read: Contract | Record | None = None
    target = with_path(target)
    if isinstance(target, Plan):
        read = target.record
    elif isinstance(target, os.PathLike | bytes):
        read = read_plan_or_contract(contract_bytes(target), "the plan under attack")
    elif target is not None and is_matrix(target):
        claimed, game = (
            checks.read_options(ClaimOptions, given),
            checks.read_options(GameOptions, given),
        )
        return use.attack_matrix(matrix_of("target", target), claimed, game, fake_row)
    elif target is not None:
        name = checks.check_text("target", target)
        if given.setdefault("protocol", name) != name:
            raise not_together("attack", "a target", ["another protocol"], "leave one out")
    claimed, game = (
        checks.read_options(ClaimOptions, given),
        checks.read_options(GameOptions, given),
    )
    return use.attack(read, claimed, game)
