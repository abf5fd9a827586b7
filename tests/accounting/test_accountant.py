"""An accountant computes every number once; two share nothing, and what one holds is bounded."""

from functools import partial

import pytest

from helpers.named import clear_uniform, flip, flip_bits, flip_blank, flip_uniform, single_bit
from helpers.sampled import among
from mixtally.accounting.accountant import Accountant, Record, count_messages, local_epsilon
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.composition.pld import CLOSE, FINE, ROUGH
from mixtally.accounting.divergence import Bound, ObservedMessage, bit_flips, in_clear
from mixtally.accounting.divergence.registry import divergence_of
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.errors import ParameterError
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import Parameter
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo

Q = SCALE // 12
BLANK = flip_blank(bins=5, fakes=900, threshold=Q)
CLEAR = clear_uniform(bins=9, fakes=900)
ONCE = Record.of(CLEAR)
RECORDS = {
    "blank": Record.of(BLANK),
    "clear": ONCE,
    "three rounds": Record.of(clear_uniform(bins=9, fakes=900, repeats=3)),
    "two pieces": Record.of(CLEAR, pieces=2),
    "sums": Record.of(flip(bins=9, threshold=Q, crowd=500, max_set=2), Observer.SUMS),
    "set": Record.of(flip_blank(bins=9, fakes=900, threshold=Q, max_set=2)),
}


@pytest.fixture
def asked(plant):
    """Everything that divergences are asked, as it is asked: (function, message, epsilon, ..)."""
    seen = []

    def counted(name, honest, message, epsilons, *more, **named):
        at = tuple(epsilons) if name == "upper" else epsilons
        seen.append((name, message, at, *more[:-1], *named.values()))
        return honest(message, epsilons, *more, **named)

    for file in (bit_flips, in_clear):
        for name in ("delta", "upper"):
            plant(file, name, partial(counted, name))
    return seen


def outer(seen, own):
    """What accountants asked: one function of a divergence may call another of its own."""
    return [question for question in seen if question[0] == own]


@pytest.mark.parametrize("name", RECORDS)
def test_the_same_question_is_asked_of_a_divergence_once(asked, name):
    accountant, record = Accountant(), RECORDS[name]
    first = [
        accountant.delta(record, 1.0),
        accountant.upper(record, 1.0),
        accountant.upper(record, 1.0, proved=False),
        accountant.distance(record),
        accountant.certificate(record, 1.0),
    ]
    count = len(asked)
    assert count > 0
    again = [
        accountant.delta(record, 1.0),
        accountant.upper(record, 1.0),
        accountant.upper(record, 1.0, proved=False),
        accountant.distance(record),
        accountant.certificate(record, 1.0),
    ]
    assert again == first
    assert len(asked) == count


def test_a_composition_of_more_rounds_looks_at_no_epsilon_twice(asked):
    accountant = Accountant()
    accountant.upper(ONCE, 1.0, 3)
    accountant.upper(ONCE, 1.0, 4)
    accountant.losses(ONCE, CLOSE)
    looked = outer(asked, "upper")
    assert len(looked) == len(set(looked)) > 10


def test_two_accountants_share_nothing(asked):
    first = Accountant().upper(ONCE, 1.0, 2)
    count = len(asked)
    assert Accountant().upper(ONCE, 1.0, 2) == first
    assert len(asked) == 2 * count
    assert not [name for name in dir(Accountant) if "memo" in name]


def test_what_one_accountant_was_told_wrongly_another_does_not_know(monkeypatch):
    honest = Accountant().certificate(Record.of(CLEAR), 1.0)
    with monkeypatch.context() as planted:
        planted.setattr(
            in_clear, "delta", lambda *_, **__: honest_quote()._replace(bounds=Bracket(0.0, 0.5))
        )
        misled = Accountant()
        assert misled.delta(ONCE, 1.0).bounds.upper == 0.5
    assert misled.delta(ONCE, 1.0).bounds.upper == 0.5
    assert Accountant().certificate(Record.of(CLEAR), 1.0) == honest
    assert misled.certificate(Record.of(CLEAR), 1.0).upper == 0.5


