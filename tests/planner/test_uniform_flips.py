"""flip-uniform: offered where it errs less than blank fakes, and always when it is asked for."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from mixtally.privacy.certify import certify, verify

from helpers import least
from helpers.sampled import each
from mixtally.errors import InfeasibleError
from mixtally.ground.codec import canonical, from_canonical
from mixtally.planner import choose, explain
from mixtally.privacy.accountant import Accountant, Record
from mixtally.records.guarantee import Observer
from mixtally.records.mechanism import Parameter
from mixtally.records.mechanism.named import flip_blank, flip_uniform
from mixtally.records.plan import Plan
from mixtally.records.question import Question, with_attributes
from mixtally.simulation import offers as played
from planner.requests import request

ASKED = request(30_000, users=10**6)  # records in clear need 1.28 million fakes


def test_it_is_chosen_where_its_fakes_nearly_cover_the_bins():
    answer = choose(ASKED)
    named = {option.name: option for option in (answer.best, *answer.others)}
    assert answer.best.name == "flip-uniform"
    assert named["flip-uniform"].standard_error < 0.9 * named["flip-blank"].standard_error


@pytest.mark.seconds
@pytest.mark.parametrize("bins", [1000, 60_000])
def test_it_is_not_weighed_where_nothing_is_gained(bins):
    asked = replace(ASKED, question=Question(name="q", bins=bins))
    answer = choose(asked)
    assert "flip-uniform" not in {option.name for option in (answer.best, *answer.others)}
    named = choose(replace(asked, protocol="flip-uniform")).best
    assert named.standard_error >= 0.99 * answer.best.standard_error


def test_the_least_flips_are_those_of_the_distribution():
    best = choose(ASKED).best
    uniform = flip_uniform(bins=30_000, fakes=10**6, threshold=least.ANY)
    found = least.mechanism(uniform, Parameter.FLIP, 1.0, 1e-6)
    assert best.mechanism.threshold == pytest.approx(found.threshold, rel=1e-6)
    assert best.certificate == certify(best.mechanism, 1.0)
    looser = best.mechanism.having(Parameter.FLIP, best.mechanism.threshold * 999 // 1000)
    assert certify(looser, 1.0).upper > 1e-6


@pytest.mark.parametrize(
    "changes",
    each([
        {}, {"honest_share": 0.7}, {"count_crowd": True}, {"minimum_crowd": 400_000},
        {"local_epsilon": 3.0}, {"messages_per_user": 1.0},
    ], 2),
)  # fmt: skip
def test_a_plan_comes_back_from_its_bytes_with_its_promise(changes):
    question = Question(name="q", bins=300)
    best = choose(replace(ASKED, question=question, protocol="flip-uniform", **changes)).best
    plan = from_canonical(canonical(best.plan), Plan, "plan")
    assert verify(plan) == best.mechanism
    assert best.certificate.upper <= 1e-6
    assert set(explain(best)) == set(best.facts())
    if "local_epsilon" in changes:
        assert best.mechanism.local_epsilon <= 3.0


@pytest.mark.parametrize(
    "changes", [{"collections": 3}, {"question": with_attributes("a", (10, 20))}]
)
def test_several_messages_are_not_searched_for(changes):
    asked = replace(ASKED, question=Question(name="q", bins=300), messages_per_user=4)
    with pytest.raises(InfeasibleError, match="flip-uniform needs a question that is asked once"):
        choose(replace(asked, protocol="flip-uniform", **changes))


def test_an_observer_of_sums_is_promised_the_distribution_of_sums():
    """Few fakes: people's flips hide a sum far better than a message."""
    asked = request(10**4, users=10**5, messages_per_user=1.3, protocol="flip-uniform")
    best = choose(replace(asked, honest_share=0.9)).best
    summed = played.seen_by_sums(best)
    assert summed.observer is Observer.SUMS
    assert summed.upper < 1e-3 * best.certificate.upper
    sure = flip_uniform(crowd=90_000, fakes=27_000, bins=10**4, threshold=best.mechanism.threshold)
    assert summed.upper == Accountant().certificate(Record.of(sure, Observer.SUMS), 1.0).upper
    assert "fakes" in summed.assumption


def test_weighing_it_is_quick():
    """A tenth of a second is meant; ten times that leaves room for a busy machine."""
    start = time.perf_counter()
    choose(request(31_000, users=10**6))
    assert time.perf_counter() - start < 1.0


ROWS = {"one fake a user": 1.0, "one fake for ten users": 0.1, "five fakes a user": 5.0}


@pytest.mark.parametrize(("row", "rate"), ROWS.items(), ids=ROWS)
def test_the_table_of_the_accounting_page_is_computed_again(row, rate):
    page = (Path(__file__).parents[2] / "docs" / "accounting.md").read_text().splitlines()
    (shares,) = (line for line in page if line.startswith("| K / (42.65 d)"))
    (told,) = (line for line in page if line.startswith("| ") and row in line)
    fakes = round(rate * 10**6)
    blank = flip_blank(bins=2, fakes=fakes, threshold=least.ANY)
    blank = least.mechanism(blank, Parameter.FLIP, 1.0, 1e-6)
    for share, ratio in zip(shares.split("|")[2:-1], told.split("|")[2:-1], strict=True):
        bins = round(fakes / (42.65 * float(share)))
        uniform = flip_uniform(bins=bins, fakes=fakes, threshold=least.ANY)
        found = least.mechanism(uniform, Parameter.FLIP, 1.0, 1e-6, tolerance=1e-4)
        assert found.standard_error(10**6) / blank.standard_error(10**6) == pytest.approx(
            float(ratio), abs=0.006
        )
