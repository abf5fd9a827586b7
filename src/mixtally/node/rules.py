"""Which sheets a role signs: the next round of a contract that it signed, with its own key.

Everything is told by the contract and by rounds signed before; nothing by what was asked in them.
"""

from collections.abc import Callable

from mixtally.errors import RefusedError
from mixtally.node.agreement import Agreement
from mixtally.node.refusal import ProblemError
from mixtally.node.rounds import RoundRow
from mixtally.wire.problem import Problem
from mixtally.wire.sheet import Sheet
from mixtally.wire.suite import SUITES

MOST_KEPT_SECONDS = 10**7
"""From the end of a round to its expiry; as long a key may live."""


def check_number(agreement: Agreement, latest: int, last: RoundRow | None, number: int) -> None:
    """Raises ProblemError for a round that may not be signed any more.

    where
      latest   serial of the contract's name that this role knows of
      last     round signed under the name
    """
    if agreement.serial < latest:
        raise _not("a later serial has ended this contract")
    if number > agreement.rounds:
        raise _not(f"the contract has {agreement.rounds} rounds")
    if last is not None and number <= last.round:
        raise _not(f"round {last.round} was signed already")


def check_sheet(
    sheet: Sheet,
    agreement: Agreement,
    latest: int,
    last: RoundRow | None,
    now: int,
    own_key: Callable[[], bytes | None],
) -> None:
    """Raises ProblemError for a sheet that this role does not sign.

    ``own_key`` is the pending one.
    """
    check_number(agreement, latest, last, sheet.round)
    windows = agreement.windows
    if sheet.closes - sheet.opens != windows.open_seconds:
        raise _not(f"a round is open for {windows.open_seconds} seconds")
    if sheet.closes <= now:
        raise _not("the round would be over already")
    if sheet.expires - sheet.closes > MOST_KEPT_SECONDS:
        raise _not(f"a round expires within {MOST_KEPT_SECONDS} seconds")
    if last is not None and sheet.opens < last.closes:
        raise _not("the round before is not over then")
    if last is not None and sheet.opens - last.opens < windows.every_seconds:
        raise _not(f"rounds begin {windows.every_seconds} seconds apart")
    _check_keys(sheet, agreement, own_key())


def _check_keys(sheet: Sheet, agreement: Agreement, own: bytes | None) -> None:
    if len(sheet.keys) != len(agreement.roles):
        raise _not(f"there are {len(agreement.roles)} keys")
    try:
        for key in sheet.keys:
            SUITES[agreement.suite].key(key)
    except RefusedError as error:
        raise _not(f"keys are of suite {agreement.suite}") from error
    if own is None or sheet.keys[agreement.place - 1] != own:
        raise _not("this role's key is another one: ask for it first")
    if len(set(sheet.keys)) < len(sheet.keys):
        raise _not("every role has a key of its own")


def _not(detail: str) -> ProblemError:
    return ProblemError(Problem.NOT_AGREED, detail)
