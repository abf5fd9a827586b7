"""Populations of the parts of a plan.

A plan can split a record into its bits or attributes. Each of them is then a *part*, with its own
question and its own stream of messages. ``run`` splits a population before a round, and
``counts_only`` splits counts.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.data.population import Population
from mixtally.model.question import Kind, Question
from mixtally.primitives.bits import spans
from mixtally.protocol.encode.bits import pack_vectors

_SPAN = 1 << 16
"""Number of people whose records are unpacked at a time."""


def split_population(population: Population, questions: Sequence[Question]) -> list[Population]:
    """Return one population for each of ``questions``, in this order.

    There is either one question, that of ``population``, or one for each bit or attribute. A bit
    that is sent without randomization has two bins: 0 for no, and 1 for yes. If all bits are sent
    as slots of one record, the question has two bins for each bit, and a record contains one of the
    two.
    """
    if is_sent_whole(population.question, questions):
        return [population]
    return [_split_part(population, i, question) for i, question in enumerate(questions)]


def is_sent_whole(question: Question, plan_questions: Sequence[Question]) -> bool:
    """Return whether a plan asks ``question`` itself, rather than one question for each part."""
    return len(plan_questions) == 1 and plan_questions[0].bins == question.bins


def _split_part(population: Population, index: int, question: Question) -> Population:
    own = population.question
    if own.kind is Kind.BITS and question.attributes is not None:
        return Population(question, _no_and_yes(_unpack_columns(population, 0, own.bins)))
    if own.attributes is None:
        bits = _unpack_columns(population, index, index + 1)
        if question.kind is Kind.ONE:
            return Population(question, bits[:, 0].astype(np.int64))
        return Population(question, pack_vectors(bits.tobytes(), 1))
    start = sum(own.attributes[:index])
    columns = _unpack_columns(population, start, start + own.attributes[index])
    # Each attribute has exactly one set bit, whose place is the bin.
    return Population(question, columns.argmax(axis=1).astype(np.int64))


def _no_and_yes(bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return packed records with one bin for each bit i: 2 i for a 0, and 2 i + 1 for a 1."""
    both = np.stack([1 - bits, bits], axis=2).reshape(len(bits), -1)
    return np.packbits(both, axis=1, bitorder="little")


def _unpack_columns(population: Population, first: int, last: int) -> NDArray[np.uint8]:
    """Return bits first..last-1 of each person, one per byte, shape (users, last - first)."""
    # Only the bytes that contain the requested bits are unpacked.
    low, high = first >> 3, -(-last >> 3)
    out = np.empty((population.users, last - first), dtype=np.uint8)
    for span in spans(population.users, _SPAN):
        rows = population.records[span, low:high].astype(np.uint8, copy=False)
        bits = np.unpackbits(rows, axis=1, bitorder="little")
        out[span] = bits[:, first - 8 * low : last - 8 * low]
    return out
