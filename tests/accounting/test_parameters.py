"""From names and parameters, as people give them, to records; and what is refused."""

import pytest

from accounting import by_name
from helpers.protocols import examples_of, value_of
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.divergence.in_clear import usual_ratio
from mixtally.accounting.parameters import Parameters, parameter_table, parse_parameters, protocols
from mixtally.errors import ParameterError
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import (
    BitFlips,
    BlankFakes,
    NoFakes,
    Parameter,
    ShapedFakes,
    UniformFakes,
    mechanism_of,
)
from mixtally.model.question import MOST_BINS
from mixtally.model.shape import GaussianShape
from mixtally.primitives.fixed_point import SCALE, threshold_of

Q = 1 / 12
SUMS = Observer.SUMS
WHOLE = {name: examples_of(name) for name in protocols()}
"""All that is needed, and nothing else."""


def takes(name):
    return mechanism_of(name).PROTOCOLS[name]


def test_nothing_else_is_needed(protocol):
    assert WHOLE[protocol].list_given_names() == takes(protocol).required
    assert parse_parameters(protocol, WHOLE[protocol]).sought_parameter is None


def test_a_missing_parameter_is_refused(protocol):
    for field in takes(protocol).required:
        with pytest.raises(ParameterError, match=f"^{protocol}: expected"):
            parse_parameters(protocol, WHOLE[protocol].with_values(**{field: None}))


def test_a_superfluous_parameter_is_refused(protocol):
    extra = {one.name: value_of(one) for one in parameter_table()}
    rules = takes(protocol)
    instead = {other for _, other in rules.instead}
    assert len(extra) > len(rules.pricing_names)
    for field in extra.keys() - rules.required - rules.optional - instead:
        with pytest.raises(ParameterError, match=f"^{protocol}: expected"):
            parse_parameters(protocol, WHOLE[protocol].with_values(**{field: extra[field]}))
    for one, other in rules.instead:
        with pytest.raises(ParameterError, match=f"^{protocol}: expected"):
            parse_parameters(protocol, WHOLE[protocol].with_values(**{other: extra[other]}))
        assert parse_parameters(
            protocol, WHOLE[protocol].with_values(**{one: None, other: extra[other]})
        )


def test_a_variance_stands_in_place_of_a_decay():
    bell = WHOLE["clear-shaped"].with_values(shape_decay=None, shape_variance=36)
    read = parse_parameters("clear-shaped", bell)
    assert read.honest_record.message.mechanism.fakes.shape == GaussianShape(36, bell.shape_shift)
    with pytest.raises(ParameterError, match="shape-shift and --shape-variance"):
        parse_parameters("clear-shaped", bell.with_values(shape_decay=0.5))
    with pytest.raises(ParameterError, match="shape variance"):
        parse_parameters("clear-shaped", bell.with_values(shape_variance=0))
    sought = parse_parameters("clear-shaped", bell.with_values(shape_shift=None), for_epsilon=1.0)
    assert (sought.sought_parameter,
        sought.honest_record.message.mechanism.fakes.shape.variance) == (
        Parameter.SHIFT, 36,
    )  # fmt: skip


def test_nothing_of_something_counts_as_given():
    """No fakes and no ones are numbers like others; False and the default observer are not."""
    assert Parameters(fakes=0, ones=0).list_given_names() == {"fakes", "ones"}
    assert Parameters(users=2, count_crowd=True, observer=SUMS).list_given_names() == {
        "users", "count_crowd", "observer",
    }  # fmt: skip
    known = by_name.certificate_of(
        "single-bit", 1.0, users=50, fakes=0, ones=0, threshold=SCALE // 12
    )
    assert "0 of the others" in known.assumption


