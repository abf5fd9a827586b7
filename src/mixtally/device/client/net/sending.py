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

Post = Callable[..., PostResult]
"""A function that sends a request. Its arguments are address, path, body and, if the person has a
one-time code, the keyword ``code``."""
# Seconds between attempts: the first delay, which doubles with each attempt, and the maximum.
_FIRST_WAIT, _MOST_WAIT = 30, 3600
# The longest sleep in seconds. While a device is suspended, the clock goes on but a sleep does not.
# So a longer sleep could end after the due time.
_NAP = 60.0
_FULL = 429
_AGAIN = (408, _FULL)
"""HTTP statuses below 500 after which the same bytes may be sent again."""


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
    watch: bool = False,
    code: str | None = None,
) -> Entry:
    """Charge a round, seal the answer, and store it in the diary, from which it will be sent.

    If a bundle of this round is pending already, its entry is returned and the value is ignored.

    Parameters
    ----------
    diary : Diary
        Where the charge and the bundle are stored.
    given : OpenRound
        The round to answer, with its verified contract and sheet.
    value : Value
        The answer; None for no answer.
    words : callable
        Returns 8 * count random bytes for a count. The bytes must not be used for anything else.
    now : int
        The time, seconds since 1970.
    at_once : bool
        Whether the bundle is due now, and not at a random time in the round.
    budget : Budget, optional
        The maximum total of all charges.
    again : bool
        Whether to allow a question that was already charged under another contract's name.
    watch : bool
        Whether to store the tags of the messages at each role, so that ``check_arrival`` can look
        for the messages after the round.
    code : str, optional
        The one-time code that the person received, if the contract asks for one.

    Raises
    ------
    RefusedError
        If a rule of the diary does not allow the answer. Nothing is charged then.
    DataError
        If the diary cannot be written.
    """
    seal = partial(seal_answer, given, value, words, now, at_once=at_once, watch=watch, code=code)
    return diary.add_entry(given, now, seal, budget=budget, again=again)


def deliver(
    diary: Diary, entry: Entry, now: int, *, ask: Post = post, at_once: bool = False
) -> Entry:
    """Send a pending bundle if it is due, and return the updated entry.

    The attempt is recorded in the diary before anything is sent, and its result afterwards.

    Parameters
    ----------
    diary : Diary
        Where the bundle is stored.
    entry : Entry
        The entry of the bundle. Its present state is read from the diary.
    now : int
        The time, seconds since 1970.
    ask : callable
        Sends a body to an address and a path, and returns the answer.
    at_once : bool
        Whether to ignore the random due time, but not a delay that the first hop asked for.

    Returns
    -------
    Entry
        The entry as it is in the diary afterwards; its state is OVER if the round has closed.

    Raises
    ------
    DataError
        If the diary cannot be written.
    """
    entry = diary.find(entry.name, entry.round) or entry
    if not entry.is_pending:
        return entry
    if now >= entry.closes:
        return diary.record_end(entry, BundleState.OVER, now)
    bundle = diary.bundle(entry)
    if bundle is None or (now < entry.due and not (at_once and not entry.tries)):
        return entry
    code = diary.code(entry)
    more = {} if code is None else {"code": code}
    usual = now + _retry_delay(entry, now)
    # Recorded before sending: a process that is killed must not forget that bytes may have left.
    entry = diary.record_attempt(entry, now, usual)
    diary.step("begun")
    answer = ask(entry.address, entry.path, bundle, **more)
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
    """Wait and send until the bundle is answered or the round is closed.

    Parameters
    ----------
    diary : Diary
        Where the bundle is stored.
    entry : Entry
        The entry of the bundle.
    clock : callable
        Returns the time, seconds since 1970.
    sleep : callable
        Waits for a number of seconds, in [0.5, 60].
    ask : callable
        Sends a body to an address and a path, and returns the answer.
    at_once : bool
        Whether to ignore the random due time, but not a delay that the first hop asked for.

    Returns
    -------
    Entry
        The entry, which is no longer pending.

    Raises
    ------
    DataError
        If the diary cannot be written.
    """
    while True:
        entry = deliver(diary, entry, int(clock()), ask=ask, at_once=at_once)
        if not entry.is_pending:
            return entry
        sleep(min(_NAP, max(0.5, entry.due - clock())))


def _record_result(diary: Diary, entry: Entry, now: int, answer: PostResult, usual: int) -> Entry:
    """Record the answer of the first hop, and return the updated entry.

    A status 2xx confirms the bundle, and any 4xx except 408 and 429 refuses the bundle; both end
    the entry. After any other result, the same bytes are sent again at the time ``usual``. For 408,
    429 and 5xx, the header Retry-After can state another time. If the round has closed by then, the
    entry ends.
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
        # A hop that accepts no more bundles in the round asks to wait until the round is over.
        ended = BundleState.REFUSED if status == _FULL else BundleState.OVER
        return diary.record_end(entry, ended, now, status)
    return diary.schedule_retry(entry, due, status)


def _retry_delay(entry: Entry, now: int) -> int:
    """Return the delay before the next attempt, in seconds.

    It doubles with each attempt, up to an hour and up to half of the time until the round closes.
    """
    usual = min(_FIRST_WAIT << min(entry.tries, 10), _MOST_WAIT)
    return max(1, min(usual, (entry.closes - now) // 2))


def _parse_retry_after(after: str | None, now: int) -> int | None:
    """Return the delay in a Retry-After header, in seconds; None without a valid header."""
    text = (after or "").strip()
    if text.isascii() and text.isdecimal():
        return int(text[:12])
    try:
        return int(parsedate_to_datetime(text).timestamp()) - now
    except (ValueError, TypeError, OverflowError):
        return None
