"""Bloom filters for values of an open domain, hashed differently in every cohort.

Memoized collections of texts (``lab.memoization``) call this module on the device, and the
estimator calls it for candidate words. A value sets at most h bits, one for each hash. The hashes
are public and the same everywhere. Each is a 64-bit piece of BLAKE2b of the value, reduced modulo
the number of bits, with a bias below bits/2^64. The digest is personalized by the cohort and keyed
by the name of the question. Two hashes of one value may give the same bit.

Source: RAPPOR (2014), sections 2 and 5.3.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.model.mechanism import Memoized
from mixtally.model.memoized_plan import MemoizedPlan
from mixtally.primitives.bits import Rows

# The maximum size of a design in cells: words x bits x cohorts. A cell takes one byte.
MOST_CELLS = 10_000_000
_PIECES = 8
"""The number of 64-bit pieces in one digest."""


def hash_positions(plan: MemoizedPlan, cohort: int, value: str) -> list[int]:
    """Return for each hash the number of the bit that ``value`` sets in ``cohort``.

    Two hashes may give the same bit.
    """
    mechanism = plan.mechanism
    key = hashlib.blake2b(plan.question.name.encode("utf-8"), digest_size=32).digest()
    person = b"mixtally" + cohort.to_bytes(8, "little")
    found: list[int] = []
    for block in range(-(-mechanism.hashes // _PIECES)):
        digest = hashlib.blake2b(
            value.encode("utf-8"), key=key, person=person, salt=block.to_bytes(16, "little")
        ).digest()
        pieces = (digest[start : start + 8] for start in range(0, 64, 8))
        found += [int.from_bytes(piece, "little") % mechanism.bins for piece in pieces]
    return found[: mechanism.hashes]


def encode_bloom(plan: MemoizedPlan, cohorts: Sequence[int], values: Sequence[str]) -> Rows:
    """Encode each value in its cohort and return the records, shape (values, row bytes).

    Parameters
    ----------
    plan : MemoizedPlan
        The plan, with its hash.
    cohorts : sequence of int
        The cohort of each value.
    values : sequence of str
        The values of people.
    """
    mechanism = plan.mechanism
    rows = mechanism.layout.blank_rows(len(values))
    known: dict[tuple[int, str], Rows] = {}
    for place, pair in enumerate(zip(cohorts, values, strict=True)):
        if pair not in known:
            known[pair] = _row(mechanism, hash_positions(plan, *pair))
        rows[place] = known[pair]
    return rows


def _row(mechanism: Memoized, places: Sequence[int]) -> Rows:
    """Return one packed record with the bits in ``places`` set."""
    row = bytearray(mechanism.layout.message_bytes)
    for place in places:
        row[place >> 3] |= 1 << (place & 7)
    return np.frombuffer(row, dtype=np.uint8)


def check_design(mechanism: Memoized, words: Sequence[str]) -> None:
    """Raise ParameterError if there are no words, or if their design is too large.

    The design (``build_design``) has one cell for each cohort, bit and word, and may have at most
    ``MOST_CELLS`` cells.

    Parameters
    ----------
    mechanism : Memoized
        The mechanism, with its bits and cohorts.
    words : sequence of str
        The candidate words.
    """
    cells = mechanism.cohorts * mechanism.bins * len(words)
    if not 1 <= cells <= MOST_CELLS:
        raise ParameterError(
            "candidates",
            expected=f"1 to {MOST_CELLS:,} cells (words x bits x cohorts)",
            got=f"{len(words):,} x {mechanism.bins:,} x {mechanism.cohorts:,}",
            do="look for fewer words, or hash into fewer bits or cohorts",
        )


def build_design(plan: MemoizedPlan, words: Sequence[str]) -> NDArray[np.bool_]:
    """Return for each cohort, bit and word whether the word sets the bit in the cohort.

    The result, called the *design*, has shape (cohorts, bits, words). Raises ParameterError
    as ``check_design`` does.

    Parameters
    ----------
    plan : MemoizedPlan
        The plan, with its hash.
    words : sequence of str
        The candidate words.
    """
    check_design(plan.mechanism, words)
    cohorts = plan.mechanism.cohorts
    table = np.zeros((cohorts, plan.mechanism.bins, len(words)), dtype=np.bool_)
    for cohort in range(cohorts):
        for column, word in enumerate(words):
            table[cohort, hash_positions(plan, cohort, word), column] = True
    return table
