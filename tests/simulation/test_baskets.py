"""Sets played through real messages: what is found is true, and bad baskets are refused."""

import numpy as np
import pytest

from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.baskets import (
    build_baskets,
    count_holders,
    count_pairs,
    find_sets,
    group_rows,
)
from mixtally.lab.simulation.baskets import find as module
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question
from mixtally.planning import PlanRequest, choose
from simulation import goods

PROMISED = Guarantee(epsilon=1.0, delta=1e-6)


def plan_for(baskets, protocol="flip-blank"):
    wish = PlanRequest(
        question=baskets.question, guarantee=PROMISED, users=baskets.users, protocol=protocol
    )
    return choose(wish).plan


@pytest.fixture(scope="module")
def shop():
    return goods.shop()


@pytest.fixture(scope="module")
def plan(shop):
    return plan_for(shop)


def found_in(shop, plan, seed=1, **ends):
    return find_sets(plan, shop, Lab(SeededChance(seed)), **ends)


def test_sets_are_found_and_none_that_nobody_holds(shop, plan):
    """False alarm: none for this seed; over seeds a wrong set or interval has chance 0.05."""
    goods.check_found(found_in(shop, plan), shop)


def test_rules_hold_the_truth(shop, plan):
    """False alarm: none for this seed; over seeds one is wrong with chance 0.05."""
    truth = shop.truth
    for rule in found_in(shop, plan).rules:
        (both,) = count_holders(shop, [tuple(sorted((*rule.given, rule.then)))])
        (given,) = count_holders(shop, [rule.given])
        assert rule.confidence.lower <= both / given <= rule.confidence.upper
        lift = shop.users * both / given / truth[rule.then]
        assert rule.lift.lower <= lift <= rule.lift.upper
        assert rule.support.lower <= both / shop.users <= rule.support.upper


def test_support_leaves_the_rarer_out(shop, plan):
    found, label = found_in(shop, plan, support=9_000), shop.question.label
    assert [[label(i) for i in one.items] for one in found.sets[2]] == [["bread", "milk"]]
    assert found.sets[3] == ()
    assert found_in(shop, plan, largest=2).sets.keys() == {2}


def wrong(runs=60):
    """Of so many collections of a small crowd, those in which the interval of a set misses."""
    crowd = goods.few()
    plan, held, total = plan_for(crowd), count_pairs(crowd), 0
    for seed in range(runs):
        found = find_sets(plan, crowd, Lab(SeededChance(seed)), level=0.8)
        total += not all(one.lower <= held[one.items] <= one.upper for one in found.all_sets)
    return total


@pytest.mark.seconds
def test_all_intervals_hold_at_once():
    """At most 20 % of 60 collections, false alarm 1e-6: fewer than 27."""
    assert wrong() < 27


@pytest.mark.seconds
def test_intervals_of_half_the_people_are_found(monkeypatch):
    monkeypatch.setattr(
        module, "set_intervals", lambda *a, **b: tuple(e // 2 for e in true(*a, **b))
    )
    assert wrong() >= 27


true = module.set_intervals


def test_what_is_truly_held_is_counted(shop):
    both = count_pairs(shop)
    assert np.diag(both).tolist() == shop.truth.tolist()
    i, j = shop.question.labels.index("bread"), shop.question.labels.index("milk")
    assert both[i, j] == count_holders(shop, [(i, j)])[0] == 12 * 1072
    assert int((np.triu(both, 1) > 0).sum()) == 4
    assert count_holders(shop, []).tolist() == []


def test_successive_rows_make_baskets():
    question = Question(name="dest", bins=3, labels=("a", "b", "c"))
    boards = group_rows(Population(question, np.array([0, 0, 1, 2, 2])), 2)
    assert boards.records.tolist() == [[0b001], [0b110]]
    assert boards.question.max_set == 2


def test_bad_baskets_and_foreign_plans_are_refused(shop, plan):
    with pytest.raises(DataError, match="at least two distinct items"):
        build_baskets("goods", [["tea"], ["tea"]])
    with pytest.raises(DataError, match="one of them empty"):
        build_baskets("goods", [["tea", ""], ["jam"]])
    other = build_baskets("other", [["tea", "jam"]] * 5000)
    with pytest.raises(PlanError, match="8 bins of 'goods'"):
        found_in(other, plan)
    with pytest.raises(ParameterError, match="support: expected a whole number"):
        found_in(shop, plan, support=shop.users)
    with pytest.raises(ParameterError, match="largest: expected an integer in"):
        found_in(shop, plan, largest=1)
    with pytest.raises(ParameterError, match="confidence level"):
        found_in(shop, plan, level=1.5)


def test_records_that_are_no_sets_are_refused():
    asked = Question(name="goods", bins=4, labels=("a", "b", "c", "d"))
    one = Population(asked, np.arange(5000) % 4)
    with pytest.raises(ParameterError, match="records of several bits that are sent whole"):
        found_in(one, plan_for(one))
    asked = Question(name="goods", bins=2, labels=("a", "b"), kind=Kind.BITS)
    bits = Population(asked, (np.arange(5000) % 4).astype(np.uint8)[:, None])
    with pytest.raises(PlanError, match="flip-blank, which sends whole sets, got flip"):
        found_in(bits, plan_for(bits, "flip"))


def test_sets_share_with_all_that_could_be(shop, plan, monkeypatch):
    """Triples are chosen by the messages that count them: there are 56, looked at or not."""
    asked = []

    def noted(*given, among, **ends):
        asked.append((len(given[1]), among))
        return true(*given, among=among, **ends)

    monkeypatch.setattr(module, "set_intervals", noted)
    found_in(shop, plan)
    assert asked == [(4, 28), (1, 56)]
