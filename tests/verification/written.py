"""Plan of one part as plain JSON, and as records, which the accountant prices."""

import json
import random

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans import terms as accounted
from mixtally.device.contract.plan import VERSION
from mixtally.device.contract.planes import most_digits
from mixtally.errors import InputError
from mixtally.model.certificate import Certificate, Status
from mixtally.model.contract import (
    BlanksRecipe,
    Cover,
    FakeRecord,
    GaussianShape,
    LaplaceShape,
    NoRecipe,
    OwnFakes,
    Part,
    Plan,
    write_plan,
)
from mixtally.model.guarantee import Guarantee, Observer
from mixtally.model.layout import Form, Layout
from mixtally.model.planes import Planes
from mixtally.model.question import Kind, Question

SCALE = 1 << 64


def plain(plan):
    """As it stands in a file."""
    return json.loads(write_plan(plan))


def stated(epsilon, lower, upper):
    return Certificate(
        epsilon=epsilon,
        lower=lower,
        upper=upper,
        observer=Observer.MESSAGES,
        status=Status.PROVED,
        source="",
        assumption="",
    )


def plan_of(*parts, epsilon=1.0, people=1000, certificate=None, **changes):
    """Plan with these parts, whose stated certificate says nothing."""
    first = parts[0]
    kind = Kind.BITS if first.most_set is None else Kind.SET if first.most_set > 1 else Kind.ONE
    question = Question(name="q", bins=first.bins, kind=kind, max_set=first.most_set or 1)
    if len(parts) > 1:
        question = Question(name="q", bins=len(parts), kind=Kind.BITS)
    fields = {
        "version": VERSION,
        "question": question,
        "edges": None,
        "grid": None,
        "prefixes": None,
        "guarantee": Guarantee(epsilon=epsilon, delta=0.1),
        "users": max(people, 2),
        "minimum_crowd": people,
        "honest_share": 1.0,
        "count_flips": any(part.replaced is not None for part in parts),
        "collections": 1,
        "hops": 1,
        "cover": Cover.MIXES if first.by_mixes else Cover.PEOPLE,
        "parts": parts,
        "certificate": certificate or stated(epsilon, 0.0, 0.1),
        "local_epsilon": None,
    }
    return Plan(**{**fields, **changes})


def clear(bins, *, whole=0, coin=0, shape=None, most_set=1, planes=None, replaced=None):
    """Bins in clear, among uniform fakes, those of ``shape``, or what others ``replace``."""
    named = bins + (most_set if most_set > 1 else 0) if planes is None else planes.messages
    return Part(
        bins=bins,
        most_set=most_set,
        threshold=None,
        own=OwnFakes(FakeRecord.UNIFORM, whole, coin) if whole or coin else None,
        recipe=shape or NoRecipe(),
        layout=Layout(Form.INDEX, named),
        repeats=1,
        planes=planes,
        replaced=replaced,
    )


def flips(bins, threshold, *, most_set=1, own=None, blanks=None, cap=None):
    """Flipped bits; ``own`` are (whole, coin) of devices, ``blanks`` those of a hop."""
    return Part(
        bins=bins,
        most_set=most_set,
        threshold=threshold,
        own=OwnFakes(FakeRecord.BLANK, *own) if own else None,
        recipe=NoRecipe() if blanks is None else BlanksRecipe(blanks, threshold),
        layout=Layout(Form.BITS, bins, cap),
        repeats=1,
    )


def random_plan(chance: random.Random):
    """One part, asked once, covered by fakes of every kind; from tiny to 10^7 of them."""
    while True:
        epsilon = chance.choice([0.1, 0.5, 1.0, 2.0])
        people = int(10 ** chance.uniform(0.5, 5.5))
        share = chance.choice([0.7, 0.9, 1.0])
        try:
            return plan_of(
                random_part(chance, people),
                epsilon=epsilon,
                people=people,
                users=2 * people,
                honest_share=share,
                hops=chance.randint(1, 3),
            )
        except InputError:
            continue


def random_part(chance, people):
    """Cover of 5 to 500 ones a bin, where that can be."""
    cover = 10 ** chance.uniform(0.7, 2.7)
    way = chance.choice(["shaped", "uniform", "people", "mixes", "replaced", "sets"])
    if way == "shaped":
        ratio, shift = chance.randint(1 << 60, SCALE - 1), chance.randint(1, 60)
        shape = GaussianShape(1 + 2 * shift, shift) if ratio % 3 == 0 else None
        most = chance.choice([1, 1, 4])
        return clear(50, shape=shape or LaplaceShape(ratio, shift), most_set=most)
    own = chance.choice([0, 0, 1, 3]), chance.choice([0, chance.randint(1, SCALE - 1)])
    if own == (0, 0):
        own = 0, chance.randint(1, SCALE - 1)
    mean = people * (own[0] + own[1] / SCALE)
    if way in ("replaced", "sets"):
        return random_in_clear(chance, way, people, own if chance.random() < 0.7 else (0, 0), cover)
    if way == "uniform":
        return clear(max(2, min(10**6, int(mean / cover))), whole=own[0], coin=own[1])
    if way == "mixes":
        mean = int(10 ** chance.uniform(0, 7))
    q = min(0.45, cover / mean)
    bins, most_set = chance.choice([(1, None), (2, 1), (40, 1), (1000, 1)])
    cap = chance.choice([None, 1 + int(bins * q + 6 * (bins * q) ** 0.5)])
    return flips(
        bins,
        int(q * SCALE),
        most_set=most_set,
        own=own if way == "people" else None,
        blanks=int(mean) if way == "mixes" else None,
        cap=None if cap is None else min(bins, cap),
    )


def random_in_clear(chance, way, people, own, cover):
    """Values or sets of which some are replaced, or sets; in bins or over planes."""
    most, g = chance.choice([2, 3, 5]) if way == "sets" else chance.choice([1, 1, 4]), None
    if way == "replaced" or own == (0, 0):
        g = 10 ** chance.uniform(-2, -0.2)
    cells = int(people * (own[0] + own[1] / SCALE + most * (g or 0)) / cover / most)
    planes, bins = None, max(2 * most, min(10**5, cells))
    if chance.random() < 0.4:
        prime = max(prime for prime in PRIMES if prime <= max(bins, 13))
        planes = Planes(prime, 2 if most == 1 else most_digits(prime))
        bins = planes.points
    return clear(
        bins,
        whole=own[0],
        coin=own[1],
        most_set=most,
        planes=planes,
        replaced=None if g is None else int(g * SCALE),
    )


PRIMES = (13, 31, 101, 307, 1009, 9973)


def certified(plan, accountant=None):
    """What the accountant proves of ``plan``."""
    return accounted.certify_terms(accounted.PrivacyTerms.of(plan), accountant or Accountant())
