"""No field of a plan file is believed: derived fields are compared, the others are free to choose.

Every leaf of a file is altered in several ways. The altered file is refused when it is read or when
its certificate is derived again, unless the leaf is one that the author of a plan chooses and
that changes no derived number. Such a file is another plan, with another fingerprint.
"""

import json
import re

import pytest
from msgspec.structs import replace

from helpers.contracts import (
    contract_of,
    flipped,
    gaussian,
    over_planes,
    plan_of,
    proved,
    replaced,
    shaped,
    uniform,
)
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.errors import InputError, PlanError
from mixtally.model.contract import (
    FakeRecord,
    OwnFakes,
    Prefixes,
    read_contract,
    read_plan,
    write_contract,
    write_plan,
)
from mixtally.model.grid import Grid
from mixtally.model.layout import Form
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.report.promise import exactness_text

BLANK = OwnFakes(FakeRecord.BLANK, 1, 1 << 63)
ASKED = Prefixes(alphabet="abc", most=2, longest=3)
GRID = Grid(low=0.0, high=1.0, points=3)
FEW = {"users": 60}
PLANS = {
    "uniform": plan_of(
        Question(name="q", bins=3, labels=("a", "b", "c")), [uniform(3, coin=1 << 63)], **FEW
    ),
    "edges": plan_of(Question(name="q", bins=2), [uniform(2)], edges=(0.0, 1.0, 2.0), **FEW),
    "grid": plan_of(Question(name="q", bins=3), [shaped(3)], grid=GRID),
    "prefixes": plan_of(
        Question(name="q", bins=ASKED.bins),
        [uniform(ASKED.bins, whole=9)],
        prefixes=ASKED,
        users=200,
    ),
    "gaussian": plan_of(Question(name="q", bins=3), [gaussian(3)], collections=2),
    "blanks": plan_of(Question(name="q", bins=3), [flipped(3, blanks=400)]),
    "coins": plan_of(Question(name="q", bins=3), [flipped(3, own=BLANK)], **FEW),
    "capped": plan_of(
        Question(name="q", bins=30), [flipped(30, blanks=400, cap=20, form=Form.POSITIONS)]
    ),
    "set": plan_of(
        Question(name="q", bins=9, kind=Kind.SET, max_set=2), [flipped(9, most_set=2, blanks=500)]
    ),
    "attributes": plan_of(
        make_attributes_question("q", (3, 4)), [flipped(3, own=BLANK), flipped(4, own=BLANK)], **FEW
    ),
    "planes": plan_of(Question(name="q", bins=50), [over_planes(50, 7, whole=1)], **FEW),
    "replaced": plan_of(Question(name="q", bins=4), [replaced(4)], users=100),
}
CHOSEN = {
    r"question\.name|question\.labels\.\d+|edges\.\d+|grid\.(low|high)": "what is asked",
    r"question\.labels": "labels may be left out",
    r"edges|grid": "how numbers become bins",
    r"prefixes\.(alphabet|longest)": "which words are asked for",
    r"prefixes": "whether bins stand for prefixes",
    r"guarantee\.delta": "the delta that was asked for, which is at least the derived one",
    r"users": "the people who are expected",
    r"minimum_crowd|honest_share": "which decide nothing unless people bring the cover",
    r"hops": "of people's fakes the first honest hop counts, whichever it is",
}
"""Leaves that an author chooses -> what they say."""
ACCOUNTANT = Accountant()


def leaves(value, path=()):
    """Every place in plain data, with what stands there."""
    if path:
        yield path, value
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[name], (*path, name))


def others(old):
    """Values to put in the place of ``old``."""
    if isinstance(old, bool):
        return [not old]
    if old is None:
        return [1, 0.5, "x"]
    if isinstance(old, int):
        return [old + 1, old - 1, 2 * old, old // 2]
    if isinstance(old, float):
        return [old * (1 + 1e-3), old * (1 - 1e-3), 2.0 * old, old / 2.0, 0.0, 1.0]
    if isinstance(old, str):
        number = [str(int(old) + (1 << 50)), str(int(old) - (1 << 50))] if old.isdecimal() else []
        return [*number, old + "x", "none"]
    return [None, old[1:] if isinstance(old, list) else {}]


def put(tree, path, value):
    """A copy of plain data with ``value`` at ``path``."""
    copy = json.loads(json.dumps(tree))
    holder = copy
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return copy


def accepted(tree):
    """The plan in plain data if it is read and verified, else None."""
    try:
        plan = read_plan(json.dumps(tree).encode(), "p.json")
        verify(plan, ACCOUNTANT)
    except InputError:
        return None
    return plan


def believed(name):
    """Return the places of a plan file where another value is accepted, with that value."""
    plan = proved(PLANS[name], ACCOUNTANT)
    tree = json.loads(write_plan(plan))
    assert accepted(tree) == plan
    found = []
    for path, old in leaves(tree):
        for new in others(old):
            other = accepted(put(tree, path, new))
            if other not in (None, plan):
                assert other.fingerprint != plan.fingerprint
                found.append((".".join(map(str, path)), new))
    return found


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.seconds) if one == "attributes" else one for one in PLANS],
)
def test_every_field_is_derived_or_chosen(name):
    odd = [
        (place, new)
        for place, new in believed(name)
        if not any(re.fullmatch(chosen, place) for chosen in CHOSEN)
    ]
    assert odd == []


def test_every_field_of_a_contract_is_derived_or_says_who_runs_it():
    """Beside its plan: sizes of envelopes follow, and a key holds a hash of its owner's name."""
    contract = contract_of(proved(PLANS["edges"], ACCOUNTANT))
    tree = json.loads(write_contract(contract)) | {
        "client_files": [{"path": "a.py", "sha256": "0" * 64}]
    }
    changed = set()
    for path, old in leaves(tree):
        for new in [] if path[0] == "plan" else others(old):
            data = json.dumps(put(tree, path, new)).encode()
            try:
                other = read_contract(data, "c.json")
            except InputError:
                continue
            if other != read_contract(json.dumps(tree).encode(), "c.json"):
                changed.add(re.sub(r"\d+", "N", ".".join(map(str, path))))
    assert changed <= {
        *(
            "name",
            "serial",
            "admission",
            "client_files",
            "client_files.N.path",
            "client_files.N.sha256",
            "most_bundles",
            "rounds.open_seconds",
            "rounds.every_seconds",
        ),
        *("hops.N.address", "hops.N.operator", "collector.address", "collector.operator"),
    }
    assert {"name", "serial", "hops.N.operator"} <= changed


@pytest.mark.parametrize("name", ["edges", "coins", "planes", "replaced", "gaussian"])
def test_a_lower_end_that_is_raised_to_the_upper_one_makes_nothing_exact(name):
    plan = proved(PLANS[name], ACCOUNTANT)
    stated = plan.certificate
    assert exactness_text(verify(plan, ACCOUNTANT)) == "proved upper bound"
    for lower in (stated.upper, (stated.lower + stated.upper) / 2, 0.0):
        with pytest.raises(PlanError, match="the bounds that follow from its integers"):
            verify(replace(plan, certificate=replace(stated, lower=lower)), ACCOUNTANT)
    if stated.upper < plan.guarantee.delta:
        loose = replace(stated, upper=stated.upper * 1.001)
        with pytest.raises(PlanError, match="the bounds that follow from its integers"):
            verify(replace(plan, certificate=loose), ACCOUNTANT)
