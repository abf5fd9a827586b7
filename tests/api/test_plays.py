"""Simulations of other questions than a count, in Python: their results and their refusals."""

import json

import pytest

import mixtally
from mixtally.errors import DataError

PROMISE = {"epsilon": 2, "delta": 1e-6}
FRUIT = ["apple"] * 500 + ["pear"] * 300 + ["fig"] * 200


def test_a_result_has_no_truth_but_in_its_simulation(tmp_path):
    found = mixtally.simulate_words(FRUIT, top=2, **PROMISE)
    assert found.public
    assert "truth" not in json.dumps(found.facts)
    assert "truth" in json.dumps(found.simulation.facts)
    assert list(found.tables) == ["words"]
    assert [row["word"] for row in found.tables["words"]] == ["apple", "pear"]
    assert len(found.to_frame()) == 2
    assert "apple" in repr(found)
    assert "<td>apple</td>" in found._repr_html_()
    assert '<table class="tex2jax_ignore mathjax_ignore">' in found._repr_html_()  # "$5", "$9"
    with pytest.raises(mixtally.MixtallyError, match="word"):
        found.to_frame("wurds")
    paths = {str(one.relative_to(tmp_path)) for one in found.save(tmp_path, simulation=True)}
    assert {"words.csv", "report.html", "simulation/report.html"} <= paths
    assert "truth" not in (tmp_path / "words.csv").read_text()


@pytest.mark.parametrize("more", [{"seed": 1, "labels": ["apple", "pear", "fig"]}, {}])
def test_what_may_not_be_published_is_a_simulation(more, tmp_path):
    found = mixtally.simulate(FRUIT, winner=True, **PROMISE, **more)
    assert not found.public
    assert repr(found).startswith("SIMULATION")
    outside = {one.name for one in found.save(tmp_path) if one.parent.name != "simulation"}
    assert outside <= {"plan.json"}


def test_what_was_read_off_the_values_is_said_in_the_words_of_python():
    second = mixtally.simulate(FRUIT, winner=True, **PROMISE).lines[1]
    assert second.endswith("the list of answers was read from the data; give labels.")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"topp": 3}, "Did you mean top"),
        ({"top": "three"}, "expected a whole number, got str 'three'"),
        ({"mix_fakes": 1}, "expected True or False"),
        ({"way": "both"}, "together or apart"),
    ],
)
def test_a_wrong_option_is_refused_by_its_name(options, said):
    with pytest.raises(mixtally.MixtallyError, match=said):
        mixtally.simulate_words(FRUIT, **PROMISE, **options)


def test_several_places_of_a_person_count_once():
    frame = {"answer": ["yes", "no"] * 200, "who": [*range(200)] * 2}
    how = {"labels": ["yes", "no"], "kind": "one", **PROMISE}
    first = mixtally.simulate(frame, person="who", several="first", **how)
    assert first.people == 200
    apart = mixtally.simulate(frame["answer"], person=frame["who"], several="last", **how)
    assert apart.people == 200
    with pytest.raises(mixtally.MixtallyError, match="expected one row per person"):
        mixtally.simulate(frame, person="who", **how)
    with pytest.raises(mixtally.MixtallyError, match="expected person with it"):
        mixtally.simulate(frame["answer"], several="first", **how)
    with pytest.raises(mixtally.MixtallyError, match=r"'answer', 'who'.*Did you mean 'who'\?"):
        mixtally.simulate(frame, person="whom", several="first", **how)


def test_values_that_were_counted_are_people():
    how = {"labels": ["yes", "no"], **PROMISE}
    found = mixtally.simulate(["yes", "no"], counts=[7000, 3000], **how)
    assert found.people == 10_000
    assert found.simulation.truth == [7000, 3000]
    assert abs(found["yes"].estimate - 7000) < 12 * found.error  # false alarm below 1e-9
    named = mixtally.simulate({"answer": ["yes", "no"], "n": [70, 30]}, counts="n", **how)
    assert named.people == 100
    with pytest.raises(mixtally.MixtallyError, match="expected a whole number"):
        mixtally.simulate(["yes", "no"], counts=[7, 0.5], **how)


def test_counts_within_groups_cost_what_one_count_does():
    answers, regions = ["yes", "no", "no"] * 400, ["north"] * 600 + ["south"] * 600
    both = {"values": ["yes", "no"], "groups": ["north", "south", "east"]}
    found = mixtally.simulate(answers, group_by=regions, labels=both, **PROMISE)
    assert "All groups together cost epsilon once" in found.note
    assert found.certificate.epsilon == PROMISE["epsilon"]
    groups = found.groups
    assert list(groups) == ["north", "south", "east"]
    assert abs(groups["north"]["no"].estimate - 400) < 12 * found.error  # alarm below 1e-9
    assert found.simulation.truth == [200, 400, 200, 400, 0, 0]
    frame = {"answer": answers, "region": regions}
    read = mixtally.simulate(frame, group_by="region", **PROMISE)
    assert set(read.groups) == {"north", "south"}
    assert read.from_data


