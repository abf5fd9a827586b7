"""A mechanism in a plan's bytes: told by its tag, and refused when no divergence covers it."""

import json

import pytest
from msgspec.structs import replace

from mixtally.errors import MixtallyError, ParameterError, PlanError
from mixtally.ground.codec import canonical, from_canonical, from_json
from mixtally.records.mechanism import (
    BitFlips,
    BlankFakes,
    InClear,
    Mechanism,
    NoFakes,
    Parameter,
    ShapedFakes,
    Shuffled,
    UniformFakes,
    mechanism_of,
    protocols,
)
from mixtally.records.mechanism.memoized import memoized
from mixtally.records.mechanism.named import (
    clear_shaped,
    clear_uniform,
    flip,
    flip_bits,
    flip_blank,
    flip_uniform,
    single_bit,
)
from mixtally.records.plan import Plan
from mixtally.records.question import Kind, Question
from records.builders import a_plan

EXAMPLES = [
    flip_blank(bins=3, fakes=0, threshold=1 << 24),
    flip_blank(bins=3, fakes=10**13, threshold=1 << 63),
    flip_blank(bins=3, fakes=9, threshold=1 << 60, crowd=50),
    clear_uniform(bins=3, fakes=128),
    clear_shaped(bins=3, ratio=1 << 63, shift=27),
    clear_shaped(bins=3, ratio=(1 << 64) - 1, shift=27, mixes=3),
    flip(bins=3, threshold=1 << 60, crowd=50),
    flip_bits(bins=3, threshold=1 << 60, crowd=50, repeats=4),
    single_bit(fakes=9, threshold=1 << 60, crowd=50),
    single_bit(fakes=0, threshold=1 << 60, crowd=50),
    flip_blank(bins=3, fakes=2, threshold=1 << 60, max_set=2),
    flip_uniform(bins=3, fakes=0, threshold=1 << 24),
    flip_uniform(bins=3, fakes=10**13, threshold=1 << 63, crowd=50),
]
BLANK = {"type": "blank", "count": 2000}
FLIPS = {"type": "bit-flips", "bins": 3, "threshold": 1 << 60, "fakes": BLANK}
UNIFORM = {"type": "uniform", "count": 128}
CLEAR = {"type": "in-clear", "bins": 3, "fakes": UNIFORM}
SHAPED = {"type": "shaped", "ratio": 1 << 63, "shift": 27}


def planned(mechanism):
    kind = Kind.BITS if mechanism.most_set == mechanism.bins else Kind.ONE
    question = Question(name="fruit", bins=mechanism.bins, kind=kind)
    return a_plan(mechanism=mechanism, question=question)


def written(mechanism):
    """A plan's JSON that holds this mechanism, be it possible or not."""
    tree = json.loads(canonical(a_plan()))
    return json.dumps(tree | {"mechanism": mechanism}).encode()


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_a_mechanism_comes_back_from_the_bytes_of_its_plan(mechanism):
    plan = planned(mechanism)
    assert from_canonical(canonical(plan), Plan, "plan") == plan
    assert from_canonical(canonical(plan), Plan, "plan").mechanism == mechanism
    assert plan.protocol == mechanism.name


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_a_mechanism_is_written_as_its_tag_and_its_integers(mechanism):
    tree = json.loads(canonical(planned(mechanism)))["mechanism"]
    fields, fakes = dict(tree), dict(tree["fakes"])
    assert fields.pop("type") == {BitFlips: "bit-flips", InClear: "in-clear"}[type(mechanism)]
    assert fakes.pop("type") == {
        NoFakes: "none", BlankFakes: "blank", UniformFakes: "uniform", ShapedFakes: "shaped",
    }[type(mechanism.fakes)]  # fmt: skip
    fields.pop("fakes")
    assert all(type(value) is int or value is None for value in [*fields.values(), *fakes.values()])
    assert set(fields) | {"fakes"} == set(mechanism.__struct_fields__)
    assert set(fakes) == set(mechanism.fakes.__struct_fields__)


def test_every_name_is_that_of_a_mechanism():
    assert {mechanism.name for mechanism in EXAMPLES} == set(protocols())
    assert {type(mechanism) for mechanism in EXAMPLES} == {BitFlips, InClear}
    assert len(protocols()) == len(set(protocols()))
    for mechanism in EXAMPLES:
        assert mechanism_of(mechanism.name) is type(mechanism)