@pytest.mark.parametrize(
    ("name", "given", "subject"),
    [
        ("flip-blank", {"fakes": -1}, "fakes: expected an integer"),
        ("flip-blank", {"fakes": 10**13 + 1}, "fakes: expected an integer"),
        ("flip-blank", {"flip": 2.0**-40 * (1 - 1e-9)}, "flip probability: expected a number"),
        ("flip-blank", {"flip": 0.5 + 1e-9}, "flip probability: expected a number"),
        ("flip-blank", {"max_set": 0}, "max set: expected an integer"),
        ("flip-blank", {"max_set": 17}, "max set: expected an integer"),
        ("clear-uniform", {"bins": 1}, "bins: expected an integer"),
        ("clear-uniform", {"bins": 10**7 + 1}, "bins: expected an integer"),
        ("single-bit", {"users": 1}, "users: expected an integer"),
        ("single-bit", {"users": 10**10 + 1}, "users: expected an integer"),
        ("single-bit", {"users": 9, "ones": 9}, "ones: expected an integer"),
        ("single-bit", {"users": 9, "ones": -1}, "ones: expected an integer"),
        ("single-bit", {"repeats": 0}, "repeats: expected an integer"),
        ("single-bit", {"repeats": 1001}, "repeats: expected an integer"),
        ("flip", {"bits": 0}, "bits: expected an integer"),
        ("flip", {"bits": 65}, "bits: expected an integer"),
        ("clear-shaped", {"shape_decay": 41.0}, "shape decay: expected a number"),
        ("clear-shaped", {"shape_shift": 0}, "shape shift: expected an integer"),
        ("clear-shaped", {"shape_shift": 100_001}, "shape shift: expected an integer"),
        ("clear-shaped", {"mixes": 101}, "mixes: expected an integer"),
    ],
)
def test_a_parameter_outside_its_range_is_refused(name, given, subject):
    with pytest.raises(ParameterError, match=f"^{subject}"):
        parse_parameters(name, WHOLE[name].with_values(**given))


@pytest.mark.parametrize("threshold", [(1 << 24) - 1, (1 << 63) + 1])
def test_a_threshold_outside_its_range_is_refused(threshold):
    with pytest.raises(ParameterError, match=r"^flip threshold: expected an integer"):
        by_name.record("flip-blank", fakes=1, threshold=threshold)


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("flip", {"bits": 3, "bins": 3}, "expected --bits without --bins, got both"),
        ("flip", {"bits": 3, "max_set": 2}, "expected --bits without --max-set, got both"),
        ("flip", {"bits": 3, "background": "ones"}, "background: expected zero"),
        ("flip", {"background": "zero"}, "expected --background with --bits"),
        ("flip-blank", {"count_crowd": True}, "expected --count-crowd with --users"),
        ("clear-uniform", {"count_crowd": True}, "expected --count-crowd with --users"),
        ("clear-shaped", {"count_crowd": True}, "expected --count-crowd with --users"),
        ("flip-uniform", {"max_set": 2}, "Add --split"),
    ],
)
def test_what_does_not_go_together_is_refused(name, given, words):
    with pytest.raises(ParameterError, match=words):
        parse_parameters(name, WHOLE[name].with_values(**given))


@pytest.mark.parametrize("name", ["", "flips", "memory", "FLIP", "flip_blank"])
def test_an_unknown_protocol_is_refused(name):
    with pytest.raises(ParameterError, match=r"^protocol: expected one of flip-blank, "):
        parse_parameters(name, WHOLE["flip"])


@pytest.mark.parametrize("fraction", [0.0, -0.5, 1.5, float("nan")])
def test_an_impossible_honest_share_is_refused(fraction):
    with pytest.raises(ParameterError, match="honest share"):
        parse_parameters("flip", WHOLE["flip"], fraction)


def test_a_mix_that_draws_the_fakes_has_no_honest_share():
    with pytest.raises(ParameterError, match=r"^--honest-share: expected"):
        parse_parameters("clear-shaped", WHOLE["clear-shaped"], 0.9)
    assert parse_parameters("clear-shaped", WHOLE["clear-shaped"], 1.0).crowd is None


def test_calibrating_what_is_given_or_both_left_out_is_refused():
    for given in (Parameters(), Parameters(fakes=3, flip=Q), Parameters(bins=3)):
        with pytest.raises(ParameterError, match=r"^flip-blank: expected"):
            parse_parameters("flip-blank", given, for_epsilon=1.0)
    with pytest.raises(ParameterError, match=r"^clear-uniform: expected"):
        parse_parameters("clear-uniform", Parameters(fakes=3, bins=3), for_epsilon=1.0)
    with pytest.raises(ParameterError, match=r"^clear-shaped: expected"):
        parse_parameters(
            "clear-shaped", Parameters(shape_decay=0.5, shape_shift=3), for_epsilon=1.0
        )


