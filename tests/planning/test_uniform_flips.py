"""flip-uniform: offered where it errs less than blank fakes, and always when it is asked for."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as altered

from helpers import least
from helpers.named import flip_blank, flip_uniform
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.plans.terms import PrivacyTerms, delta_of, verify
from mixtally.errors import InfeasibleError
from mixtally.model.contract import read_plan, write_plan
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import Parameter
from mixtally.model.question import Question, make_attributes_question
from mixtally.planning import choose, explain
from planning.requests import request

ASKED = request(30_000, users=10**6, protocol="flip-uniform")
"""Records in clear need 1.28 million fakes."""


def test_it_errs_less_than_planes_and_is_offered_by_name_alone():
    answer, named = choose(replace(ASKED, protocol=None)), choose(ASKED).plan
    assert "flip-uniform" not in {option.name for option in (answer.plan, *answer.others)}
    assert named.standard_error < 0.9 * answer.plan.standard_error
    assert named.bytes_per_user > 1.2 * answer.plan.bytes_per_user


def test_the_least_flips_are_those_of_the_distribution():
    plan, accountant = choose(ASKED).plan, Accountant()
    (part,) = plan.parts
    uniform = flip_uniform(bins=30_000, fakes=10**6, threshold=least.ANY)
    found = least.mechanism(uniform, Parameter.FLIP, 1.0, 1e-6)
    assert part.threshold == pytest.approx(found.threshold, rel=1e-3)  # a cap takes some of delta
    looser = altered(part, threshold=part.threshold * 99 // 100)
    missed = PrivacyTerms.of(altered(plan, parts=(looser,)))
    assert delta_of(missed, accountant).upper > 1e-6 >= plan.certificate.upper


@pytest.mark.parametrize(
    ("bins", "changes"),
    [
        (30_000, {}),
        (30_000, {"honest_share": 0.7}),
        (30_000, {"count_crowd": True}),
        (30_000, {"minimum_crowd": 400_000}),
        (300, {"messages_per_user": 1.0}),
        pytest.param(300, {"local_epsilon": 3.0}, marks=pytest.mark.seconds),
        pytest.param(300, {}, marks=pytest.mark.seconds),
    ],
)
def test_a_plan_comes_back_from_its_bytes_with_its_promise(bins, changes):
    question = Question(name="q", bins=bins)
    plan = choose(replace(ASKED, question=question, protocol="flip-uniform", **changes)).plan
    again = read_plan(write_plan(plan), "plan")
    assert again == plan
    assert verify(again).upper == plan.certificate.upper <= 1e-6
    assert set(explain(plan)) == set(plan.facts())
    if "local_epsilon" in changes:
        assert plan.local_epsilon <= 3.0


@pytest.mark.parametrize(
    "changes", [{"collections": 3}, {"question": make_attributes_question("a", (10, 20))}]
)
def test_several_messages_are_not_searched_for(changes):
    asked = replace(ASKED, question=Question(name="q", bins=300), messages_per_user=4)
    with pytest.raises(InfeasibleError, match="flip-uniform needs a question that is asked once"):
        choose(replace(asked, protocol="flip-uniform", **changes))


def test_an_observer_of_sums_is_promised_the_distribution_of_sums():
    """Few fakes: people's flips hide a sum far better than a message."""
    asked = request(10**4, users=10**5, messages_per_user=1.3, protocol="flip-uniform")
    plan = choose(replace(asked, honest_share=0.9)).plan
    (part,) = plan.parts
    sure = part.mechanism(fakes=plan.fakes_counted, crowd=plan.honest_people)
    summed = Accountant().certificate(Record.of(sure, Observer.SUMS), 1.0)
    assert summed.observer is Observer.SUMS
    assert summed.upper < 1e-3 * plan.certificate.upper


ROWS = {"one fake per user": 1.0, "one fake for ten users": 0.1, "five fakes per user": 5.0}


@pytest.mark.parametrize(("row", "rate"), ROWS.items(), ids=ROWS)
def test_the_table_of_the_accounting_page_is_computed_again(row, rate):
    page = (
        (Path(__file__).parents[2] / "docs" / "explanation/accounting.md").read_text().splitlines()
    )
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
