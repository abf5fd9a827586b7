"""Rules by which a role signs sheets and withdrawals, and accepts manifests.

A role signs the next round of a contract that it has signed, with its own key on the sheet. The
rules depend only on the contract and on earlier rounds, never on the question or the answers.
"""

from collections.abc import Callable

from mixtally.device.wire import consistency
from mixtally.device.wire.manifest import MOST_PIECE_BYTES, Manifest
from mixtally.device.wire.problem import Problem
from mixtally.device.wire.sheet import Sheet
from mixtally.errors import RefusedError
from mixtally.model.agreement import Agreement
from mixtally.model.job import Job
from mixtally.server.node.events import format_time
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.rounds import RoundRow, Rounds

LEAST_AHEAD = 86_400
"""A proposed round must open within this number of seconds after the earliest possible opening.

If the contract's interval between two openings is longer, the interval is the limit.
"""

LEAST_BEFORE = 600
"""A round can be withdrawn until this number of seconds before its opening.

Devices do not send bundles this early, so a withdrawn round has no bundles.
"""


def frame_of(agreement: Agreement) -> consistency.Frame:
    """Return the numbers of a contract with which the notes of its rounds must agree."""
    return consistency.Frame(
        contract=agreement.contract,
        rounds=agreement.rounds,
        open_seconds=agreement.windows.open_seconds,
        hops=len(agreement.hops),
        suite=agreement.suite,
        parts=len(agreement.sizes),
        minimum_crowd=agreement.minimum_crowd,
        most_bundles=agreement.most_bundles,
        most_messages=agreement.most_messages,
    )


def check_number(agreement: Agreement, latest: int, last: RoundRow | None, number: int) -> None:
    """Raise ProblemError if this role may not sign a round with this number (any more).

    ``latest`` is the largest serial of the contract's name that this role serves. ``last`` is the
    last round signed under that name, or None.
    """
    if agreement.serial < latest:
        raise _not_agreed("a later serial has ended this contract")
    if number > agreement.rounds:
        raise _not_agreed(f"the contract has {agreement.rounds} rounds")
    if last is not None and number <= last.round:
        raise _not_agreed(f"round {last.round} was signed already")


def check_sheet(
    sheet: Sheet,
    agreement: Agreement,
    latest: int,
    rounds: Rounds,
    now: int,
    own_key: Callable[[], bytes | None],
) -> None:
    """Raise ProblemError if this role may not sign a sheet.

    ``latest`` is the largest serial of the contract's name that this role serves. ``rounds`` are
    the rounds signed before, ``now`` is in seconds since 1970, and ``own_key`` returns the pending
    key of this role for the round, or None.
    """
    last = rounds.last(agreement.name)
    check_number(agreement, latest, last, sheet.round)
    try:
        consistency.check_sheet(sheet, frame_of(agreement))
    except RefusedError as error:
        raise _unfit_refusal(error) from error
    if sheet.closes <= now:
        raise _not_agreed("the round would be over already")
    last, every = rounds.last_binding(agreement.name), agreement.windows.every_seconds
    if last is not None and sheet.opens < last.closes:
        raise _not_agreed(
            f"round {last.round} is not over then: it closes {format_time(last.closes)}"
        )
    if last is not None and sheet.opens - last.opens < every:
        raise _not_agreed(f"a round opens at least {every} seconds after the one before")
    far = earliest_opening(agreement, last, now) + max(every, LEAST_AHEAD)
    if sheet.opens > far:
        raise _not_agreed(
            f"a round opens {far - now} seconds from now at the latest: by {format_time(far)}"
        )
    own = own_key()
    if own is None or sheet.keys[agreement.place - 1] != own:
        raise _not_agreed("this role's key is another one: ask for it first")


def earliest_opening(agreement: Agreement, last: RoundRow | None, now: int) -> int:
    """Return the earliest time at which a round may open after the round ``last``.

    All times are in seconds since 1970. If ``last`` is None, the result is ``now``.
    """
    if last is None:
        return now
    return max(now, last.closes, last.opens + agreement.windows.every_seconds)


def check_withdrawal(row: RoundRow, now: int) -> None:
    """Raise ProblemError if a round is over, has opened or opens soon."""
    if row.ended:
        raise _not_agreed(f"the round is over: {row.ended}")
    if now > row.opens - LEAST_BEFORE:
        raise _not_agreed(
            f"that is done {LEAST_BEFORE} seconds before a round opens, at the latest"
        )


def check_manifest(manifest: Manifest, agreement: Agreement) -> None:
    """Raise ProblemError for a manifest that an honest hop of the contract never signs."""
    if manifest.hop > len(agreement.hops):
        raise _not_agreed("other-hop")
    try:
        consistency.check_manifest(manifest, frame_of(agreement))
    except RefusedError as error:
        raise _unfit_refusal(error) from error
    for part, sizes in zip(manifest.parts, agreement.sizes, strict=True):
        most = MOST_PIECE_BYTES // sizes[manifest.hop]
        # All pieces except the last must be full. This limits the number of pieces per message.
        if any(piece.messages != most for piece in part.pieces[:-1]):
            raise _not_agreed("piece-length")
        if part.pieces and part.pieces[-1].messages > most:
            raise _not_agreed("piece-length")
    if manifest.hop == 1 and not manifest.destroyed and isinstance(agreement, Job):
        bundles = manifest.bundles + manifest.left_out
        for part, stream in zip(manifest.parts, agreement.streams, strict=True):
            if part.received > bundles * stream.slots:
                raise _not_agreed("more messages than the bundles can hold")


def _unfit_refusal(error: RefusedError) -> ProblemError:
    return _not_agreed(f"{error.reason}: {error.subject}, expected {error.expected}")


def _not_agreed(detail: str) -> ProblemError:
    return ProblemError(Problem.NOT_AGREED, detail)