@pytest.mark.parametrize(
    ("name", "left_out", "sought"),
    [
        ("flip-blank", "flip", Parameter.FLIP),
        ("flip-blank", "fakes", Parameter.FAKES),
        ("clear-uniform", "fakes", Parameter.FAKES),
        ("clear-shaped", "shape_shift", Parameter.SHIFT),
        ("single-bit", "flip", Parameter.FLIP),
        ("single-bit", "fakes", Parameter.FAKES),
        ("flip", "flip", Parameter.FLIP),
        ("flip-uniform", "flip", Parameter.FLIP),
        ("flip-uniform", "fakes", Parameter.FAKES),
    ],
)
def test_what_was_left_out_is_sought(name, left_out, sought):
    given = WHOLE[name].with_values(**{left_out: None})
    assert parse_parameters(name, given, for_epsilon=1.0).sought_parameter is sought
    with pytest.raises(ParameterError):
        parse_parameters(name, given)


@pytest.mark.parametrize(
    ("given", "messages"), [({}, 1), ({"repeats": 3}, 3), ({"max_set": 2, "split": True}, 2)]
)
def test_a_decay_left_out_is_what_suits_the_messages(given, messages):
    read = parse_parameters("clear-shaped", Parameters(**given), for_epsilon=0.9)
    assert read.honest_record.message.mechanism.fakes.shape.ratio == usual_ratio(0.9, messages)


def test_only_the_fakes_and_people_that_surely_are_honest_are_counted():
    """Floors of a half: of 901 fakes and 401 people."""
    given = Parameters(users=401, fakes=901, bins=9, flip=Q, count_crowd=True)
    read = parse_parameters("flip-blank", given, 0.5)
    counted, sent = read.honest_record.message.mechanism, read.full_record.message.mechanism
    assert (counted.fakes.count, counted.crowd, read.crowd) == (450, 200, 200)
    assert (sent.fakes.count, sent.crowd) == (901, 401)
    assert counted == BitFlips(
        bins=9, threshold=threshold_of(Q), fakes=BlankFakes(450), crowd=200, max_set=1
    )
    assert parse_parameters("flip-blank", given.with_values(count_crowd=False), 0.5).crowd is None


@pytest.mark.parametrize(
    ("name", "given", "kind", "pieces", "observer"),
    [
        ("flip-blank", {}, BlankFakes, 1, "messages"),
        ("flip-blank", {"max_set": 3, "split": True}, BlankFakes, 3, "messages"),
        ("flip", {}, NoFakes, 1, "messages"),
        ("flip", {"bins": 9, "split": True}, NoFakes, 1, "sums"),
        ("flip", {"bits": 5}, NoFakes, 1, "messages"),
        ("flip", {"bits": 5, "split": True}, NoFakes, 5, "messages"),
        ("flip-uniform", {"split": True}, UniformFakes, 1, "sums"),
        ("flip-uniform", {"max_set": 2, "split": True}, UniformFakes, 2, "messages"),
        ("single-bit", {}, BlankFakes, 1, "messages"),
        ("clear-uniform", {"max_set": 2, "split": True}, UniformFakes, 2, "messages"),
        ("clear-shaped", {}, ShapedFakes, 1, "messages"),
    ],
)
def test_what_travels(name, given, kind, pieces, observer):
    record = parse_parameters(name, WHOLE[name].with_values(**given)).honest_record
    assert isinstance(record.message.mechanism.fakes, kind)
    assert (record.pieces, record.message.observer) == (pieces, observer)


def test_bins_that_nobody_names_are_as_many_as_there_can_be():
    """More bins never make a divergence smaller."""
    unnamed = parse_parameters("flip-blank", Parameters(fakes=9, flip=0.3, max_set=2)).honest_record
    assert unnamed.message.mechanism.bins == MOST_BINS
    for bins in (2, 3, 4, 9):
        few = parse_parameters(
            "flip-blank", Parameters(fakes=9, flip=0.3, max_set=2, bins=bins)
        ).honest_record
        own = Accountant()
        assert own.upper(few, 1.0) <= own.upper(unnamed, 1.0)


def test_a_record_sets_no_more_bits_than_there_are_bins():
    given = Parameters(fakes=9, flip=0.3, bins=2, max_set=3)
    assert parse_parameters("flip-blank", given).honest_record.message.mechanism.max_set == 2
