"""Words found by prefix extension: recall, no ghosts, one promise for all rounds."""

import numpy as np
import pytest

from examples.english import LETTERS, english
from mixtally.accounting.budget import compose
from mixtally.errors import DataError, ParameterError
from mixtally.lab.simulation.heavy import Participation, Search, design_search, find_words, rounds
from mixtally.lab.simulation.heavy.facts import score_words
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.guarantee import Guarantee
from mixtally.protocol.encode.spelling import Spelling
from mixtally.protocol.estimate.conclude import extensions
from mixtally.protocol.estimate.conclude.extensions import population_error

PROMISED = Guarantee(epsilon=1.0, delta=1e-6)
USERS, TOP = 20_000, 5
SPELLING = Spelling(LETTERS)


@pytest.fixture(scope="module")
def crowd():
    """Twenty thousand people with an English word each, of 5,000."""
    return english(USERS, 5_000, SeededChance(1))


@pytest.fixture(scope="module")
def designs():
    """Both ways of searching that crowd."""
    search = Search(guarantee=PROMISED, users=USERS, top=TOP, rounds=5, spelling=SPELLING)
    return {way: design_search(search, way) for way in Participation}


def found_in(designs, crowd, way, seed=2):
    return find_words(designs[way], crowd.question.labels, crowd.codes, Lab(SeededChance(seed)))


def scored(result, crowd):
    words = [one.word for one in result.words]
    held = dict(zip(crowd.question.labels, crowd.truth.tolist(), strict=True))
    return score_words(words, held, result.design.search.top)


def missed(result, crowd):
    """Words found whose interval does not hold the truth."""
    truth = dict(zip(crowd.question.labels, crowd.truth.tolist(), strict=True))
    return [
        f
        for f in result.words
        if not f.lower_simultaneous <= truth.get(f.word, 0) <= f.upper_simultaneous
    ]


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("way", "recall"), [(Participation.EVERY_ROUND, 1.0), (Participation.ONE_ROUND, 0.4)]
)
def test_frequent_words_are_found_and_no_others(designs, crowd, way, recall):
    """False alarm: none, the seed is fixed; over seeds a ghost or a miss has chance 0.05 each."""
    result = found_in(designs, crowd, way)
    quality = scored(result, crowd)
    assert quality.recall >= recall
    assert (quality.false_positives, result.unreadable, missed(result, crowd)) == (0, 0, [])
    assert all(f.lower_simultaneous <= f.count <= f.upper_simultaneous for f in result.words)


@pytest.mark.seconds
@pytest.mark.parametrize("mix_fakes", [False, True])
def test_the_least_count_is_where_words_begin_to_be_found(crowd, mix_fakes):
    """False alarm: none, the seed is fixed; a count passes the threshold exactly if it is found."""
    search = Search(
        guarantee=PROMISED, users=USERS, top=TOP, rounds=5, spelling=SPELLING, mix_fakes=mix_fakes
    )
    for way in Participation:
        planned = design_search(search, way)
        result = find_words(planned, crowd.question.labels, crowd.codes, Lab(SeededChance(2)))
        counts = [one.count for one in result.words]
        assert 0.95 * planned.least_count <= min(counts)
        (part,) = planned.plan.parts
        mean = planned.people_a_round * part.mean_sent + planned.plan.hops * part.mean_added
        assert abs(result.rounds[0].messages / mean - 1) < 0.01


def test_a_threshold_of_zero_finds_ghosts(designs, crowd, monkeypatch):
    monkeypatch.setattr(extensions, "least_significant", lambda *_: 0)
    result = found_in(designs, crowd, Participation.EVERY_ROUND)
    assert scored(result, crowd).false_positives + result.unreadable > 10


def test_forgotten_fakes_are_found_out_by_the_truth(designs, crowd, monkeypatch):
    kind = type(designs[Participation.EVERY_ROUND].plan.parts[0].mechanism(fakes=1, crowd=9))
    monkeypatch.setattr(kind, "offset", lambda *_: 0.0)
    truth = dict(zip(crowd.question.labels, crowd.truth.tolist(), strict=True))
    found = found_in(designs, crowd, Participation.EVERY_ROUND).words
    assert len(found) > 3
    assert all(one.count > truth[one.word] + 4 * one.standard_error for one in found)


