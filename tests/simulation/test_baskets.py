"""Sets played through real messages: what is found is true, and bad baskets are refused."""

import numpy as np
import pytest

from mixtally.data.population import Population
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.planner import PlanRequest, choose
from mixtally.records.guarantee import Guarantee
from mixtally.records.mechanism.named import flip_blank
from mixtally.records.question import Question
from mixtally.simulation.item_sets import baskets_of, find_sets, in_a_row, mixed_messages
from mixtally.simulation.seeded import SeededChance

PROMISED = Guarantee(epsilon=1.0, delta=1e-6)


def plan_for(baskets):
    wish = PlanRequest(question=baskets.question, guarantee=PROMISED, users=len(baskets.members))
    return choose(wish).best.plan


@pytest.fixture(scope="module")
def shop():
    """Thirty thousand baskets of up to three of eight goods; bread, milk and jam go together."""
    kinds = [("bread", "milk", "jam")] * 6 + [("bread", "milk")] * 6 + [("tea",)] * 9
    kinds += [("oil", "rice")] * 3 + [("salt",), ("soap",), ("bread",), ()]
    return baskets_of("goods", kinds * 1072)


def test_sets_are_found_and_none_that_nobody_holds(shop):
    """False alarm: none for this seed; over seeds a wrong set has chance 0.05."""
    found = find_sets(plan_for(shop), shop, SeededChance(1))
    labels = shop.question.labels
    pairs = {tuple(labels[i] for i in one.items) for one in found.frequent[2]}
    assert pairs == {("bread", "milk"), ("bread", "jam"), ("jam", "milk"), ("oil", "rice")}
    (triple,) = found.frequent[3]
    assert [labels[i] for i in triple.items] == ["bread", "jam", "milk"]
    for one in (*found.frequent[2], triple):
        assert abs(one.count - shop.holders([one.items])[0]) < 5 * one.standard_error
        assert one.lift > 1


def test_support_leaves_the_rarer_out(shop):
    found = find_sets(plan_for(shop), shop, SeededChance(1), support=9_000)
    labels = shop.question.labels
    assert [[labels[i] for i in one.items] for one in found.frequent[2]] == [["bread", "milk"]]
    assert found.frequent[3] == ()


def test_records_are_k_hot_and_all_messages_there(shop):
    rows = shop.rows(slice(0, len(shop.members)))
    bits = np.unpackbits(rows, axis=1, count=shop.question.bins, bitorder="little")
    assert bits.sum(axis=1).tolist() == (shop.members >= 0).sum(axis=1).tolist()
    assert bits.sum(axis=0).tolist() == shop.holders([(i,) for i in range(8)]).tolist()
    mechanism = flip_blank(bins=8, fakes=100, threshold=1 << 24, max_set=3)
    mixed = mixed_messages(mechanism, shop, SeededChance(1))
    assert len(mixed) == len(rows) + 100
    # flips are 2^-40 rare, so the multiset is that of the records and the blanks
    whole = np.concatenate([rows, np.zeros((100, 1), dtype=np.uint8)])
    assert sorted(mixed.ravel().tolist()) == sorted(whole.ravel().tolist())
    assert mixed.tolist() != whole.tolist()


def test_truly_frequent_counts_sets(shop):
    true = shop.truly_frequent(2, 1)
    assert len(true) == 4
    assert all(shop.holders([one])[0] == count for one, count in true.items())
    assert len(shop.truly_frequent(2, 5000)) == 3


def test_successive_rows_make_baskets():
    question = Question(name="dest", bins=3, labels=("a", "b", "c"))
    boards = in_a_row(Population(question, np.array([0, 0, 1, 2, 2])), 2)
    assert boards.members.tolist() == [[0, -1], [1, 2]]
    assert boards.question.max_set == 2


def test_bad_baskets_and_foreign_plans_are_refused(shop):
    with pytest.raises(DataError, match="two distinct items at least"):
        baskets_of("goods", [["tea"], ["tea"]])
    with pytest.raises(DataError, match="one of them empty"):
        baskets_of("goods", [["tea", ""], ["jam"]])
    other = baskets_of("other", [["tea", "jam"]] * 5000)
    with pytest.raises(PlanError, match="a plan for these 5,000 baskets"):
        find_sets(plan_for(shop), other, SeededChance(1))
    with pytest.raises(ParameterError, match="false-positive rate"):
        find_sets(plan_for(shop), shop, SeededChance(1), rate=0.9)
