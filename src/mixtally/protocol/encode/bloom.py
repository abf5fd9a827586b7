"""Values of an open domain: a Bloom filter of h hashed bits, hashed differently in every cohort.

The hashes are public and the same everywhere: 64-bit pieces of BLAKE2b of the value, personalized
by the cohort and keyed by the question's name, modulo the number of bits (a bias below bits/2^64).
Two hashes of one value may meet in one bit.

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

MOST_CELLS = 10_000_000
_PIECES = 8
"""64-bit pieces in one digest."""


def hash_positions(plan: MemoizedPlan, cohort: int, value: str) -> list[int]:
    """The bits that ``value`` sets in ``cohort``, one a hash; some may coincide."""
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
    """One record a value, hashed in the cohort beside it, shape (values, row bytes)."""
    mechanism = plan.mechanism
    rows = mechanism.layout.blank_rows(len(values))
    known: dict[tuple[int, str], Rows] = {}
    for place, pair in enumerate(zip(cohorts, values, strict=True)):
        if pair not in known:
            known[pair] = _row(mechanism, hash_positions(plan, *pair))
        rows[place] = known[pair]
    return rows


def _row(mechanism: Memoized, places: Sequence[int]) -> Rows:
    row = bytearray(mechanism.layout.message_bytes)
    for place in places:
        row[place >> 3] |= 1 << (place & 7)
    return np.frombuffer(row, dtype=np.uint8)


def check_design(mechanism: Memoized, words: Sequence[str]) -> None:
    """Raises ParameterError when there is no word, or no room for so many."""
    cells = mechanism.cohorts * mechanism.bins * len(words)
    if not 1 <= cells <= MOST_CELLS:
        raise ParameterError(
            "candidates",
            expected=f"1 to {MOST_CELLS:,} cells (words x bits x cohorts)",
            got=f"{len(words):,} x {mechanism.bins:,} x {mechanism.cohorts:,}",
            do="look for fewer words, or hash into fewer bits or cohorts",
        )


def build_design(plan: MemoizedPlan, words: Sequence[str]) -> NDArray[np.bool_]:
    """Which bits every word sets in every cohort, shape (cohorts, bits, words).

    Raises ParameterError as ``check_design`` does.
    """
    check_design(plan.mechanism, words)
    cohorts = plan.mechanism.cohorts
    table = np.zeros((cohorts, plan.mechanism.bins, len(words)), dtype=np.bool_)
    for cohort in range(cohorts):
        for column, word in enumerate(words):
            table[cohort, hash_positions(plan, cohort, word), column] = True
    return table
