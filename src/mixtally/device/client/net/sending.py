"""Taking part in a round: charged, sealed and kept first; then sent, the same bytes or none.

Time is an argument: whoever calls says what time it is, and is told when to come again.

    agreed = trusted(contract_note, pins, limits)
    given = open_round(agreed, sheet_note, now)
    entry = prepare(diary, given, value, words, now)      # charged; nothing has left
    entry = deliver(diary, entry, now)                    # at entry.due, until not entry.pending
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
_FIRST_WAIT, _MOST_WAIT = 30, 3600
_NAP = 60.0
_AGAIN = (408, 429)
"""Of those that refuse, those after which the same bytes may come."""
"""Sleeping longer would miss a moment where the clock goes on while the device rests."""


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
    """Charge a round, seal the answer and keep it until it leaves.

    where
      words     count -> 8 * count random bytes, used once
      at_once   it is due now and not at a random moment of the window
      budget    the most that all charges may come to
      again     a question may have been answered under another name

    A bundle of this round that is pending is given back, and the value is not looked at. Raises
    RefusedError, nothing being charged then; DataError when the disk refuses.
    """
    seal = partial(seal_answer, given, value, words, now, at_once=at_once)
    return diary.add_entry(given, now, seal, budget=budget, again=again)


def deliver(
    diary: Diary, entry: Entry, now: int, *, ask: Post = post, at_once: bool = False
) -> Entry:
    """Send a pending bundle if it is due, and note what comes of it; the entry as it is then.

    ``at_once`` passes over its random moment, but not over what the first hop told it to wait.
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
    """Wait and send until it is answered or its window is over."""
    while True:
        entry = deliver(diary, entry, int(clock()), ask=ask, at_once=at_once)
        if not entry.is_pending:
            return entry
        sleep(min(_NAP, max(0.5, entry.due - clock())))


def _record_result(diary: Diary, entry: Entry, now: int, answer: PostResult, usual: int) -> Entry:
    """Only the class of a status says what to do; 408, 429 and 5xx may name a time."""
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
    """Twice as long after every try, but never past half of what is left of the window."""
    usual = min(_FIRST_WAIT << min(entry.tries, 10), _MOST_WAIT)
    return max(1, min(usual, (entry.closes - now) // 2))


def _parse_retry_after(after: str | None, now: int) -> int | None:
    """What Retry-After says, in seconds from now; None for nothing that can be read."""
    text = (after or "").strip()
    if text.isascii() and text.isdecimal():
        return int(text[:12])
    try:
        return int(parsedate_to_datetime(text).timestamp()) - now
    except (ValueError, TypeError, OverflowError):
        return None
