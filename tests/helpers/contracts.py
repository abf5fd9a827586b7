"""Contracts for tests: parts, plans and networks made by hand, and random ones of every kind.

Certificates are placeholders (lower 0, upper the delta that is promised) until ``proved`` puts what
is proved of the plan in their place.
"""

import hashlib
import math
import random

import msgspec
from msgspec.structs import replace

from mixtally.accounting.divergence.in_clear import usual_ratio
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms, local_epsilon_of
from mixtally.device.contract.plan import VERSION
from mixtally.device.contract.planes import (
    MOST_MESSAGES,
    MOST_WIDE_MESSAGES,
    digits_for,
    most_digits,
)
from mixtally.errors import InputError
from mixtally.model.certificate import Certificate, Status
from mixtally.model.contract import (
    CONTRACT_VERSION,
    BlanksRecipe,
    ClientFile,
    Contract,
    Cover,
    FakeRecord,
    GaussianShape,
    LaplaceShape,
    NoRecipe,
    OwnFakes,
    Part,
    Plan,
    Planes,
    Prefixes,
    Role,
    Rounds,
    UniformRecipe,
    envelope_bytes,
    format_verifier_key,
)
from mixtally.model.contract_json import stringify_large_integers
from mixtally.model.grid import Grid
from mixtally.model.guarantee import Guarantee, Observer
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.layout import Form, Layout
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.model.shape import PairedGaussianShape, PairedLaplaceShape

SEED = "00112233445566778899aabbccddeeff"
RATIO = usual_ratio(1.0, 1)
"""By which shaped fakes fall at epsilon 1."""
FILES = (ClientFile(path="index.html", sha256="0" * 64),)
"""A page of one file, by which contracts of one serial can differ."""
PAIRED_RATIO = usual_ratio(1.0, 1, paired=True)


def role(name, port=7001):
    """Someone with an address on this machine and a key of their own."""
    public = hashlib.sha256(name.encode()).digest()
    key = format_verifier_key(name, public)
    return Role(name=name, address=f"http://127.0.0.1:{port}", key=key, operator=f"Team {name}")


def network(hops):
    """So many hops, and a collector."""
    mixes = tuple(role(f"mix-{i + 1}", 7001 + i) for i in range(hops))
    return mixes, role("collector", 7000)


def contract_of(plan, **changes):
    """A contract of this plan; ``changes`` are fields of it."""
    hops, collector = network(plan.hops)
    fields = {
        "version": CONTRACT_VERSION,
        "name": "home-page",
        "serial": 1,
        "plan": plan,
        "hops": hops,
        "collector": collector,
        "suite": 1,
        "envelope_bytes": envelope_bytes(plan, changes.get("suite", 1)),
        "rounds": Rounds(open_seconds=3600, every_seconds=86400),
        "most_bundles": 4 * plan.users,
        "admission": "open",
        "client_files": (),
    }
    return Contract(**{**fields, **changes})


def plan_of(question, parts, *, epsilon=1.0, delta=0.1, users=1000, **changes):
    """A plan of these parts, not priced; the cover follows from them."""
    mixes = parts[0].by_mixes
    bare = any(part.own is None for part in parts)
    promised = Guarantee(epsilon=epsilon, delta=delta)
    fields = {
        "version": VERSION,
        "question": question,
        "edges": None,
        "grid": None,
        "prefixes": None,
        "guarantee": promised,
        "users": users,
        "minimum_crowd": users,
        "honest_share": 1.0,
        "count_flips": (bare or any(part.replaced is not None for part in parts)) and not mixes,
        "collections": 1,
        "hops": 2,
        "cover": Cover.MIXES if mixes else Cover.PEOPLE,
        "parts": tuple(parts),
        "certificate": placeholder(promised),
        "local_epsilon": None,
    }
    return Plan(**{**fields, **changes})


def placeholder(promised):
    """Bounds of which nothing is known."""
    return Certificate(
        epsilon=promised.epsilon,
        lower=0.0,
        upper=promised.delta,
        observer=Observer.MESSAGES,
        status=Status.PROVED,
        source="none yet",
        assumption="none yet",
    )


def proved(plan, accountant=None):
    """The plan with what is proved of it; PlanError where that is more than it promises."""
    priced = PrivacyTerms.of(plan)
    stated = certify_terms(priced, accountant)
    return replace(plan, certificate=stated, local_epsilon=local_epsilon_of(priced))


