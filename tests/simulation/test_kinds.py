"""Records of every kind, whole and split, played and put side by side."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace

from helpers.contracts import flipped, plan_of, proved, uniform
from helpers.sampled import among
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms
from mixtally.errors import DataError, InfeasibleError, MessageError, ParameterError, PlanError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation import plan_choice
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.parts import split_population
from mixtally.lab.simulation.rounding import round_crowd
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.truth import truth_of
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.encodings import list_encodings
from mixtally.model.guarantee import Guarantee, Observer
from mixtally.model.layout import Form, Layout
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.planning import Planner, PlanRequest
from mixtally.planning.rounding_grid import round_to_grid
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.encode.bits import pack_vectors
from mixtally.protocol.encode.numbers import Points
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.randomize import randomize_records
from oracle import Collection, exp_exactly, flips, worst

USERS = 4000
GUARANTEE = Guarantee(epsilon=2.0, delta=1e-6)


def table(columns, seed=1):
    return (SeededChance(seed).words(USERS * columns) < np.uint64(1 << 62)).astype(np.uint8)


def bits_crowd(columns):
    question = Question(name="q", bins=columns, kind=Kind.BITS)
    return Population(question, pack_vectors(table(columns).tobytes(), columns))


def attribute_crowd(sizes=(3, 2)):
    words = SeededChance(2).words(USERS * len(sizes)).reshape(USERS, -1)
    held = np.zeros((USERS, sum(sizes)), dtype=np.uint8)
    start = 0
    for i, size in enumerate(sizes):
        held[np.arange(USERS), start + (words[:, i] % np.uint64(size)).astype(int)] = 1
        start += size
    return Population(
        make_attributes_question("q", sizes), pack_vectors(held.tobytes(), sum(sizes))
    )


def wish(crowd, **more):
    return PlanRequest(question=crowd.question, guarantee=GUARANTEE, users=USERS, **more)


@cache
def planned(name):
    crowd, more = CASES[name]
    return plan_choice.choose_plan(wish(crowd, **more))[0]


def play_plan(crowd, plan, **asked):
    return simulate_release(plan, crowd, Lab(SeededChance(3)), Analysis(**asked)).result


CASES = {
    "one bit": (bits_crowd(1), {"protocol": "single-bit"}),
    "one bit in clear": (bits_crowd(1), {}),
    "bits whole": (bits_crowd(3), {"protocol": "flip", "messages_per_user": 1}),
    "bits split": (bits_crowd(5), {"protocol": "single-bit", "messages_per_user": 6}),
    "bits split in clear": (bits_crowd(5), {"messages_per_user": 8}),
    "bits split, shaped": (bits_crowd(5), {"messages_per_user": 8, "mix_fakes": True}),
    "attributes whole": (attribute_crowd(), {"protocol": "flip-blank", "messages_per_user": 2}),
    "attributes split": (attribute_crowd(), {"messages_per_user": 8}),
    "attributes split, shaped": (attribute_crowd(), {"messages_per_user": 8, "mix_fakes": True}),
}
ATTRIBUTES = ("attributes whole", "attributes split")
QUICK = ("one bit", "one bit in clear", "bits whole", "bits split", "attributes whole")


@pytest.mark.seconds
@pytest.mark.parametrize("name", CASES)
def test_every_way_to_send_a_record_is_counted_in_the_questions_order(name):
    """False alarm below 10^-5: five bins at most, within six standard errors and intervals."""
    crowd, plan = CASES[name][0], planned(name)
    assert ("split" in name) == (len(plan.parts) > 1)
    found = play_plan(crowd, plan, level=1 - 1e-7)
    assert len(found.estimate.counts) == crowd.question.bins == len(found.estimate.individual.lower)
    errors = [found.estimate.error_of(i) for i in range(crowd.question.bins)]
    assert np.abs((found.estimate.counts - crowd.truth) / errors).max() < 6
    assert (found.estimate.simultaneous.lower <= crowd.truth).all()
    assert (crowd.truth <= found.estimate.simultaneous.upper).all()
    assert found.certificate == plan.certificate
    assert found.certificate.upper <= GUARANTEE.delta


@pytest.mark.seconds
def test_the_twin_with_parts_in_another_order_is_caught(monkeypatch):
    bits = table(5).reshape(-1, 5) * np.array([1, 1, 0, 0, 0], dtype=np.uint8)
    lopsided = Population(bits_crowd(5).question, pack_vectors(bits.tobytes(), 5))
    plan = planned("bits split in clear")
    monkeypatch.setattr(
        "mixtally.lab.simulation.run.split_population", lambda crowd,
            asked: split_population(crowd, asked)[::-1]
    )  # fmt: skip
    found = play_plan(lopsided, plan)
    assert np.abs(found.estimate.counts - lopsided.truth).max() > 500


@pytest.mark.seconds
def test_intervals_of_parts_hold_over_all_bins_of_the_record():
    crowd, plan = CASES["bits split in clear"][0], planned("bits split in clear")
    whole = play_plan(crowd, plan).estimate
    alone = bits_crowd(1)
    own = play_plan(alone, plan_choice.choose_plan(wish(alone))[0]).estimate
    assert (whole.simultaneous.upper - whole.simultaneous.lower).min() > (
        whole.individual.upper - whole.individual.lower
    ).max()
    assert (own.simultaneous.upper == own.individual.upper).all()  # one bin is all bins


def test_attributes_of_different_sizes_have_errors_of_their_own():
    crowd = attribute_crowd((9, 2))
    plan, _ = plan_choice.choose_plan(wish(crowd, messages_per_user=8, protocol="clear-uniform"))
    found = play_plan(crowd, plan).estimate
    assert found.error_of(0) != found.error_of(10)
    assert found.standard_error == max(found.error_of(0), found.error_of(10))


@pytest.mark.parametrize("name", among(ATTRIBUTES, ["attributes whole"]))
def test_every_attribute_is_projected_to_the_crowd(name):
    found = play_plan(CASES[name][0], planned(name), projection="simplex").estimate
    assert found.projected[:3].sum() == pytest.approx(USERS)
    assert found.projected[3:].sum() == pytest.approx(USERS)


def test_counts_without_a_known_sum_are_not_projected():
    with pytest.raises(ParameterError, match="counts that add up"):
        play_plan(CASES["bits whole"][0], planned("bits whole"), projection="simplex")


def test_vectors_are_sent_as_often_as_asked():
    crowd = bits_crowd(2)
    plan, reason = plan_choice.choose_plan(wish(crowd, messages_per_user=3), repeats=3)
    assert plan.parts[0].repeats == 3
    assert "3 times" in reason
    assert play_plan(crowd, plan).messages == 3 * USERS


@pytest.mark.parametrize(
    ("crowd", "more", "repeats", "said"),
    [
        (bits_crowd(5), {"protocol": "single-bit"}, 2, "repeats: expected vectors"),
        (attribute_crowd(), {}, 2, "repeats: expected vectors"),
        (bits_crowd(1), {}, 2, "repeats: expected vectors"),
        (bits_crowd(5), {"messages_per_user": 2}, 3, r"repeats: expected an integer in \[1, 2\]"),
        (bits_crowd(5), {}, 0, "repeats: expected an integer"),
    ],
)
def test_repeats_of_anything_else_are_refused(crowd, more, repeats, said):
    with pytest.raises(ParameterError, match=said):
        plan_choice.choose_plan(wish(crowd, **more), repeats=repeats)


def test_a_vector_too_long_for_its_crowd_is_infeasible():
    question, few = Question(name="q", bins=8, kind=Kind.BITS), Guarantee(epsilon=0.1, delta=1e-9)
    with pytest.raises(InfeasibleError, match="Flip needs more"):
        plan_choice.choose_plan(PlanRequest(question=question, guarantee=few, users=3), repeats=1)


@pytest.mark.seconds
def test_pairs_need_messages_that_carry_them():
    crowd = CASES["attributes whole"][0]
    plan, reason = plan_choice.choose_plan(wish(crowd, messages_per_user=8), pairs=True)
    assert (plan.protocol, len(plan.parts)) == ("flip-blank", 1)
    assert "so that pairs can be counted" in reason
    result = play_plan(crowd, plan, pairs=True)
    figures, *more = result.figures
    assert [one.name for one in more] == ["correlations"]
    assert (figures.name, len(figures.rows)) == ("pairs", 6)  # 3 x 2, none within an attribute
    for row, truth in zip(figures.rows, truth_of(crowd, result).figures["pairs"], strict=True):
        assert abs(row.estimate - truth) < 6 * row.standard_error
    with pytest.raises(ParameterError, match="are sent whole"):
        play_plan(crowd, planned("attributes split"), pairs=True)


def test_numbers_come_with_mean_and_quantiles():
    values = np.arange(USERS) / USERS
    none = np.zeros(USERS, dtype=np.int64)
    crowd = Population(Question(name="x", bins=2), none, values, note="None were clipped.")
    asked = round_to_grid(wish(crowd, mix_fakes=True), Points(0.0, 1.0), Planner())
    plan = plan_choice.choose_plan(asked)[0]
    crowd = round_crowd(crowd, plan, SeededChance(1))
    found = play_plan(crowd, plan)
    (figures,) = found.figures
    labels = [row.label for row in figures.rows]
    assert labels[:5] == ["mean", "sum", "second moment", "variance", "10 % quantile"]
    assert labels[-2:] == ["share at 0", "share at 1"]
    assert "None were clipped." not in figures.note  # which is published
    for row, truth in zip(figures.rows, truth_of(crowd, found).figures["numbers"], strict=True):
        assert row.lower <= truth <= row.upper


def test_plans_of_other_records_are_refused():
    bits, sets, split = bits_crowd(5), attribute_crowd(), planned("bits split")
    for crowd in (
        sets,
        bits_crowd(4),
        Population(replace(bits.question, name="other"), bits.records),
    ):
        with pytest.raises(PlanError, match="Plan again for this data"):
            play_plan(crowd, split)


def test_a_split_record_is_certified_as_a_whole():
    """More is lost of all its parts than of one: the planted mistake is the promise of one."""
    plan = planned("bits split")
    alone = PrivacyTerms.of(replace(plan, question=bits_crowd(1).question, parts=plan.parts[:1]))
    assert plan.certificate.upper <= plan.guarantee.delta
    assert certify_terms(alone).upper < plan.certificate.upper / 100


def test_a_record_larger_than_the_plan_hides_is_never_sent():
    question = Question(name="q", bins=5, kind=Kind.SET, max_set=2)
    crowd = Population(question, pack_vectors(table(5).tobytes(), 5))
    small = Population(question, np.ones((USERS, 1), dtype=np.uint8))
    plan, _ = plan_choice.choose_plan(wish(small))
    with pytest.raises(DataError, match="at most 2 bins in a record, got"):
        play_plan(crowd, plan)
    with pytest.raises(MessageError, match="at most 2 set bits"):
        randomize_records(plan.parts[0], crowd.records, SeededChance(1))


def test_bits_are_no_bin_numbers():
    with pytest.raises(MessageError, match="bin number"):
        randomize_records(uniform(5), bits_crowd(5).records, SeededChance(1))
    with pytest.raises(MessageError):
        randomize_records(flipped(50, most_set=5), bits_crowd(5).records, SeededChance(1))
    with pytest.raises(TypeError, match="are bits"):
        _ = bits_crowd(5).codes


@pytest.mark.parametrize("sizes", [(3, 2), (9, 2, 7), (2, 16)])
def test_parts_hold_what_the_record_holds(sizes):
    crowd = attribute_crowd(sizes)
    split = split_population(crowd, list_encodings(crowd.question)[1].parts)
    assert np.concatenate([part.truth for part in split]).tolist() == crowd.truth.tolist()
    bits = bits_crowd(sum(sizes))
    clear = split_population(bits, list_encodings(bits.question)[1].to_clear().parts)
    assert [int(part.truth[1]) for part in clear] == bits.truth.tolist()
    alone = split_population(bits, list_encodings(bits.question)[1].parts)
    assert [int(part.truth[0]) for part in alone] == bits.truth.tolist()


@pytest.mark.parametrize("name", among(CASES, QUICK))
def test_sums_are_never_promised_less_than_messages(name):
    plan = planned(name)
    seen = plan_choice.certify_sums(plan)
    assert seen.observer is Observer.SUMS
    assert seen.epsilon == plan.certificate.epsilon
    assert 0.0 <= seen.lower <= seen.upper <= plan.certificate.upper
    if name in ("bits whole", "attributes whole"):
        assert seen.upper < plan.certificate.upper / 10  # other people's flips hide sums well


def test_sums_of_capped_messages_are_promised_no_more_than_the_truth():
    """Two people, six bins, at most five ones in a message: every pair of counts is enumerated."""
    bins, cap = 6, 5
    part = replace(flipped(bins, q=0.35), layout=Layout(Form.BITS, bins, cap=cap))
    plan = proved(plan_of(Question(name="q", bins=bins), [part], epsilon=1.0, users=2))
    strings = [one for one in range(1 << bins) if one.bit_count() <= cap]
    scene = Collection(
        [
            [row[one] / sum(row[s] for s in strings) for one in strings]
            for row in flips(bins, part.threshold, [1 << b for b in range(bins)])
        ],
        people=2,
        seen=[sum(1 << 8 * b for b in range(bins) if one >> b & 1) for one in strings],
    )
    (truth,) = worst(scene, [exp_exactly(1.0)], crowds=[(0,), (2,)], pairs=[(0, 1), (1, 0)])
    found = plan_choice.certify_sums(plan)
    assert found.lower <= truth <= found.upper <= plan.certificate.upper


def test_a_sum_of_bits_does_not_tell_how_many_fakes_were_drawn():
    """30 people draw a fake with probability 0.99: the number of ones is Bin(30, 0.99 q) more."""
    people, coin = 30, 99 * SCALE // 100
    own = OwnFakes(FakeRecord.BLANK, 0, coin)
    part = flipped(1, most_set=None, q=0.2, own=own)
    question = Question(name="q", bins=1, kind=Kind.BITS)
    plan = proved(plan_of(question, [part], epsilon=0.3, users=people))
    q = Fraction(part.threshold, SCALE)
    shown = q * Fraction(coin, SCALE)
    scene = Collection([[q, 1 - q], [1 - q, q]], 1, [[1 - shown, shown]] * people, seen=[0, 1])
    (truth,) = worst(scene, [exp_exactly(0.3)])
    found = plan_choice.certify_sums(plan)
    assert found.lower <= truth <= found.upper <= plan.certificate.upper


def test_fewer_honest_people_hide_less_of_the_sums():
    plan = planned("attributes whole")
    fewer = plan_choice.certify_sums(replace(plan, honest_share=0.02))
    assert fewer.upper > 10 * plan_choice.certify_sums(plan).upper
