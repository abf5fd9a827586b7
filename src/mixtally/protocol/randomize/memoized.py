"""Memoized answers: the response that a device derives from its key, and the reports of it.

RAPPOR's permanent and instantaneous randomized responses. A response that was drawn twice would
average away. So a device derives it from its key, the same whenever it is asked: nothing is kept,
and a file that is deleted or put back changes nothing.

    seed    HMAC-SHA256(key, purpose "response", memory, person, value), each with its length
    words   SHAKE256(seed), 8 little-endian bytes a bit
    bit i   the true one, flipped where words[i] < f/2 * 2^64

*Memory* is the fingerprint of question, encoder and f: under others the response is another one,
and costs its loss anew. It does not depend on p and q, which only show what is memoized.

Source: RAPPOR (2014), section 2, steps 2 and 3; RFC 2104 (HMAC), FIPS 202 (SHAKE256).
"""

import hashlib
import hmac
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from mixtally.model.mechanism import Memoized
from mixtally.model.memoized_plan import MemoizedPlan
from mixtally.primitives.bit_slicing import coin_rows
from mixtally.primitives.bits import Rows, spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.codec import fingerprint
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.flips import flip

KEY_BYTES = 32
_WORD_BYTES = 8
_SPAN_BYTES = 1 << 22


def draw_permanent_response(mechanism: Memoized, records: Rows, chance: Chance) -> Rows:
    """A memoized response to each of ``records``: every bit is a fair coin with f, so wrong with
    exactly f/2.

    For a crowd that is played once. What goes on reporting derives them: drawn twice, they would
    average away.
    """
    return flip(records, mechanism.bins, mechanism.permanent // 2, chance)


def derive_response(
    plan: MemoizedPlan, key: bytes, persons: Sequence[str], values: Sequence[str], records: Rows
) -> Rows:
    """The memoized response of every person for the value beside, the same for the same key.

    where
      records   the true records, shape (persons, row bytes)
    """
    mechanism, memory = plan.mechanism, bytes.fromhex(memory_of(plan))
    wrong, size = np.uint64(mechanism.permanent // 2), _WORD_BYTES * mechanism.bins
    responses = np.empty_like(records)
    for span in spans(len(records), max(1, _SPAN_BYTES // size)):
        words = b"".join(
            hashlib.shake_256(
                _hash_with_key(key, b"response", memory, _text(person), _text(value))
            ).digest(size)
            for person, value in zip(persons[span], values[span], strict=True)
        )
        flips = np.frombuffer(words, dtype="<u8").reshape(-1, mechanism.bins) < wrong
        responses[span] = records[span] ^ np.packbits(flips, axis=1, bitorder="little")
    return responses


def memory_of(plan: MemoizedPlan) -> str:
    """The fingerprint of what responses belong to: question, encoder and f, 64 digits."""
    certain = replace(plan.mechanism, p=0, q=SCALE)
    return fingerprint(replace(plan, mechanism=certain))


def draw_reports(mechanism: Memoized, responses: Rows, chance: Chance) -> Rows:
    """One report of every memoized response: a 1 is reported as 1 with q, a 0 with p."""
    zeros, ones = (
        _draw_coins(threshold, responses, chance) for threshold in (mechanism.p, mechanism.q)
    )
    reported = (responses & ones) | (~responses & zeros)
    if mechanism.bins % 8:
        reported[:, -1] &= (1 << mechanism.bins % 8) - 1
    return reported


def new_key(chance: Chance) -> bytes:
    """A device's key for its responses and its cohort, 32 bytes."""
    return chance.words(KEY_BYTES // 8).astype("<u8", copy=False).tobytes()


def cohort_of(key: bytes, mechanism: Memoized, person: str) -> int:
    """The cohort of a person: uniform for a random key, the same for all their values and reports.

    A person in two cohorts would have two responses of one value.
    """
    return (
        int.from_bytes(_hash_with_key(key, b"cohort", _text(person))[:16], "little")
        % mechanism.cohorts
    )


def _hash_with_key(key: bytes, purpose: bytes, *parts: bytes) -> bytes:
    """A keyed hash of ``parts``, each with its length, that serves one purpose only."""
    message = b"".join(len(part).to_bytes(8, "little") + part for part in (purpose, *parts))
    return hmac.digest(key, message, "sha256")


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _draw_coins(threshold: int, like: Rows, chance: Chance) -> Rows:
    """Rows of that shape whose bits are one with probability threshold / 2^64, 0 and 1 included."""
    if threshold in (0, SCALE):
        return np.full_like(like, 0xFF if threshold else 0)
    return coin_rows(chance, threshold, like)