def test_one_mechanism_has_one_spelling():
    """What hides nobody is no other mechanism for being called another kind of fake."""
    assert single_bit(fakes=0, threshold=1 << 60, crowd=50).fakes == NoFakes()
    encoded = {canonical(planned(mechanism)) for mechanism in EXAMPLES}
    assert len(encoded) == len(EXAMPLES) == len(set(EXAMPLES))


@pytest.mark.parametrize("name", ["", "flips", "FLIP-BLANK", "flip_blank"])
def test_an_unknown_protocol_is_refused(name):
    with pytest.raises(ParameterError, match="protocol: wanted one of flip-blank"):
        mechanism_of(name)
    with pytest.raises(PlanError, match="plan"):
        from_json(written({**FLIPS, "type": name}), Plan, "plan")


def test_what_these_plans_hold_is_possible():
    for mechanism in (FLIPS, CLEAR, {**CLEAR, "fakes": SHAPED}):
        assert from_json(written(mechanism), Plan, "plan").mechanism.bins == 3


@pytest.mark.parametrize(
    "mechanism",
    [
        {},
        {**FLIPS, "fakes": {}},
        {"type": "bit-flips", "bins": 3, "threshold": 1 << 60},
        {"type": "bit-flips", "bins": 3, "fakes": BLANK},
        {"type": "bit-flips", "threshold": 1 << 60, "fakes": BLANK},
        {"bins": 3, "threshold": 1 << 60, "fakes": BLANK},
        {**FLIPS, "fakes": {"count": 2000}},
        {**FLIPS, "fakes": {"type": "blank"}},
        {**FLIPS, "shift": 3},
        {**FLIPS, "fakes": {**BLANK, "bins": 3}},
        {**FLIPS, "fakes": {**BLANK, "count": -1}},
        {**FLIPS, "fakes": {**BLANK, "count": 10**13 + 1}},
        {**FLIPS, "threshold": 0},
        {**FLIPS, "threshold": (1 << 24) - 1},
        {**FLIPS, "threshold": (1 << 63) + 1},
        {**FLIPS, "threshold": 2.0**60},
        {**FLIPS, "threshold": True},
        {**FLIPS, "threshold": None},
        {**FLIPS, "threshold": str(1 << 60)},
        {**FLIPS, "bins": 4},
        {**FLIPS, "bins": 1},
        {**FLIPS, "crowd": 1},
        {**FLIPS, "crowd": -5},
        {**FLIPS, "crowd": 10**10 + 1},
        {**FLIPS, "max_set": 0},
        {**FLIPS, "max_set": 4},
        {**FLIPS, "repeats": 0},
        {**FLIPS, "repeats": 1001},
        {**FLIPS, "fakes": {"type": "uniform"}},
        {**FLIPS, "fakes": {"type": "uniform", "count": -1}},
        {**FLIPS, "fakes": UNIFORM, "threshold": 0},
        {"type": "in-clear", "bins": 3},
        {**CLEAR, "fakes": BLANK},
        {**CLEAR, "fakes": {"type": "none"}},
        {**CLEAR, "fakes": {**UNIFORM, "count": -1}},
        {**CLEAR, "threshold": 1 << 60},
        {**CLEAR, "max_set": 1},
        {**CLEAR, "fakes": {**SHAPED, "count": 81}},
        {**CLEAR, "fakes": {**SHAPED, "ratio": 0}},
        {**CLEAR, "fakes": {**SHAPED, "ratio": 1 << 64}},
        {**CLEAR, "fakes": {**SHAPED, "shift": 0}},
        {**CLEAR, "fakes": {**SHAPED, "shift": 100_001}},
        {**CLEAR, "fakes": {**SHAPED, "mixes": 0}},
        {**CLEAR, "fakes": {**SHAPED, "mixes": 101}},
        {**CLEAR, "fakes": {"type": "shaped", "ratio": 1 << 63}},
        {**CLEAR, "fakes": {"type": "shaped", "shift": 27}},
        {**FLIPS, "fakes": SHAPED},
    ],
    ids=str,
)
def test_missing_extra_or_impossible_integers_are_refused(mechanism):
    with pytest.raises(PlanError, match="plan"):
        from_json(written(mechanism), Plan, "plan")


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_a_missing_field_is_refused_in_the_bytes_of_a_plan(mechanism):
    """Also one that has a usual value: one mechanism has one encoding."""
    tree = json.loads(canonical(planned(mechanism)))
    for place in ((), ("fakes",)):
        for field in tree["mechanism"]["fakes"] if place else tree["mechanism"]:
            less = json.loads(json.dumps(tree))
            del (less["mechanism"]["fakes"] if place else less["mechanism"])[field]
            data = json.dumps(less, sort_keys=True, separators=(",", ":")).encode()
            with pytest.raises(PlanError, match="plan"):
                from_canonical(data, Plan, "plan")


