"""What somebody says they guarantee is read as every other command reads it, or refused."""

import pytest

from mixtally.accounting.parameters import Parameters, parse_parameters
from mixtally.errors import ParameterError
from mixtally.lab.attacks import MemoizedTarget, Target
from mixtally.lab.attacks.claim import build_target
from mixtally.lab.attacks.remaining_epsilon import mechanism_of
from mixtally.model.contract import Shape


@pytest.mark.parametrize(
    ("name", "came", "epsilon"),
    [
        ("nope", {}, 1.0),
        ("flip", {"users": 100, "flip": 0.1}, 1.0),
        ("flip", {"users": 100, "flip": 0.1, "bins": 5, "bits": 5}, 1.0),
        ("flip-blank", {"users": 100, "flip": 0.1, "bins": 5, "fakes": 9, "repeats": 2}, 1.0),
        ("flip", {"users": 100, "flip": 0.1, "bins": 5}, None),
        ("flip", {"users": 100, "flip": 0.5, "bins": 5}, 1.0),
        ("flip", {"users": 1, "flip": 0.1, "bins": 5}, 1.0),
        ("flip", {"users": 100, "flip": 0.1, "bins": 5, "fakes": 9}, 1.0),
        ("flip-blank", {"users": 100, "flip": 0.1, "bins": 5}, 1.0),
        ("flip", {"users": 100, "flip": 0.1, "bits": 5, "max_set": 2}, 1.0),
        ("flip", {"users": 100, "flip": 0.1, "bits": 65}, 1.0),
        ("clear-uniform", {"users": 100, "bins": 5, "fakes": 9}, 0.0),
        ("clear-shaped", {"users": 90, "bins": 8, "shape_decay": 0.5, "shape_shift": 9,
                          "mixes": 0}, 1.0),
        ("memory", {"permanent": 0.5, "p": 0.5, "q": 0.75, "hashes": 1}, None),
        ("memory", {"permanent": 0.5, "p": 0.8, "q": 0.75, "hashes": 1, "reports": 2}, None),
        ("memory", {"permanent": 0.5, "p": 0.5, "q": 0.75, "hashes": 9, "reports": 2, "bits": 9},
         None),
    ],
)  # fmt: skip
def test_claims_that_make_no_sense_are_refused(name, came, epsilon):
    with pytest.raises(ParameterError):
        build_target(name, Parameters(**came), epsilon, None if epsilon is None else 1e-6)


def test_claims_are_read_as_delta_reads_them():
    """One place knows what parameters mean: the mechanism is the one that ``delta`` divergences."""
    for name, came in (
        ("flip-blank", {"users": 90, "bins": 8, "fakes": 9, "flip": 0.1, "max_set": 2}),
        ("flip-uniform", {"users": 90, "bins": 8, "fakes": 9, "flip": 0.1, "count_crowd": True}),
        ("flip", {"users": 90, "bins": 8, "flip": 0.1}),
        ("flip", {"users": 90, "bits": 3, "flip": 0.1, "repeats": 2}),
        ("single-bit", {"users": 90, "flip": 0.1, "fakes": 9}),
        ("clear-uniform", {"users": 90, "bins": 8, "fakes": 9}),
        ("clear-shaped", {"users": 90, "bins": 8, "shape_decay": 0.5, "shape_shift": 9}),
        ("clear-shaped", {"users": 90, "bins": 8, "shape_decay": 0.5, "shape_shift": 9,
                          "max_set": 3}),
        ("clear-shaped", {"users": 90, "bins": 2, "shape_decay": 0.5, "shape_shift": 9,
                          "paired": True}),
    ):  # fmt: skip
        priced = parse_parameters(name, Parameters(**came)).honest_record.message.mechanism
        found = build_target(name, Parameters(**came), 1.0, 1e-3)
        ((who, times),) = found.senders_among(found.certain).items()
        assert (mechanism_of(who), times) == (priced, 1)
    bare = build_target("single-bit", Parameters(users=90, flip=0.1), 1.0, 1e-3)
    assert bare.certain == (0, 90)
    few = Parameters(users=90, bins=8, fakes=9, flip=0.1)
    assert build_target("flip-blank", few, 1.0, 1e-3, 0.5).certain == (4, 0)


def test_claims_say_what_was_claimed():
    shaped = Parameters(users=90, bins=8, shape_decay=0.5, shape_shift=9, mixes=3)
    target = build_target("clear-shaped", shaped, 1.0, 1e-3)
    assert isinstance(target, Target)
    assert isinstance(target.parts[0].recipe, Shape)
    assert target.hops == 3
    assert "shape shift 9" in target.title
    pair = Parameters(users=90, bins=2, shape_decay=1.0, shape_shift=9, paired=True)
    assert build_target("clear-shaped", pair, 1.0, 1e-3).title.endswith(", paired")
    memory = build_target("memory", Parameters(permanent=0.5, p=0.5, q=0.75, hashes=1,
        reports=2),
                   None, None)  # fmt: skip
    assert isinstance(memory, MemoizedTarget)
    assert memory.mechanism.bins == 128