def builtins_of(record):
    """A record as a contract spells it."""
    return stringify_large_integers(msgspec.to_builtins(record))


def shaped(bins, *, ratio=RATIO, shift=20, most_set=1):
    """One bin in clear, or a set of them, among shaped fakes of every hop."""
    return Part(
        bins=bins,
        most_set=most_set,
        threshold=None,
        own=None,
        recipe=LaplaceShape(ratio, shift),
        layout=Layout(Form.INDEX, bins + most_set * (most_set > 1)),
        repeats=1,
    )


def gaussian(bins, *, variance=36, shift=36, most_set=1):
    """The same among fakes of a Gaussian shape."""
    return replace(shaped(bins, most_set=most_set), recipe=GaussianShape(variance, shift))


def paired(*, ratio=PAIRED_RATIO, shift=20):
    """One of two bins, among fakes of every hop that always add up to twice the shift."""
    return replace(shaped(2), recipe=PairedLaplaceShape(ratio, shift))


def paired_gaussian(*, variance=36, shift=36):
    """The same among fakes of a Gaussian shape."""
    return replace(shaped(2), recipe=PairedGaussianShape(variance, shift))


def uniform(bins, *, whole=0, coin=1 << 62, most_set=1):
    """One bin in clear, or a set of them, among uniform fakes of devices."""
    return Part(
        bins=bins,
        most_set=most_set,
        threshold=None,
        own=OwnFakes(FakeRecord.UNIFORM, whole, coin),
        recipe=NoRecipe(),
        layout=Layout(Form.INDEX, bins + most_set * (most_set > 1)),
        repeats=1,
    )


def over_planes(
    bins, prime, *, whole=0, coin=1 << 62, drawn=None, share=None, most_set=1, wide=False
):
    """One value in clear, named by a plane, or a set of them, among fakes of devices, or ``drawn``
    of every hop. With ``wide``, messages have up to 16 bytes.
    """
    most = MOST_WIDE_MESSAGES if wide else MOST_MESSAGES
    planes = Planes(prime, digits_for(prime, bins) if most_set == 1 else most_digits(prime, most))
    return Part(
        bins=bins,
        most_set=most_set,
        threshold=None,
        own=OwnFakes(FakeRecord.UNIFORM, whole, coin) if drawn is None and whole + coin else None,
        recipe=NoRecipe() if drawn is None else UniformRecipe(drawn),
        layout=Layout(Form.INDEX, planes.messages),
        repeats=1,
        planes=planes,
        replaced=None if share is None else int(share * 2**64),
    )


def pairs_of_texts(points):
    """Up to two texts of an open domain, told apart by so many points."""
    hashing = Hashing(function=HMAC_SHA256, seed=SEED)
    return Question(name="q", bins=points, kind=Kind.SET, max_set=2, hashed=hashing)


def replaced(bins, *, share=0.25, own=None, most_set=1):
    """One bin in clear, or a set of them, or uniform ones in their place."""
    return Part(
        bins=bins,
        most_set=most_set,
        threshold=None,
        own=own,
        recipe=NoRecipe(),
        layout=Layout(Form.INDEX, bins + most_set * (most_set > 1)),
        repeats=1,
        replaced=int(share * 2**64),
    )


def sampled(bins, most_set, slots=1, *, whole=0, coin=1 << 62, full=False, drawn=None):
    """Some slots of a set, or of attributes or bits (``full``), among uniform fakes of devices, or
    ``drawn`` of every hop.
    """
    return Part(
        bins=bins,
        most_set=most_set,
        threshold=None,
        own=OwnFakes(FakeRecord.UNIFORM, whole, coin) if drawn is None else None,
        recipe=NoRecipe() if drawn is None else UniformRecipe(drawn),
        layout=Layout(Form.INDEX, bins if full else bins + most_set),
        repeats=1,
        slots=slots,
    )


def flipped(bins, *, most_set=1, q=0.1, own=None, blanks=None, form=Form.BITS, cap=None, repeats=1):
    """Flipped bits; ``blanks`` is how many every hop adds, ``own`` what devices do."""
    threshold = int(q * 2**64)
    return Part(
        bins=bins,
        most_set=most_set,
        threshold=threshold,
        own=own,
        recipe=NoRecipe() if blanks is None else BlanksRecipe(blanks, threshold),
        layout=Layout(form, bins, cap),
        repeats=repeats,
    )