def test_memoized_answers_are_no_mechanism_of_a_plan_for_mixes():
    kept = json.loads(canonical(memoized(3, 0.5, 0.25, 0.75)))
    assert kept["type"] == "memoized"
    with pytest.raises(PlanError, match="plan"):
        from_json(written(kept), Plan, "plan")


@pytest.mark.parametrize(
    ("fields", "subject"),
    [
        ({"fakes": NoFakes()}, "users"),
        ({"fakes": NoFakes(), "max_set": 2}, "users"),
        ({"fakes": NoFakes(), "max_set": None}, "users"),
        ({"fakes": BlankFakes(3), "max_set": None, "crowd": 50}, "fakes of free bits"),
        ({"fakes": UniformFakes(3), "max_set": None, "crowd": 50}, "fakes of free bits"),
        ({"fakes": UniformFakes(3), "max_set": None, "crowd": 50, "bins": 1}, "uniform fakes"),
        ({"fakes": UniformFakes(3), "max_set": 2}, "uniform fakes"),
        ({"fakes": UniformFakes(3), "max_set": 2, "crowd": 50}, "uniform fakes"),
        ({"fakes": NoFakes(), "max_set": None, "bins": 1}, "users"),
        ({"fakes": NoFakes(), "max_set": None, "crowd": 50, "bins": 65}, "bits"),
    ],
)
def test_what_no_divergence_covers_cannot_be_built(fields, subject):
    with pytest.raises(ParameterError, match=f"^{subject}: wanted"):
        BitFlips(**{"bins": 3, "threshold": 1 << 60, **fields})


def test_a_mechanism_that_hides_fewer_bits_than_records_set_is_refused():
    three = Question(name="fruits", bins=3, kind=Kind.SET, max_set=3)
    bits = Question(name="fruits", bins=3, kind=Kind.BITS)
    one = Question(name="fruit", bins=3)
    blank = flip_blank(bins=3, fakes=2000, threshold=1 << 60)
    uniform = flip_uniform(bins=3, fakes=2000, threshold=1 << 60)
    for question, mechanism in (
        (three, replace(blank, max_set=2)),
        (three, clear_uniform(bins=3, fakes=128)),
        (three, uniform),
        (Question(name="fruit", bins=3, kind=Kind.SET), uniform),
        (three, flip_bits(bins=3, threshold=1 << 60, crowd=50)),
        (bits, replace(blank, max_set=3)),
        (bits, clear_uniform(bins=3, fakes=128)),
        (one, replace(blank, bins=4)),
        (one, clear_uniform(bins=2, fakes=128)),
    ):
        with pytest.raises(PlanError, match="hides records of kind"):
            a_plan(mechanism=mechanism, question=question)


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_a_parameter_that_can_be_found_is_put_in_place_of_its_own(mechanism):
    own = {
        Parameter.FLIP: isinstance(mechanism, BitFlips),
        Parameter.FAKES: isinstance(mechanism.fakes, BlankFakes | UniformFakes),
        Parameter.SHIFT: isinstance(mechanism.fakes, ShapedFakes),
    }
    for parameter, has in own.items():
        if not has:
            with pytest.raises(TypeError, match=f"{mechanism.name} has no {parameter}"):
                mechanism.having(parameter, 1 << 30)
            continue
        value = 1 << 30 if parameter is Parameter.FLIP else 77
        found = mechanism.having(parameter, value)
        assert integer(found, parameter) == value
        assert found.having(parameter, integer(mechanism, parameter)) == mechanism


def integer(mechanism, parameter):
    match parameter:
        case Parameter.FLIP:
            return mechanism.threshold
        case Parameter.FAKES:
            return mechanism.fakes.count
        case Parameter.SHIFT:
            return mechanism.fakes.shift


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_a_mechanism_cannot_be_changed(mechanism):
    with pytest.raises(AttributeError):
        mechanism.bins = 4
    with pytest.raises(AttributeError):
        mechanism.fakes.count = 4


def test_no_mechanism_is_built_half():
    with pytest.raises(TypeError):
        Shuffled(bins=3)
    with pytest.raises(TypeError):
        Mechanism(bins=3)
    assert issubclass(PlanError, MixtallyError)
