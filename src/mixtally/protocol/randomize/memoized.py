"""Memoized randomized response: the response that a device derives from its key, and its reports.

The *response* is the permanent randomized response of RAPPOR, and a *report* is its instantaneous
one. ``lab.memoization`` calls this module for a device, and the simulation calls it for a crowd. An
observer could average two independent responses to one value. So a device derives its response from
its key, and always derives the same one. The response itself is not stored.

    seed    HMAC-SHA256(key, purpose "response", memory, person, value), each with its length
    words   SHAKE256(seed), 8 little-endian bytes for each bit
    bit i   the true bit, flipped if words[i] < f/2 * 2^64

*Memory* is the fingerprint of the question, the encoder and f, the probability that a stored bit is
a fair coin. If one of them changes, the response is a new one, and its privacy loss is added to
that of the old one. The memory does not depend on p and q, the probabilities with which a memoized
0 and 1 are reported as 1, because p and q affect only the reports.

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

# Bytes of a device's key, of the random word for one bit, and of the words derived at a time.
KEY_BYTES = 32
_WORD_BYTES = 8
_SPAN_BYTES = 1 << 22


def draw_permanent_response(mechanism: Memoized, records: Rows, chance: Chance) -> Rows:
    """Draw a memoized response to each record: every bit is wrong with probability f/2.

    The simulation calls this function for a crowd that reports in one run. A device must use
    ``derive_response`` instead, because independent responses could be averaged.

    Parameters
    ----------
    mechanism : Memoized
        The mechanism with f.
    records : Rows
        Packed bits of shape (people, row bytes).
    chance : Chance
        The source of randomness.
    """
    return flip(records, mechanism.bins, mechanism.permanent // 2, chance)


def derive_response(
    plan: MemoizedPlan, key: bytes, persons: Sequence[str], values: Sequence[str], records: Rows
) -> Rows:
    """Derive the memoized response of every person.

    The same plan, key, person and value always yield the same response.

    Parameters
    ----------
    plan : MemoizedPlan
        The plan, with the question and the mechanism.
    key : bytes
        The key of the device, 32 bytes.
    persons, values : sequence of str
        The identifier of each person who uses the device, and the person's value.
    records : Rows
        The true records, shape (persons, row bytes).

    Returns
    -------
    Rows
        The responses, shape as ``records``.
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
    """Return the fingerprint of question, encoder and f, as 64 hexadecimal digits.

    Responses under different fingerprints are independent.
    """
    # With fixed p and q, the fingerprint does not depend on the p and q of the plan.
    certain = replace(plan.mechanism, p=0, q=SCALE)
    return fingerprint(replace(plan, mechanism=certain))


def draw_reports(mechanism: Memoized, responses: Rows, chance: Chance) -> Rows:
    """Draw one report of each memoized response.

    Parameters
    ----------
    mechanism : Memoized
        The mechanism: a stored 1 is reported as 1 with probability q, a stored 0 with p.
    responses : Rows
        The memoized responses, packed bits of shape (people, row bytes).
    chance : Chance
        The source of randomness.
    """
    zeros, ones = (
        _draw_coins(threshold, responses, chance) for threshold in (mechanism.p, mechanism.q)
    )
    reported = (responses & ones) | (~responses & zeros)
    if mechanism.bins % 8:
        # Coins are drawn for whole bytes, so bits beyond the last bin are cleared.
        reported[:, -1] &= (1 << mechanism.bins % 8) - 1
    return reported


def new_key(chance: Chance) -> bytes:
    """Draw a device's key for its responses and its cohort, 32 bytes."""
    return chance.words(KEY_BYTES // 8).astype("<u8", copy=False).tobytes()


def cohort_of(key: bytes, mechanism: Memoized, person: str) -> int:
    """Return the number of the cohort of a person, which is uniform if the key is random.

    A cohort is a group of people who use the same hashes. The cohort of a person is the same for
    all values and reports. In two cohorts a person would have two independent responses to one
    value.

    Parameters
    ----------
    key : bytes
        The key of the device, 32 bytes.
    mechanism : Memoized
        The mechanism with its number of cohorts.
    person : str
        The identifier of a person who shares the device.
    """
    return (
        int.from_bytes(_hash_with_key(key, b"cohort", _text(person))[:16], "little")
        % mechanism.cohorts
    )


def _hash_with_key(key: bytes, purpose: bytes, *parts: bytes) -> bytes:
    """Return a keyed hash of ``parts``, each with its length, for one purpose."""
    message = b"".join(len(part).to_bytes(8, "little") + part for part in (purpose, *parts))
    return hmac.digest(key, message, "sha256")


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _draw_coins(threshold: int, like: Rows, chance: Chance) -> Rows:
    """Draw rows in the shape of ``like`` whose bits are 1 with probability threshold / 2^64."""
    # A threshold of 2^64 does not fit in the words that are compared.
    if threshold in (0, SCALE):
        return np.full_like(like, 0xFF if threshold else 0)
    return coin_rows(chance, threshold, like)