@pytest.mark.seconds
def test_estimates_err_as_stated(designs, crowd):
    """False alarm: below 1e-6: a root mean square of errors is five of its own errors too large."""
    truth = dict(zip(crowd.question.labels, crowd.truth.tolist(), strict=True))
    for way in Participation:
        off = [
            (one.count - truth[one.word]) / one.standard_error
            for seed in range(20, 28)  # not the crowd's own: the deal would follow its words
            for one in found_in(designs, crowd, way, seed).top[:2]
        ]
        assert len(off) >= 8
        assert np.sqrt(np.mean(np.square(off))) < 1 + 5 / (2 * len(off)) ** 0.5


def test_all_rounds_together_keep_the_promise(designs):
    together, apart = designs[Participation.EVERY_ROUND], designs[Participation.ONE_ROUND]
    plan = together.plan
    exact = compose.delta_of([(plan, together.search.rounds)], 1.0)
    assert together.certificate.upper <= PROMISED.delta
    assert exact.upper <= together.certificate.upper * 1.01
    assert compose.delta_of([(plan, 1)], 0.7).upper < PROMISED.delta  # a round alone keeps more
    assert apart.certificate.upper == apart.plan.certificate.upper <= PROMISED.delta
    assert "exactly one round" in apart.certificate.assumption
    assert (together.plan.collections, apart.plan.collections) == (together.search.rounds, 1)


def test_a_search_that_forgets_to_compose_breaks_its_promise(designs):
    """The planted mistake: everybody in all rounds under the plan for one round."""
    plan = designs[Participation.ONE_ROUND].plan
    assert compose.delta_of([(plan, 5)], 1.0).lower >= plan.certificate.lower
    assert compose.upper_curve([(plan, 5)])(1.0) > 100 * PROMISED.delta


def test_every_round_uses_the_very_same_plan(designs, crowd, watch):
    seen = watch(rounds, "play")
    for way in Participation:
        seen.clear()
        result = found_in(designs, crowd, way)
        assert len({plan for plan, *_ in seen}) == 1
        assert all(codes.max() < result.design.search.bins for _, (codes,), *_ in seen)
        assert {len(codes) for _, (codes,), *_ in seen} == (
            {USERS} if way is Participation.EVERY_ROUND else {USERS // 5}
        )
        assert result.design.plan.fingerprint == designs[way].plan.fingerprint


def test_apart_nobody_is_asked_twice(designs):
    groups = list(
        rounds._deal_groups(designs[Participation.ONE_ROUND], np.arange(USERS), SeededChance(1))
    )
    assert sorted(np.concatenate(groups).tolist()) == list(range(USERS))
    assert sorted(groups[0].tolist()) != list(range(len(groups[0])))


def test_the_error_of_a_part_of_the_crowd_is_that_of_drawing_it():
    """Against the hypergeometric law by simulation; false alarm below 1e-6 (5 standard errors)."""
    users, asked, holders, runs = 1000, 200, 300, 2000
    keys = SeededChance(1).words(users * runs).reshape(runs, users)
    drawn = np.argsort(keys, axis=1)[:, :asked]
    counts = (drawn < holders).sum(axis=1) * users / asked
    stated = population_error(0.0, users, asked, holders / users)
    assert abs(counts.std() / stated - 1) < 5 / (2 * runs) ** 0.5
    assert population_error(3.0, users, users, 0.3) == 3.0


@pytest.mark.seconds
def test_the_way_of_less_error_is_chosen_and_said(designs):
    search = designs[Participation.EVERY_ROUND].search
    chosen = design_search(search)
    share = 0.1 / TOP
    assert chosen.participation is min(
        Participation, key=lambda way: designs[way].standard_error(share)
    )
    assert chosen.participation is Participation.EVERY_ROUND
    assert "Chosen by error" in chosen.reason
    assert (
        design_search(search, Participation.ONE_ROUND).messages_per_user < chosen.messages_per_user
    )


@pytest.mark.seconds
def test_one_word_that_everybody_holds_is_found():
    search = Search(guarantee=PROMISED, users=5000, top=1, rounds=4, keep=3, spelling=SPELLING)
    result = find_words(
        design_search(search), ("yes",), np.zeros(5000, dtype=np.int64), Lab(SeededChance(1))
    )
    assert [one.word for one in result.words] == ["yes"]
    assert result.words[0].lower_simultaneous <= 5000 <= result.words[0].upper_simultaneous
    assert len(result.rounds) == 4


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("top", "words"),
    [
        (3, ("orange", "plum", "lemon", "bananas")),
        (12, ("orange", "plum", "lemon", "bananas")),  # the most for which no prefix comes first
        (13, ("orange", "plum", "lemon", "bananas")),
        (1, ("x", "y", "z", "ab")),
    ],
)
def test_words_of_as_many_letters_as_rounds_are_found_and_no_longer_ones(top, words):
    """The last of them has a letter too many; its start, as long as the rounds, is no word."""
    search = Search(
        guarantee=PROMISED, users=26_000, top=top, rounds=len(words[0]), spelling=SPELLING
    )
    codes = np.repeat(np.arange(4), [9000, 6000, 5000, 6000])
    result = find_words(
        design_search(search, Participation.EVERY_ROUND), words, codes, Lab(SeededChance(1))
    )
    found = [one.word for one in result.words]
    assert (found, result.unreadable) == (list(words[:3]), 0)


