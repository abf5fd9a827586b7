"""Samples of long lists of cases: which are quick, which need seconds, which are exhaustive."""

from itertools import product

import pytest

from helpers import sampled

PRODUCTS = [
    list(product("ab", (1, 2), (False, True))),
    list(product(range(5), range(4), "xyz")),
    list(product(range(3), range(3), range(3), range(3))),
    [case for case in product(range(4), range(4), range(4)) if sum(case) < 6],
    [("one", {"a": 1}, k) for k in range(3)] + [("two", {"a": k}, 0) for k in range(3)],
    [(1, 2)],
    [],
]


def marks_of(params):
    """The case and the names of the marks of every parameter set."""
    return [(one.values, {mark.name for mark in one.marks}) for one in params]


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("cases", PRODUCTS)
def test_a_sample_holds_all_that_any_case_holds(cases, width):
    found = sampled.chosen(cases, width)
    assert len(set(found)) == len(found)
    assert sampled.held([cases[i] for i in found], width) == sampled.held(cases, width)


def test_what_a_sample_without_a_case_lacks_is_noticed():
    """The twin: the last case chosen held something that no other did."""
    for cases in PRODUCTS[:6]:
        less = [cases[i] for i in sampled.chosen(cases)[:-1]]
        assert sampled.held(less) < sampled.held(cases)


def test_every_fourth_case_of_a_product_misses_pairs():
    """Why a sample is chosen: 4 and 8 have a divisor in common."""
    cases = PRODUCTS[0]
    assert len(sampled.held(cases[::4])) < len(sampled.held(cases)) == 12


@pytest.mark.parametrize(("place", "most"), [(0, 6), (1, 20), (2, 13)])
def test_a_sample_is_small(place, most):
    """At best 4, 20 and 9 of 8, 60 and 81 cases hold every pair."""
    assert len(sampled.chosen(PRODUCTS[place])) <= most


def test_a_sample_is_the_same_every_time():
    cases = PRODUCTS[2]
    assert sampled.chosen(cases) == sampled.chosen(list(cases))
    assert sampled.chosen(cases)[0] == 0


def test_cases_of_a_sample_are_quick_or_need_seconds_and_others_are_exhaustive():
    cases = PRODUCTS[1]
    sample = {cases[i] for i in sampled.chosen(cases)}
    found = marks_of(sampled.covering(cases, lambda first, _second, _third: first == 0))
    assert [case for case, _ in found] == cases
    for case, marks in found:
        expected = set() if case[0] == 0 else {"seconds"}
        assert marks == (expected if case in sample else {"exhaustive"})


def test_rows_keep_a_share_of_those_that_are_not_quick():
    found = marks_of(sampled.each(range(9), 4, kept=3))
    assert [case for case, _ in found] == [(one,) for one in range(9)]
    assert [case[0] for case, marks in found if not marks] == [0, 4, 8]
    assert [case[0] for case, marks in found if marks == {"seconds"}] == [1, 5]
    assert [case[0] for case, marks in found if marks == {"exhaustive"}] == [2, 3, 6, 7]
    assert all("exhaustive" not in marks for _, marks in marks_of(sampled.each(range(9), 4)))


def test_every_kind_keeps_its_first_cases():
    found = marks_of(sampled.of_kinds(["a1", "b1", "a2", "a3", "b2"], lambda one: one[0], 2))
    assert [case[0] for case, marks in found if marks == {"exhaustive"}] == ["a3"]
    assert [case[0] for case, marks in found if marks == {"seconds"}] == ["a1", "b1", "a2", "b2"]


def test_a_thinned_list_has_no_quick_case():
    found = marks_of(sampled.thinned([(one, -one) for one in range(5)], 2))
    assert [marks for _, marks in found] == [
        {"seconds"}, {"exhaustive"}, {"seconds"}, {"exhaustive"}, {"seconds"},
    ]  # fmt: skip