def test_whoever_lacks_a_group_keeps_the_answer():
    answers = ["yes", "no", None, "no"] * 300
    regions = ["north", "south", "north", None] * 300
    frame = {"answer": answers, "region": regions}
    found = mixtally.simulate(frame, group_by="region", missing="unknown", **PROMISE)
    true = dict(zip([row.label for row in found], found.simulation.truth, strict=True))
    assert true == {
        "north | yes": 300, "south | no": 300, "north | unknown": 300, "unknown | no": 300,
    }  # fmt: skip
    named = {"answer": [one or "NA" for one in answers], "region": [one or "-" for one in regions]}
    again = mixtally.simulate(
        named, group_by="region", missing="unknown", missing_values=["NA", "-"], **PROMISE
    )
    assert dict(zip([row.label for row in again], again.simulation.truth, strict=True)) == true
    dropped = mixtally.simulate(frame, group_by="region", missing="drop", **PROMISE)
    assert dropped.simulation.truth == [300, 300]
    both = {"values": ["yes", "no", "unknown"], "groups": ["north", "south", "unknown"]}
    listed = mixtally.simulate(frame, group_by="region", missing="unknown", labels=both, **PROMISE)
    assert sum(listed.simulation.truth) == 1200
    assert listed.groups["unknown"]["no"].estimate > 200


@pytest.mark.parametrize(
    ("values", "groups", "said"),
    [
        ({"a": ["x", "y"] * 99, "g": ["n"] * 197 + [None]}, "g", r"values\[197\]: .* column 'g'"),
        ({"a": ["x", None] * 99, "g": ["n", "s"] * 99}, "g", r"values\[1\]: .* column 'a'"),
        (["x", "y"] * 99, ["n", " "] * 99, r"group_by\[1\]: expected a value, got a missing value"),
        (["x", ""] * 99, ["n", "s"] * 99, r"values\[1\]: expected a value, got a missing value"),
    ],
)
def test_the_refusal_of_a_gap_names_its_own_column(values, groups, said):
    with pytest.raises(mixtally.MixtallyError, match=said):
        mixtally.simulate(values, group_by=groups, **PROMISE)


@pytest.mark.parametrize(
    ("values", "more", "said"),
    [
        (["yes", "no"] * 99, {"labels": ["yes", "no"]}, "labels of values and of groups"),
        (["a | b", "c"] * 99, {}, "texts without"),
        ([["a"], ["b"]] * 99, {}, "expected single values"),
        ({"a": ["x"] * 198, "b": ["y"] * 198}, {}, "one column of values"),
        (["yes", "no"] * 99, {"kind": "set"}, "group_by without kind, got both"),
    ],
)
def test_what_has_no_groups_is_refused(values, more, said):
    with pytest.raises(mixtally.MixtallyError, match=said):
        mixtally.simulate(values, group_by=["n", "s"] * 99, **PROMISE, **more)
    with pytest.raises(mixtally.MixtallyError, match="Simulate with group_by="):
        _ = mixtally.simulate(["yes", "no"] * 99, **PROMISE).groups


@pytest.mark.parametrize(
    "simulate",
    [
        lambda each, **how: mixtally.simulate(each, **PROMISE, **how),
        lambda each, **how: mixtally.simulate(each, winner=True, **PROMISE, **how),
        lambda each, **how: mixtally.simulate_memoized(each, epsilon=1, **how),
        lambda each, **how: mixtally.simulate_baskets([[one] for one in each], **PROMISE, **how),
    ],
)
def test_answers_read_off_the_values_are_refused_where_most_name_a_person(simulate):
    people = [f"person {number}" for number in range(30)]
    with pytest.raises(DataError, match="likely an identifier"):
        simulate(people)
    assert simulate(people, labels=people)


def test_an_empty_separator_is_refused_by_its_name():
    with pytest.raises(mixtally.MixtallyError, match="separator: expected the text between labels"):
        mixtally.simulate_baskets(["tea;milk"] * 200, separator="", **PROMISE)


def test_a_level_is_looked_at_before_any_answer():
    with pytest.raises(mixtally.MixtallyError, match=r"^level: expected a finite number"):
        mixtally.simulate_epochs(None, epochs=[1, 2], level="high", **PROMISE)
    with pytest.raises(mixtally.MixtallyError, match=r"^level: expected a finite number"):
        mixtally.simulate(None, level="high", **PROMISE)


def test_none_is_what_is_left_out():
    least = mixtally.plan(3, users=10_000, **PROMISE)
    again = mixtally.plan(3, users=10_000, hops=None, honest_share=None, **PROMISE)
    assert again.record == least.record
    assert mixtally.delta("clear-uniform", epsilon=1, bins=9, fakes=99, observer=None).upper < 1


def test_a_budget_is_said_as_on_the_command_line():
    by_fakes = mixtally.plan(3, users=10_000, fakes_per_user=3, **PROMISE)
    by_messages = mixtally.plan(3, users=10_000, messages_per_user=4, **PROMISE)
    assert by_fakes.record == by_messages.record
    with pytest.raises(mixtally.MixtallyError, match=r"^budget: expected fakes_per_user without"):
        mixtally.simulate(FRUIT, fakes_per_user=3, messages_per_user=4, **PROMISE)