def random_contract(chance: random.Random) -> Contract:
    """A contract of any kind of question, record and cover, its certificate a placeholder."""
    suite = chance.choice([1, 1, 2])
    return contract_of(random_plan(chance), serial=chance.randint(1, 1 << 53), suite=suite)


def random_plan(chance: random.Random) -> Plan:
    """A plan of any kind; tried again where what was drawn does not fit together."""
    while True:
        fields = random_encoder(chance)
        question = fields.pop("question")
        mixes = chance.random() < 0.4
        alone = mixes or chance.random() < 0.2
        try:
            parts = random_parts(chance, question, mixes=mixes)
            return plan_of(
                question,
                parts,
                epsilon=chance.choice([0.5, 1, 2.5]),
                users=chance.choice([1000, 123_456]),
                minimum_crowd=chance.choice([900, 1000]),
                honest_share=chance.choice([0.5, 1.0]),
                count_flips=not alone and any(part.is_randomized for part in parts),
                collections=chance.choice([1, 1, 3]),
                hops=chance.randint(1, 5),
                **fields,
            )
        except InputError:
            continue


def random_encoder(chance: random.Random) -> dict:
    """A question of any kind, with what its encoder needs."""
    bins = chance.choice([2, 3, 8, 9, 40, 300])
    labels = tuple(f"säule {i}" for i in range(bins))
    kind = chance.randrange(9)
    if kind == 0:
        return {"question": Question(name="q", bins=bins, labels=labels)}
    if kind == 1:
        edges = tuple(sorted(chance.uniform(-9, 9) for _ in range(bins + 1)))
        return {"question": Question(name="q", bins=bins), "edges": edges}
    if kind == 2:
        points = chance.choice([2**9, 5**3, 419**7, 23447**4, 5**26, 7**22])
        hashed, most = Hashing(function=HMAC_SHA256, seed=SEED), {5**26: 2, 7**22: 3}.get(points, 1)
        kind = Kind.ONE if most == 1 else Kind.SET
        return {"question": Question(name="q", bins=points, hashed=hashed, kind=kind, max_set=most)}
    if kind == 3:
        asked = Prefixes(
            alphabet="abc",
            most=chance.randint(1, 9),
            longest=chance.randint(1, 6),
            symbols=chance.choice([1, 1, 2, 3]),
        )
        return {"question": Question(name="q", bins=asked.bins), "prefixes": asked}
    if kind == 4:
        most = chance.randint(1, min(4, bins))
        named = chance.choice([labels, None])
        return {
            "question": Question(name="q", bins=bins, labels=named, kind=Kind.SET, max_set=most)
        }
    if kind == 5:
        sizes = tuple(chance.randint(2, 6) for _ in range(chance.randint(2, 4)))
        question = make_attributes_question("q", sizes)
        if chance.random() < 0.5:
            question = replace(question, labels=tuple(f"={i}" for i in range(question.bins)))
        return {"question": question}
    if kind == 6:
        return {"question": Question(name="q", bins=chance.randint(1, 12), kind=Kind.BITS)}
    if kind == 7:
        low, high = sorted(chance.uniform(-9, 9) for _ in range(2))
        grid = Grid(low=low, high=high, points=bins)
        return {"question": Question(name="q", bins=bins), "grid": grid}
    return {"question": Question(name="q", bins=bins)}


def random_parts(chance: random.Random, question: Question, *, mixes: bool) -> list[Part]:
    """Parts of one message or of several; some do not fit the question."""
    if question.kind is Kind.BITS and (question.bins == 1 or (mixes or chance.random() < 0.7)):
        bins, most = chance.choice([(2, 1), (1, None)])
        return [_random_part(chance, bins, most, mixes=mixes) for _ in range(question.bins)]
    if question.attributes is not None and chance.random() < 0.7:
        return [_random_part(chance, size, 1, mixes=mixes) for size in question.attributes]
    if question.hashed is not None:
        prime = next(p for p in (2, 5, 7, 419, 23447) if question.bins % p == 0)
        most = question.max_set
        return [_random_planes(chance, question.bins, prime, mixes=mixes, most_set=most)]
    most = None if question.kind is Kind.BITS else question.max_set
    return [_random_part(chance, question.bins, most, mixes=mixes)]


