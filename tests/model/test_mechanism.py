"""A mechanism is refused when its integers are impossible or no divergence covers it."""

import pytest

from helpers.named import (
    clear_shaped,
    clear_uniform,
    flip,
    flip_bits,
    flip_blank,
    flip_uniform,
    kary_response,
    single_bit,
)
from helpers.protocols import examples_of
from mixtally.accounting.parameters import parse_parameters
from mixtally.errors import MixtallyError, ParameterError, PlanError
from mixtally.model.mechanism import (
    BitFlips,
    BlankFakes,
    InClear,
    KaryResponse,
    Mechanism,
    NoFakes,
    Parameter,
    ShapedFakes,
    Shuffled,
    UniformFakes,
    mechanism_of,
)
from mixtally.model.mechanism import protocols as registered
from mixtally.model.shape import LaplaceShape

EXAMPLES = [
    flip_blank(bins=3, fakes=0, threshold=1 << 24),
    flip_blank(bins=3, fakes=10**13, threshold=1 << 63),
    flip_blank(bins=3, fakes=9, threshold=1 << 60, crowd=50),
    clear_uniform(bins=3, fakes=128),
    clear_shaped(bins=3, ratio=1 << 63, shift=27),
    clear_shaped(bins=3, ratio=15 << 60, shift=27, mixes=3),
    flip(bins=3, threshold=1 << 60, crowd=50),
    flip_bits(bins=3, threshold=1 << 60, crowd=50, repeats=4),
    single_bit(fakes=9, threshold=1 << 60, crowd=50),
    single_bit(fakes=0, threshold=1 << 60, crowd=50),
    flip_blank(bins=3, fakes=2, threshold=1 << 60, max_set=2),
    flip_uniform(bins=3, fakes=0, threshold=1 << 24),
    flip_uniform(bins=3, fakes=10**13, threshold=1 << 63, crowd=50),
    kary_response(bins=3, replaced=1, crowd=50),
    kary_response(bins=3, replaced=(1 << 64) - 1, crowd=1, fakes=10**13),
]


def test_every_name_is_that_of_a_mechanism():
    assert len(registered()) == len({*registered()})
    assert {type(mechanism) for mechanism in EXAMPLES} == {BitFlips, InClear, KaryResponse}
    for mechanism in EXAMPLES:
        assert mechanism_of(mechanism.name) is type(mechanism)


def test_a_mechanism_is_found_by_the_name_of_its_protocol(protocol):
    made = parse_parameters(protocol, examples_of(protocol)).honest_record.message.mechanism
    assert made.name == protocol
    assert mechanism_of(protocol) is type(made)


def test_one_mechanism_is_made_in_one_way():
    """What hides nobody is no other mechanism for being called another kind of fake."""
    assert single_bit(fakes=0, threshold=1 << 60, crowd=50).fakes == NoFakes()
    assert len(EXAMPLES) == len(set(EXAMPLES))


@pytest.mark.parametrize("name", ["", "flips", "FLIP-BLANK", "flip_blank"])
def test_an_unknown_protocol_is_refused(name):
    with pytest.raises(ParameterError, match="protocol: expected one of flip-blank"):
        mechanism_of(name)


@pytest.mark.parametrize(
    ("fields", "subject"),
    [
        ({"threshold": 0}, "flip threshold"),
        ({"threshold": (1 << 24) - 1}, "flip threshold"),
        ({"threshold": (1 << 63) + 1}, "flip threshold"),
        ({"bins": 1}, "bins"),
        ({"crowd": 1}, "users"),
        ({"crowd": -5}, "users"),
        ({"crowd": 10**10 + 1}, "users"),
        ({"max_set": 0}, "max set"),
        ({"max_set": 4}, "max set"),
        ({"repeats": 0}, "repeats"),
        ({"repeats": 1001}, "repeats"),
    ],
    ids=str,
)
def test_integers_outside_their_ranges_are_refused(fields, subject):
    with pytest.raises(ParameterError, match=f"^{subject}: expected"):
        BitFlips(**{"bins": 3, "threshold": 1 << 60, "fakes": BlankFakes(9), **fields})


@pytest.mark.parametrize("kind", [BlankFakes, UniformFakes])
@pytest.mark.parametrize("count", [-1, 10**13 + 1])
def test_a_number_of_fakes_outside_its_range_is_refused(kind, count):
    with pytest.raises(ParameterError, match=r"^fakes: expected"):
        kind(count)


@pytest.mark.parametrize(
    ("ratio", "shift", "mixes"),
    [(0, 27, 1), (1 << 64, 27, 1), (1, 0, 1), (1, 100_001, 1), (1, 27, 0), (1, 27, 101)],
)
def test_a_shape_outside_its_ranges_is_refused(ratio, shift, mixes):
    with pytest.raises(ParameterError):
        ShapedFakes(LaplaceShape(ratio, shift), mixes)


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
    with pytest.raises(ParameterError, match=f"^{subject}: expected"):
        BitFlips(**{"bins": 3, "threshold": 1 << 60, **fields})


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
                mechanism.with_parameter(parameter, 1 << 30)
            continue
        value = 1 << 30 if parameter == Parameter.FLIP else 77
        found = mechanism.with_parameter(parameter, value)
        assert integer(found, parameter) == value
        assert found.with_parameter(parameter, integer(mechanism, parameter)) == mechanism


def integer(mechanism, parameter):
    match parameter:
        case Parameter.FLIP:
            return mechanism.threshold
        case Parameter.FAKES:
            return mechanism.fakes.count
        case Parameter.SHIFT:
            return mechanism.fakes.shape.shift


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
