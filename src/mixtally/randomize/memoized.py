"""Memoized answers: the response that is drawn once for a value, and the reports drawn from it.

RAPPOR's permanent and instantaneous randomized responses. What is drawn twice would average away,
so a response is memoized under the *tag* of its value, a keyed hash of a person and what they hold.

Source: RAPPOR (2014), section 2, steps 2 and 3; RFC 7693 (BLAKE2b with key and personalization).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.ground.fixed import SCALE
from mixtally.ground.flips import flip
from mixtally.ground.slicing import coin_rows
from mixtally.records.mechanism import Memoized
from mixtally.records.memoized_plan import MemoizedPlan

KEY_BYTES = 32
TAG_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """The memoized responses that ``owner`` keeps under ``plan``.

    where
      owner     a person, or a crowd that is simulated
      by_tag    packed bits by ``value_tag``
    """

    plan: MemoizedPlan
    owner: str
    by_tag: Mapping[bytes, bytes]


def permanent_response(mechanism: Memoized, records: Rows, chance: Chance) -> Rows:
    """The memoized response to ``records``: every bit is a fair coin with f, so wrong with exactly
    f/2.

    Drawn once for a value and memoized (``recall``): drawn twice, it would average away.
    """
    return flip(records, mechanism.bins, mechanism.permanent // 2, chance)


def report(mechanism: Memoized, responses: Rows, chance: Chance) -> Rows:
    """One report of every memoized response: a 1 is reported as 1 with q, a 0 with p."""
    zeros, ones = (_coins(threshold, responses, chance) for threshold in (mechanism.p, mechanism.q))
    reported = (responses & ones) | (~responses & zeros)
    if mechanism.bins % 8:
        reported[:, -1] &= (1 << mechanism.bins % 8) - 1
    return reported


def recall(
    before: Responses, tags: Sequence[bytes], records: Rows, chance: Chance
) -> tuple[Responses, Rows]:
    """The memoized response of every tag, drawn now for tags never seen, and the responses with
    them.

    ``records`` are the true records, shape (tags, row bytes). What comes back is to be stored
    before a report is drawn from it. ``before`` itself comes back when nothing was new.
    """
    after, places = before, {tag: i for i, tag in enumerate(tags) if tag not in before.by_tag}
    if places:
        new = records[list(places.values())]
        drawn = permanent_response(before.plan.mechanism, new, chance)
        fresh = {tag: row.tobytes() for tag, row in zip(places, drawn, strict=True)}
        after = replace(before, by_tag={**before.by_tag, **fresh})
    responses = b"".join(after.by_tag[tag] for tag in tags)
    return after, np.frombuffer(responses, dtype=np.uint8).reshape(records.shape)


def new_key(chance: Chance) -> bytes:
    """A key for tags and seals, 32 bytes."""
    return chance.words(KEY_BYTES // 8).astype("<u8", copy=False).tobytes()


def value_tag(key: bytes, person: str, value: str) -> bytes:
    """What stands for a person's value among their responses."""
    return keyed(key, b"value", person, value)


def cohort_of(key: bytes, mechanism: Memoized, person: str) -> int:
    """The cohort of a person: uniform for a random key, the same for all their values and reports.

    A person in two cohorts would have two responses of one value.
    """
    return int.from_bytes(keyed(key, b"cohort", person), "little") % mechanism.cohorts


def keyed(key: bytes, purpose: bytes, *texts: str) -> bytes:
    """A keyed hash of ``texts``, each with its length, that serves one purpose only."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    message = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    return hashlib.blake2b(message, digest_size=TAG_BYTES, key=key, person=purpose).digest()


def _coins(threshold: int, like: Rows, chance: Chance) -> Rows:
    """Rows of that shape whose bits are one with probability threshold / 2^64, 0 and 1 included."""
    if threshold in (0, SCALE):
        return np.full_like(like, 0xFF if threshold else 0)
    return coin_rows(chance, threshold, like)