@pytest.mark.seconds
def test_words_outside_the_alphabet_are_found_by_more_rounds():
    search = Search(
        guarantee=PROMISED,
        users=5000,
        top=2,
        rounds=10,
        keep=6,
        spelling=Spelling("0123456789abcd"),
    )
    codes = np.repeat([0, 1], [3000, 2000])
    result = find_words(design_search(search), ("é", "ÿa"), codes, Lab(SeededChance(1)))
    assert [one.word for one in result.words] == ["é", "ÿa"]


def test_it_stops_when_nothing_is_left_and_repeats_for_a_seed(designs, crowd):
    codes = np.repeat(np.arange(USERS // 2), 2)
    rare = tuple(f"w{i}" for i in range(USERS // 2))
    ended = find_words(designs[Participation.EVERY_ROUND], rare, codes, Lab(SeededChance(1)))
    assert len(ended.rounds) <= 5
    assert ended.words == ()  # words held by two people never appear
    again = [found_in(designs, crowd, Participation.EVERY_ROUND).words for _ in range(2)]
    assert again[0] == again[1] != found_in(designs, crowd, Participation.EVERY_ROUND, 3).words


def test_bad_input_is_refused(designs, crowd):
    planned = designs[Participation.EVERY_ROUND]
    with pytest.raises(ParameterError, match="crowd: expected the 20,000 people of the plan"):
        find_words(planned, ("a",), np.zeros(3, dtype=np.int64), Lab(SeededChance(1)))
    with pytest.raises(DataError, match="word 0: expected at least one character"):
        find_words(planned, ("",), np.zeros(USERS, dtype=np.int64), Lab(SeededChance(1)))
    for wrong, subject in [
        ({"top": 0}, "top"), ({"rounds": 0}, "rounds"), ({"rounds": 65}, "rounds"),
        ({"keep": 0}, "prefixes kept"), ({"error_rate": 0.0}, "false-positive rate"),
        ({"users": 1}, "users"),
    ]:  # fmt: skip
        with pytest.raises(ParameterError, match=f"^{subject}: expected"):
            Search(**{"guarantee": PROMISED, "users": USERS, **wrong})
    with pytest.raises(ParameterError, match="two people and two words"):
        english(1, 50, SeededChance(1))


def test_score_counts_ties_and_ghosts():
    held = {"a": 5, "b": 3, "c": 3, "d": 0}
    quality = score_words(["a", "c", "x"], held, 2)
    assert (quality.recall, quality.precision, quality.false_positives) == (1.0, 1.0, 1)
    quality = score_words(["d"], held, 2)
    assert (quality.recall, quality.precision, quality.false_positives) == (0.0, 0.0, 1)
    assert score_words([], {"a": 2, "b": 1}, 5).recall == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(("way", "recall"), [(None, 0.96), (Participation.ONE_ROUND, 0.9)])
def test_a_million_people_and_fifty_thousand_words(way, recall):
    """Recall of the true top 50 at (1, 1e-6) is at least 0.9; measured 1.00 and 0.98."""
    chance = SeededChance(1)
    crowd = english(1_000_000, 50_000, chance)
    search = Search(guarantee=PROMISED, users=1_000_000, top=50, rounds=10, spelling=SPELLING)
    planned = design_search(search, way)
    assert planned.certificate.upper <= 1e-6
    result = find_words(planned, crowd.question.labels, crowd.codes, Lab(chance))
    quality = scored(result, crowd)
    assert quality.recall >= recall
    assert quality.false_positives == 0
    assert missed(result, crowd) == []
