"""Pieces of work: the same results whoever does them, and processes only where they save time."""

import os

import numpy as np
import pytest

from mixtally.errors import DataError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.listed import Listed
from mixtally.model.mechanism import InClear, UniformFakes
from mixtally.model.planes import Planes
from mixtally.protocol.estimate import listed
from mixtally.protocol.estimate.listed import tally_of
from mixtally.server.engine.workers import Across
from reference.played import play

OVER = Planes(223, 3)
WORDS = Listed(("a", "b", "c", "d"), np.array([12, 400, 123_456, 888]))


def who(piece):
    return piece, os.getpid()


def killed(piece):
    if piece:
        os._exit(9)
    return piece


def test_pieces_are_worked_on_by_processes_and_come_in_order():
    told = []
    found = list(Across(2, "words", lambda *how: told.append(how), worth=0.0)(who, range(40)))
    assert [piece for piece, _ in found] == list(range(40))
    assert found[0][1] == os.getpid()
    assert os.getpid() not in {process for _, process in found[1:]}
    assert told == [("words", done, 40) for done in range(1, 41)]


@pytest.mark.parametrize(("processes", "worth"), [(1, 0.0), (2, 3600.0)])
def test_work_that_no_process_makes_faster_stays_here(processes, worth):
    found = list(Across(processes, "words", worth=worth)(who, range(40)))
    assert {process for _, process in found} == {os.getpid()}


def test_a_killed_process_is_refused_in_words():
    with pytest.raises(DataError, match="one that was killed"):
        list(Across(2, "words", worth=0.0)(killed, range(4)))


def test_listed_words_are_counted_alike_in_one_piece_and_by_processes(monkeypatch):
    made = InClear(bins=OVER.points, fakes=UniformFakes(900), planes=OVER)
    tally = play(made, np.repeat(WORDS.lines, (2000, 900, 500, 100)), SeededChance(7))
    whole, squares = tally_of(OVER, tally, WORDS)
    monkeypatch.setattr(listed, "_PRODUCTS", 1)  # pieces of as few messages as there may be
    pieces = []
    across = Across(2, "words", lambda *how: pieces.append(how[-1]), worth=0.0)
    shared, sum_of_squares = tally_of(OVER, tally, WORDS, across=across)
    assert pieces == [len(pieces)] * len(pieces)
    assert len(pieces) > 2
    assert shared.counts.tolist() == whole.counts.tolist()
    assert (shared.messages, sum_of_squares) == (whole.messages, squares)