def _random_planes(
    chance: random.Random, bins: int, prime: int, *, mixes: bool, most_set: int = 1
) -> Part:
    if mixes:
        return over_planes(bins, prime, drawn=chance.randint(1, 40), most_set=most_set)
    return over_planes(bins, prime, **_random_own(chance), most_set=most_set)


def _random_part(chance: random.Random, bins: int, most: int | None, *, mixes: bool) -> Part:
    primes = [prime for prime in (2, 3, 7, 17) if prime < bins]
    if most == 1 and primes and chance.random() < 0.2:
        return _random_planes(chance, bins, chance.choice(primes), mixes=mixes)
    if most == 1 and chance.random() < 0.4:
        if mixes:
            ratio, shift = chance.randint(1 << 60, 1 << 63), chance.randint(10, 40)
            if bins == 2 and ratio % 2:
                return paired(ratio=ratio, shift=shift)
            if ratio % 3 == 0:
                return gaussian(bins, variance=5 * shift, shift=shift)
            return shaped(bins, ratio=ratio, shift=shift)
        if chance.random() < 0.4:
            own = chance.choice([None, OwnFakes(FakeRecord.UNIFORM, **_random_own(chance))])
            return replaced(bins, share=chance.choice([0.01, 0.5, 0.9]), own=own)
        return uniform(bins, **_random_own(chance))
    if most is not None and most > 1 and not mixes and chance.random() < 0.4:
        return uniform(bins, most_set=most, **_random_own(chance))
    q = chance.choice([0.01, 0.1, 0.3])
    own = None
    if not mixes and (most is not None or bins == 1) and chance.random() < 0.8:
        record = FakeRecord.UNIFORM if most == 1 and chance.random() < 0.5 else FakeRecord.BLANK
        own = OwnFakes(record, **_random_own(chance))
    form, cap = chance.choice([Form.BITS, Form.POSITIONS]), None
    if form is Form.POSITIONS or chance.random() < 0.5:  # a cap that is passed now and then
        cap = min(bins, max(most or bins, math.ceil(bins * q)) + chance.randint(0, 2))
    blanks = chance.randint(1, 20) if mixes else None
    times = 1 if mixes or own else chance.choice([1, 1, 3])
    return flipped(
        bins, most_set=most, q=q, own=own, blanks=blanks, form=form, cap=cap, repeats=times
    )


def _random_own(chance: random.Random) -> dict[str, int]:
    whole = chance.choice([0, 1, 3])
    return {"whole": whole, "coin": chance.randint(0 if whole else 1, (1 << 64) - 1)}


def random_value(chance: random.Random, plan: Plan):
    """A value that the plan has an answer for."""
    question = plan.question
    if plan.edges is not None:
        return chance.choice([chance.uniform(-10, 10), chance.choice(plan.edges), 3])
    if plan.grid is not None:
        return chance.choice([chance.uniform(-10, 10), chance.choice(plan.grid.values.tolist()), 3])
    if plan.prefixes is not None:
        return "".join(chance.choice("aabbccdé") for _ in range(chance.randint(1, 8)))
    if question.hashed is not None:
        texts = ["".join(chance.choice("aäb\u0308日") for _ in range(chance.randint(1, 8)))]
        if question.kind is Kind.ONE:
            return texts[0]
        texts += chance.sample(["c", "cc", "ccc", "cccc"], chance.randint(0, question.max_set - 1))
        return chance.choice([texts, texts, []])
    if question.kind is Kind.BITS:
        return [chance.randint(0, 1) for _ in range(question.bins)]
    names = question.labels or range(question.bins)
    if question.attributes is not None:
        starts = [sum(question.attributes[:i]) for i in range(len(question.attributes))]
        places = [chance.randrange(size) for size in question.attributes]
        if question.labels is None:
            return places
        return [names[start + place] for start, place in zip(starts, places, strict=True)]
    if question.kind is Kind.SET:
        return chance.sample(list(names), chance.randint(0, question.max_set))
    return chance.choice(names)


def random_prefixes(chance: random.Random, plan: Plan) -> list[list[int]] | None:
    """Prefixes of one length that a round may bring; None for questions of another kind."""
    if plan.prefixes is None:
        return None
    depth = chance.randint(0, plan.prefixes.longest - 1)
    size = len(plan.prefixes.alphabet) + 2
    several = range(1 if depth == 0 else chance.randint(1, plan.prefixes.most))
    found = {tuple(chance.randint(1, size - 1) for _ in range(depth)) for _ in several}
    return [list(one) for one in sorted(found)]
