"""How much work a plan takes, counted and not timed."""

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import pytest

from accounting.by_name import calibrated
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import Bound, two_outputs
from mixtally.accounting.messages import Messages, PricesSpentError
from mixtally.accounting.numerics import saddle_line, worst_datasets_1d
from mixtally.errors import InfeasibleError
from mixtally.model.encodings import list_encodings
from mixtally.model.guarantee import Guarantee
from mixtally.model.mechanism import BitFlips, BlankFakes
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.planning import PlanRequest, choose, flip_blank, relaxations
from mixtally.planning.choose import Planner
from planning.requests import OPEN, request

room = import_module("mixtally.planning.relaxations")  # the package has a function of this name


@pytest.fixture
def integrals(watch):
    """Lets so many integrals of the saddle point be taken, and no more."""
    return lambda most: watch(saddle_line.Saddle, "integral", most)


def test_bits_that_nobody_can_be_told_by_are_refused_at_once(integrals):
    """Seven people and 16 bits, three times: once thousands of integrals, and over 90 seconds."""
    taken = integrals(120)
    question = Question(name="x", bins=16, kind=Kind.BITS)
    promised = Guarantee(epsilon=0.1188, delta=0.000423)
    with pytest.raises(InfeasibleError, match="interval would span all"):
        choose(
            PlanRequest(
                question=question, guarantee=promised, users=7, collections=3, count_crowd=True
            )
        )
    assert taken


def test_attributes_that_nobody_can_be_told_by_are_refused_at_once(integrals):
    """Four people, three attributes, 52 times: once thousands of integrals, and 29 seconds."""
    integrals(120)
    question = make_attributes_question("x", (248, 106, 279))
    promised = Guarantee(epsilon=9.929, delta=0.000106)
    with pytest.raises(InfeasibleError, match="interval would span all"):
        choose(PlanRequest(question=question, guarantee=promised, users=4, collections=52))


@pytest.mark.seconds
def test_the_nearest_crowd_of_bits_is_found_with_few_integrals(integrals):
    """Once every crowd that was looked at was planned for, the last one twice: 15 seconds."""
    taken = integrals(1500)
    question = Question(name="x", bins=16, kind=Kind.BITS)
    promised = Guarantee(epsilon=0.1188, delta=0.000423)
    (near,) = relaxations(
        PlanRequest(
            question=question,
            guarantee=promised,
            users=7,
            collections=3,
            count_crowd=True,
            messages_per_user=2,
        ),
        10**6,
    ).found
    assert near.change == "--users 328"
    assert len(taken) > 500


@pytest.mark.seconds
def test_the_nearest_crowd_of_attributes_is_found_with_few_integrals(integrals):
    """The same of four people, three attributes, 52 times."""
    integrals(1200)
    question = make_attributes_question("x", (248, 106, 279))
    promised = Guarantee(epsilon=9.929, delta=0.000106)
    (near,) = relaxations(
        PlanRequest(
            question=question, guarantee=promised, users=4, collections=52, messages_per_user=2
        ),
        10**6,
    ).found
    assert near.change == "--users 30"


@pytest.fixture
def searched(watch):
    """The searches for the least noise that are made."""
    return watch(import_module("mixtally.accounting.calibrate"), "_find_least_value")


def test_what_is_likely_of_attributes_is_one_search(searched):
    """Eight attributes were eight searches for every crowd; one slot with all fakes needs none."""
    asked = PlanRequest(
        question=make_attributes_question("x", (12, 158, 44, 4, 14)),
        guarantee=Guarantee(epsilon=1.0, delta=1e-6),
        users=10_000,
        protocol="clear-uniform",
        messages_per_user=30,
    )
    assert Planner().probably_feasible(asked)
    assert len(searched) <= 1


def test_where_the_budget_is_far_too_small_nothing_is_searched_for(searched):
    """Six people refused took 59 searches, most for changes that were not half enough."""
    question = make_attributes_question("x", (12, 158, 44, 4, 14))
    for users, fits in ((10, False), (100, False), (100_000, True)):
        asked = PlanRequest(
            question=question,
            guarantee=Guarantee(epsilon=1.0, delta=1e-6),
            users=users,
            protocol="clear-uniform",
        )
        assert Planner().probably_feasible(asked) is fits
        assert len(searched) <= fits


