"""A plan holds together or is refused, and its bytes are its identity."""

import json
import math

import pytest

from mixtally.errors import ParameterError, PlanError
from mixtally.ground.codec import canonical, fingerprint, from_canonical, from_json
from mixtally.records.guarantee import Guarantee
from mixtally.records.mechanism.named import clear_uniform, flip_blank
from mixtally.records.plan import Plan, read_plan
from records.builders import a_certificate, a_plan


def altered(**changes):
    """The JSON of a valid plan with fields replaced, "a__b" naming field b of field a."""
    tree = json.loads(canonical(a_plan()))
    for name, value in changes.items():
        *path, last = name.split("__")
        place = tree
        for step in path:
            place = place[step]
        place[last] = value
    return json.dumps(tree).encode()


def read(data):
    return from_json(data, Plan, "plan")


def test_a_plan_comes_back_from_its_bytes_and_from_any_json():
    plan = a_plan()
    assert from_canonical(canonical(plan), Plan, "plan") == plan
    assert read(altered()) == plan
    assert read(json.dumps(json.loads(canonical(plan)), indent=4).encode()) == plan


def turned(tree):
    """The same fields in the other order."""
    if not isinstance(tree, dict):
        return tree
    return {name: turned(tree[name]) for name in reversed(tree)}


def test_the_order_of_the_fields_does_not_matter():
    tree = json.loads(canonical(a_plan()))
    assert list(turned(tree)["mechanism"]) == list(tree["mechanism"])[::-1]
    assert fingerprint(read(json.dumps(turned(tree)).encode())) == fingerprint(a_plan())


def test_thresholds_of_64_bits_keep_every_digit():
    plan = a_plan(mechanism=flip_blank(bins=3, fakes=1, threshold=(1 << 63) - 1))
    assert read(canonical(plan)).mechanism.threshold == (1 << 63) - 1


@pytest.mark.parametrize(
    "changes",
    [
        {"users": 1001},
        {"honest_share": 0.6},
        {"mechanism": clear_uniform(bins=3, fakes=2000)},
        {"mechanism": flip_blank(bins=3, fakes=2001, threshold=1 << 60)},
        {"guarantee": Guarantee(epsilon=1.0, delta=2e-6)},
        {"certificate": a_certificate(assumption="another")},
    ],
)
def test_every_field_is_part_of_the_fingerprint(changes):
    assert fingerprint(a_plan(**changes)) != fingerprint(a_plan())


@pytest.mark.parametrize("version", [0, 1, 2, 4, -1])
def test_another_version_is_refused(version):
    with pytest.raises(PlanError, match="plan version"):
        a_plan(version=version)
    with pytest.raises(PlanError, match="plan version"):
        read(altered(version=version))


@pytest.mark.parametrize("version", [1, 2, 4])
def test_another_version_is_told_whatever_else_the_file_holds(version):
    """What a version before wrote has other fields: not they are what is wrong with it."""
    tree = json.loads(canonical(a_plan()))
    tree |= {"version": version, "protocol": "flip-blank", "integers": {"fakes": 2000}}
    del tree["mechanism"]
    with pytest.raises(PlanError, match=f"^plan version: wanted 3, got {version}"):
        read_plan(json.dumps(tree, sort_keys=True).encode(), "old.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"upper": math.nextafter(1e-6, 1)},
        {"upper": 1.0},
        {"epsilon": 1.1},
        {"epsilon": 0.9},
        {"epsilon": math.nan},
    ],
)
def test_a_certificate_that_does_not_keep_the_promise_is_refused(changes):
    with pytest.raises(PlanError, match="plan certificate"):
        a_plan(certificate=a_certificate(**changes))


def test_a_certificate_at_the_promise_itself_is_accepted():
    assert a_plan(certificate=a_certificate(upper=1e-6)).certificate.upper == 1e-6


@pytest.mark.parametrize("users", [0, 1, 10**10 + 1])
def test_an_impossible_crowd_is_refused(users):
    with pytest.raises(ParameterError, match="users"):
        a_plan(users=users)


@pytest.mark.parametrize("fraction", [0.0, 1.5, math.nan])
def test_an_impossible_honest_share_is_refused(fraction):
    with pytest.raises(ParameterError, match="honest share"):
        a_plan(honest_share=fraction)


@pytest.mark.parametrize(
    "changes",
    [
        {"color": 1},
        {"question__color": 1},
        {"certificate__color": 1},
        {"certificate__status": "believed"},
        {"certificate__observer": "nobody"},
        {"guarantee__observer": "nobody"},
        {"mechanism__fakes__count": 2.5},
        {"mechanism__fakes__count": "2000"},
        {"mechanism__fakes__count": None},
        {"mechanism": []},
        {"users": "1000"},
        {"users": True},
        {"mechanism__type": 3},
        {"question__bins": 4},
        {"question__labels": ["apple", "pear", "pear"]},
        {"certificate__upper": 1e-5},
        {"guarantee__delta": 1e-7},
        {"guarantee__epsilon": 0.5},
    ],
)
def test_an_altered_file_is_refused(changes):
    with pytest.raises(PlanError):
        read(altered(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"users": 1},
        {"honest_share": 2.0},
        {"guarantee__epsilon": 0.0},
        {"guarantee__delta": 0.5},
        {"question__bins": 1},
        {"certificate__lower": 0.5},
        {"certificate__upper": -1.0},
    ],
)
def test_an_impossible_number_in_a_file_is_the_fault_of_the_file(changes):
    """``from_json`` promises PlanError for impossible values, whichever record notices."""
    with pytest.raises(PlanError):
        read(altered(**changes))


@pytest.mark.parametrize("field", json.loads(canonical(a_plan())))
def test_a_missing_field_is_refused(field):
    tree = json.loads(canonical(a_plan()))
    del tree[field]
    with pytest.raises(PlanError, match=field):
        read(json.dumps(tree).encode())
