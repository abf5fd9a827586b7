"""Taking part in a round: an answer is charged, sealed and stored first, and then sent.

Functions receive the current time as an argument, and entries say when to call again.

    agreed = verify_contract(contract_note, pins, limits)
    given = open_round(agreed, sheet_note, now)
    entry = prepare(diary, given, value, words, now)      # charged; nothing was sent
    entry = deliver(diary, entry, now)                    # at entry.due, while entry.is_pending
"""

from collections.abc import Callable
from email.utils import parsedate_to_datetime
from functools import partial

from mixtally.device.client.encode import Value
from mixtally.device.client.net.diary import Diary
from mixtally.device.client.net.entries import BundleState, Entry
from mixtally.device.client.net.pins import Budget
from mixtally.device.client.net.requests import PostResult, post
from mixtally.device.client.net.seal import seal_answer
from mixtally.device.client.net.trust import OpenRound

Post = Callable[[str, str, bytes], PostResult]
# Seconds between attempts: the first delay, which doubles, and the largest.
_FIRST_WAIT, _MOST_WAIT = 30, 3600
# A longer sleep could miss the due time, because the clock goes on while a device is suspended.
_NAP = 60.0
_AGAIN = (408, 429)
"""Statuses of refusals after which the same bytes may be sent again."""


def prepare(
    diary: Diary,
    given: OpenRound,
    value: Value,
    words: Callable[[int], bytes],
    now: int,
    *,
    at_once: bool = False,
    budget: Budget | None = None,
    again: bool = False,
) -> Entry:
    """Charge a round, and seal and store the answer until it is sent.

    If a bundle of this round is pending, its entry is returned and the value is ignored.

    Parameters
    ----------
    diary : Diary
        Where the charge and the bundle are stored.
    given : OpenRound
        The round.
    value : Value
        The answer.
    words : callable
        Maps a count to 8 * count random bytes, which are never used again.
    now : int
        The time, seconds since 1970.
    at_once : bool
        Whether the bundle is due now, in place of a random time in the round.
    budget : Budget, optional
        The maximum of all charges.
    again : bool
        Whether a question may be answered that was charged under another name.

    Raises
    ------
    RefusedError
        If a rule does not allow it. Nothing is charged then.
    DataError
        If the diary cannot be written.
    """
    seal = partial(seal_answer, given, value, words, now, at_once=at_once)
    return diary.add_entry(given, now, seal, budget=budget, again=again)


def deliver(
    diary: Diary, entry: Entry, now: int, *, ask: Post = post, at_once: bool = False
) -> Entry:
    """Send a pending bundle if it is due, and return the updated entry.

    ``at_once`` ignores the random due time, but not a delay that the first hop asked for.
    """
    entry = diary.find(entry.name, entry.round) or entry
    if not entry.is_pending:
        return entry
    if now >= entry.closes:
        return diary.record_end(entry, BundleState.OVER, now)
    bundle = diary.bundle(entry)
    if bundle is None or (now < entry.due and not (at_once and not entry.tries)):
        return entry
    usual = now + _retry_delay(entry, now)
    # Recorded before sending: a process that is killed must not forget that bytes may have left.
    entry = diary.record_attempt(entry, now, usual)
    diary.step("begun")
    answer = ask(entry.address, entry.path, bundle)
    diary.step("answered")
    return _record_result(diary, entry, now, answer, usual)


def deliver_until_answered(
    diary: Diary,
    entry: Entry,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    *,
    ask: Post = post,
    at_once: bool = False,
) -> Entry:
    """Wait and send until the bundle is answered or the round is closed."""
    while True:
        entry = deliver(diary, entry, int(clock()), ask=ask, at_once=at_once)
        if not entry.is_pending:
            return entry
        sleep(min(_NAP, max(0.5, entry.due - clock())))


def _record_result(diary: Diary, entry: Entry, now: int, answer: PostResult, usual: int) -> Entry:
    """Record the answer of the first hop.

    Only the class of a status matters. With 408, 429 and 5xx the hop may state when to send again.
    """
    status = answer.status
    if status is not None and 200 <= status < 300:
        return diary.record_end(entry, BundleState.TAKEN, now, status)
    if status is not None and 400 <= status < 500 and status not in _AGAIN:
        return diary.record_end(entry, BundleState.REFUSED, now, status)
    due = usual
    if status is not None and (status in _AGAIN or status >= 500):
        due = max(now + 1, now + (_parse_retry_after(answer.retry_after, now) or usual - now))
    if due >= entry.closes:
        return diary.record_end(entry, BundleState.OVER, now, status)
    return diary.schedule_retry(entry, due, status)


def _retry_delay(entry: Entry, now: int) -> int:
    """Return the delay before the next attempt, doubled each time, up to half the time left."""
    usual = min(_FIRST_WAIT << min(entry.tries, 10), _MOST_WAIT)
    return max(1, min(usual, (entry.closes - now) // 2))


def _parse_retry_after(after: str | None, now: int) -> int | None:
    """Return the delay in a Retry-After header, in seconds; None if there is no readable one."""
    text = (after or "").strip()
    if text.isascii() and text.isdecimal():
        return int(text[:12])
    try:
        return int(parsedate_to_datetime(text).timestamp()) - now
    except (ValueError, TypeError, OverflowError):
        return None