def test_what_is_searched_for_every_budget_is_searched_once(searched):
    """Records in clear need as many fakes whatever people may send: once a search a budget."""
    question = make_attributes_question("x", (30, 40))
    asked = PlanRequest(
        question=question,
        guarantee=Guarantee(epsilon=1.0, delta=1e-6),
        users=10,
        protocol="clear-uniform",
    )
    assert not Planner().candidates(asked, smaller=True).found
    assert len(searched) <= 6


def test_an_end_that_is_likely_and_not_proved_is_moved(monkeypatch):
    """What bisects is not what is answered: that is planned for, and proved."""
    planned = []

    def best(request, _):
        planned.append(request.users)
        return request if request.users >= 1100 else None

    monkeypatch.setattr(room, "choose_by_estimates", best)
    planner = SimpleNamespace(probably_feasible=lambda request: request.users >= 1000)
    found = room._least_feasible(planner, _users())
    assert 1100 <= found.plan.users == planned[-1] <= 1300
    assert found.change == f"--users {found.plan.users}"


def test_sets_in_a_counted_crowd_take_few_integrals(integrals):
    """Sets of six among 48,768 people: once 12,830 integrals, and 42 seconds for the plan."""
    integrals(60)
    asked = {"users": 48_768, "fakes": 9_753, "max_set": 6, "count_crowd": True}
    found = calibrated("flip-blank", 0.1589, 0.00358, **asked)
    assert found.message.mechanism.threshold


def test_what_would_take_too_long_is_a_misfit_that_says_so(monkeypatch):
    """The others are offered all the same."""
    monkeypatch.setattr(two_outputs, "_MOST_PRODUCTS", 1000)
    question = Question(name="x", bins=1, kind=Kind.BITS)
    asked = PlanRequest(
        question=question, guarantee=Guarantee(epsilon=1.0, delta=1e-6), users=100_000
    )
    _, infeasible = Planner().candidates(asked)
    (said,) = [infeasible.needs for infeasible in infeasible if infeasible.protocol == "single-bit"]
    assert "at most 1.0e+03 products" in said


def test_the_nearest_crowd_far_away_is_found_in_large_strides():
    """From 2 people to the largest crowd are 32 doublings."""
    tried = []
    planner = SimpleNamespace(probably_feasible=lambda request: tried.append(request.users))
    assert room._least_feasible(planner, _users()) is None
    assert len(tried) <= 14


def test_large_strides_come_to_the_values_of_doublings(monkeypatch):
    monkeypatch.setattr(room, "choose_by_estimates", lambda request, _: request)
    planner = SimpleNamespace(probably_feasible=lambda request: request.users >= 123_456)
    few = room._least_feasible(planner, _users())
    monkeypatch.setattr(room, "_DOUBLINGS", 99)
    assert room._least_feasible(planner, _users()) == few


def _users():
    """The number of people of a request for two, as a search increases it."""
    question, promised = Question(name="x", bins=10), Guarantee(epsilon=1.0, delta=1e-6)
    numbers = room._list_numbers(PlanRequest(question=question, guarantee=promised, users=2))
    return next(one for one in numbers if one.flag == "--users")


def test_what_a_local_epsilon_makes_useless_is_searched_for_by_nobody(searched):
    """38 bits asked 31 times under a local epsilon of .724: three proofs of crowds, for nothing."""
    asked = PlanRequest(
        question=Question(name="x", bins=38, kind=Kind.BITS),
        guarantee=Guarantee(epsilon=0.3394, delta=5.31e-10),
        users=369_800,
        collections=31,
        local_epsilon=0.724,
        messages_per_user=76,
    )
    planner = Planner()
    with pytest.raises(InfeasibleError, match="interval would span all 369,800 people"):
        choose(asked, planner)
    assert not searched


def test_a_local_epsilon_that_leaves_something_is_planned_for(searched):
    asked = PlanRequest(
        question=Question(name="x", bins=3, kind=Kind.BITS),
        guarantee=Guarantee(epsilon=1.0, delta=1e-6),
        users=100_000,
        local_epsilon=6.0,
        messages_per_user=3,
    )
    found = choose(asked, Planner()).plan
    assert found.certificate.upper <= 1e-6
    assert found.local_epsilon <= 6.0
    assert searched