def honest_quote():
    return divergence_of(ObservedMessage(BLANK)).delta(ObservedMessage(BLANK), 1.0, Memo(0))


@pytest.mark.parametrize(
    "other",
    [
        Record.of(clear_uniform(bins=9, fakes=901)),
        Record.of(clear_uniform(bins=8, fakes=900)),
        Record.of(clear_uniform(bins=9, fakes=900, repeats=2)),
        Record.of(CLEAR, pieces=2),
    ],
)
def test_another_record_is_another_question(other):
    accountant = Accountant()
    here, there = accountant.upper(ONCE, 1.0), accountant.upper(other, 1.0)
    assert here != there
    assert (here, there) == (Accountant().upper(ONCE, 1.0), Accountant().upper(other, 1.0))


def test_what_is_proved_and_what_is_expected_are_remembered_apart():
    """Of a single bit that tells next to nothing they differ."""
    record = Record.of(single_bit(fakes=0, threshold=SCALE // 3, crowd=50))
    own = divergence_of(record.message)
    found = {
        bound is Bound.EXACT: own.upper(record.message, [1.0], bound, Memo(0))[0]
        for bound in (Bound.EXACT, Bound.EXPECTED)
    }
    assert found[True] < found[False]
    for order in ((True, False), (False, True)):
        accountant = Accountant()
        assert {proved: accountant.upper(record, 1.0, proved=proved) for proved in order} == found


def test_proved_and_expected_compositions_are_remembered_apart():
    """The one is of many points, the other of few."""
    found = {proved: Accountant().upper(ONCE, 1.0, 4, proved=proved) for proved in (True, False)}
    assert found[True] < found[False]
    for order in ((True, False), (False, True)):
        accountant = Accountant()
        assert {proved: accountant.upper(ONCE, 1.0, 4, proved=proved) for proved in order} == found


def test_so_many_collections_are_remembered_apart_from_more():
    accountant, alone = Accountant(), {}
    for collections in (1, 3, 2, 5):
        alone[collections] = Accountant().upper(ONCE, 1.0, collections)
        assert accountant.upper(ONCE, 1.0, collections) == alone[collections]
    assert alone[1] < alone[2] < alone[3] < alone[5]


def test_observers_others_and_tightness_are_remembered_apart():
    accountant, mechanism = Accountant(), flip(bins=9, threshold=Q, crowd=300)
    messages, sums = (
        accountant.upper(Record.of(mechanism, observer), 1.0)
        for observer in (Observer.MESSAGES, Observer.SUMS)
    )
    assert sums < messages
    bits = flip_bits(bins=3, threshold=Q, crowd=300)
    zeros = Record(ObservedMessage(bits, others=0))
    assert accountant.upper(zeros, 1.0) < accountant.upper(Record.of(bits), 1.0)
    sizes = [
        len(accountant.losses(ONCE, tightness)[0].places)
        for tightness in (FINE, CLOSE, ROUGH, CLOSE.adapt_to_delta(1e-3, 2))
    ]
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[1] > sizes[3]


def test_a_note_is_told_and_no_part_of_a_number():
    accountant = Accountant()
    plain, noted = ONCE, Record(ONCE.message, note="; told besides")
    one, other = accountant.delta(plain, 1.0), accountant.delta(noted, 1.0)
    assert other == one._replace(assumption=one.assumption + "; told besides")
    assert accountant.delta(plain, 1.0) == one


@pytest.mark.parametrize("pieces", [1, 3])
def test_a_note_stays_with_a_record_that_is_composed_or_calibrated(pieces):
    accountant, noted = Accountant(), Record(ONCE.message, pieces, "; told besides")
    assert accountant.delta(noted, 1.0).assumption.count("; told besides") == 1
    found = calibrate(accountant, noted, Parameter.FAKES, 1.0, 1e-6)
    assert (found.note, found.pieces) == ("; told besides", pieces)
    assert "; told besides" in accountant.certificate(found, 1.0).assumption


def test_an_accountant_that_may_hold_next_to_nothing_finds_the_same(asked):
    plenty = Accountant().upper(ONCE, 1.0, 3)
    once = len(asked)
    forgetful = Accountant(most_bytes=1)
    assert forgetful.upper(ONCE, 1.0, 3) == plenty
    forgetful.upper(ONCE, 2.0)  # the one result that it holds is another now
    assert forgetful.upper(ONCE, 1.0, 3) == plenty
    assert len(asked) > 2 * once
    assert len(forgetful._memo._entries) == 1


def test_all_that_an_accountant_holds_stays_below_its_bound():
    most = 300_000
    accountant = Accountant(most)
    for fakes in range(500, 900, 50):
        record = Record.of(clear_uniform(bins=9, fakes=fakes))
        accountant.upper(record, 1.0, 3)
        accountant.losses(record, CLOSE)
        assert 0 < accountant._memo._bytes <= most


@pytest.mark.parametrize("epsilon", [0.0, 0.009, 20.1, float("nan"), float("inf"), -1.0])
def test_a_certificate_outside_the_range_of_epsilon_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        Accountant().certificate(ONCE, epsilon)


@pytest.mark.parametrize(
    ("record", "count"),
    [
        (Record.of(BLANK), 1),
        (Record.of(flip_blank(bins=5, fakes=9, threshold=Q, repeats=4)), 1),
        (Record.of(flip_blank(bins=5, fakes=9, threshold=Q, repeats=4, max_set=2)), 4),
        (Record.of(flip_blank(bins=5, fakes=9, threshold=Q, repeats=4, crowd=9)), 4),
        (Record.of(flip_uniform(bins=5, fakes=9, threshold=Q, repeats=4)), 4),
        (Record.of(clear_uniform(bins=5, fakes=9, repeats=4), pieces=3), 12),
        (Record.of(single_bit(fakes=9, threshold=Q, crowd=9, repeats=4), pieces=3), 3),
        (Record.of(flip_bits(bins=5, threshold=Q, crowd=9, repeats=4)), 4),
        (Record.of(flip_bits(bins=5, threshold=Q, crowd=9, repeats=4), Observer.SUMS), 5),
        (Record.of(flip(bins=5, threshold=Q, crowd=9), Observer.SUMS), 1),
        (Record.of(flip(bins=5, threshold=Q, crowd=9, repeats=4), Observer.SUMS), 2),
        (Record.of(flip(bins=5, threshold=Q, crowd=9, max_set=3), Observer.SUMS), 6),
    ],
)
def test_so_many_messages_are_seen_each_on_its_own(record, count):
    assert count_messages(record) == count


def test_the_local_epsilon_counts_every_bit_that_can_differ():
    for record in RECORDS.values():
        mechanism = record.message.mechanism
        assert local_epsilon(record) == pytest.approx(record.pieces * mechanism.local_epsilon)


def test_a_calibration_asks_no_divergence_the_same_twice(asked):
    accountant = Accountant()
    calibrate(accountant, Record.of(CLEAR), Parameter.FAKES, 1.0, 1e-6, collections=3)
    looked = outer(asked, "upper")
    assert len(looked) == len(set(looked)) > 20


@pytest.mark.parametrize("name", among(RECORDS, ["clear", "two pieces", "set"]))
def test_another_epsilon_is_another_question(name):
    accountant, record = Accountant(), RECORDS[name]
    for epsilon in (1.0, 0.5, 2.0):
        assert accountant.delta(record, epsilon) == Accountant().delta(record, epsilon)
        likely, again = (
            one.upper(record, epsilon, proved=False) for one in (accountant, Accountant())
        )
        assert likely == again