def test_fakes_of_which_none_is_sure_are_not_sent(searched):
    """`plan --users 29 --bins 21 --max-set 14 --minimum-crowd 4`: a crowd of 4 promises no fake."""
    question = Question(name="x", bins=21, kind=Kind.SET, max_set=5)
    asked = PlanRequest(
        question=question,
        guarantee=Guarantee(epsilon=2.0, delta=1e-4),
        users=30_000,
        messages_per_user=1.001,
        count_crowd=True,
        honest_share=0.02,
    )
    given = list_encodings(question)[0], Accountant()
    option = flip_blank.candidate_by_people(asked, *given)
    assert (option.parts[0].own, option.crowd) == (None, 600)
    before = len(searched)
    alone = flip_blank.candidate_by_people(replace(asked, messages_per_user=1.0), *given)
    assert len(searched) == before
    assert alone.parts == option.parts


@pytest.mark.seconds
def test_points_that_are_proved_at_once_leave_most_ways_of_sets_out(integrals):
    """Sets of 16 in 18 bins, twice: 120 ways at 96 points took 4 s of integrals a proof."""
    taken = integrals(2_500)
    made = BitFlips(
        bins=18, threshold=6_493_398_743_570_155_520, max_set=16, fakes=BlankFakes(4019), crowd=0
    )
    assert Accountant().upper(Record.of(made), 2.046, 2, 2.16e-5) == pytest.approx(2.11e-5, 0.01)
    assert len(taken) > 500


@pytest.mark.parametrize(
    ("bins", "users", "repeats"),
    [pytest.param(64, 756, {1, 3}, marks=pytest.mark.seconds), (8, 10**6, {1, 2, 3})],
    ids=["dear", "cheap"],
)
def test_where_a_point_is_very_dear_vectors_are_sent_again_for_all_of_the_budget_alone(
    bins, users, repeats
):
    """`plan --epsilon 11.91 --users 756 --bits 64 --fakes-per-user 12.7` took six seconds."""
    asked = PlanRequest(
        question=Question(name="x", bins=bins, kind=Kind.BITS),
        guarantee=Guarantee(epsilon=11.91, delta=0.00328),
        users=users,
        messages_per_user=3.0,
    )
    assert {
        option.parts[0].repeats for option in Planner().candidates(asked, smaller=True).found
    } == repeats


def test_bits_that_are_flipped_nearly_half_the_time_end(watch):
    """Bounds of a point lie further apart than the proof is to be close: once every crowd of
    millions was looked at, for minutes, until it gave up.
    """
    looked = watch(worst_datasets_1d._Sweep, "bound_cell", 3000)
    question = Question(name="x", bins=64, kind=Kind.BITS)
    promised = Guarantee(epsilon=0.988, delta=0.0136)
    asked = PlanRequest(question=question, guarantee=promised, users=7_260_000, local_epsilon=3.89)
    assert choose(asked).plan.certificate.upper <= 0.0136
    assert looked


def test_a_search_that_takes_too_many_prices_is_named():
    asked = request(100, users=100, epsilon=0.02, hops=3, minimum_crowd=50)
    whole, few, none = (relaxations(asked, most) for most in (1000, 200, 0))
    assert [near.change.split()[0] for near in whole.found] == ["--epsilon", "--users"]
    assert whole.unfinished == []
    assert few == ([], ["--epsilon", "--users"])
    assert none == ([], ["--epsilon", "--users", "--messages-per-user"])


def test_a_costly_refusal_computes_no_more_prices_than_it_may(watch):
    """Nearly all of twelve CPU seconds went into one plan for a request that was relaxed."""
    asked = request(
        question=OPEN,
        users=8455,
        epsilon=1.498,
        delta=8.79e-6,
        collections=34,
        messages_per_user=1.0626,
        honest_share=0.9,
        local_epsilon=1.36,
    )
    counted = watch(Messages, "_spend")
    assert relaxations(asked, 300).unfinished == ["--users", "no --local-epsilon"]
    assert 100 < len(counted) <= 302


def test_no_more_prices_are_computed_than_are_allowed():
    accountant = Accountant()
    record = Record.of(BitFlips(bins=10, threshold=1 << 60, max_set=1, fakes=BlankFakes(1000)))
    with accountant.at_most(2):
        accountant.one_message_upper(record, [0.5, 1.0, 0.5], Bound.EXACT)
        with pytest.raises(PricesSpentError):
            accountant.approximate_copy().one_message_upper(record, [1.5], Bound.EXACT)
    assert accountant.prices == 2
    assert len(accountant.one_message_upper(record, [1.5, 2.0], Bound.EXACT)) == 2
