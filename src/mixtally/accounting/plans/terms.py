"""The delta of a whole plan: all parts and all collections composed.

The planner, the simulations and the roles of a network call this module to certify or verify a
plan. If every mix adds fakes to a part, only the fakes of one honest mix count. The fakes of the
other mixes are post-processing. If people send the fakes, only the fakes of floor(h m) people
count, where m is the minimum crowd and h the honest share. The flips of these people count too if
the plan states so. Delta is averaged over the coins that decide the number of fakes (``coins``).
The privacy loss distributions of these averages are composed over parts and collections. The cost
of caps (``overflow``) is added at the end.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import replace

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.composition.directed_losses import worst_curve
from mixtally.accounting.composition.pld import CLOSE, Curve, Tightness
from mixtally.accounting.numerics.bracket import (
    CROSS_MACHINE_SLACK,
    Bracket,
    join_ends,
    keep_positive,
)
from mixtally.accounting.plans.honest_part import HonestPart
from mixtally.accounting.plans.overflow import local_growth, overflow_chance
from mixtally.errors import PlanError
from mixtally.model.certificate import Certificate, Status
from mixtally.model.contract import BlanksRecipe, Cover, FakeRecord, Part, Plan, Shape
from mixtally.model.guarantee import Guarantee, Observer

_SHARE_ROUNDING = 1.0 - 1e-12
"""Factor slightly below one, so that even shares of a decimal epsilon do not exceed it."""
_REDERIVATION_SLACK = 1.0 + 1e-6
"""Factor by which a stated number may differ from the derived one: machines round differently."""
_UNLIKELY = 1e-3
"""Share of delta that numbers of fakes which are bounded coarsely may add, in all messages
together."""
COINS_SOURCE = "averaged over the random number of fakes that people draw"
CAPS_SOURCE = "the probability that a message has too many set bits added"
COMPOSED_SOURCE = "all parts and collections composed"
SETS_SOURCE = (
    "disjoint sets of values are the worst: each message of a set has fakes in its own cell"
)


@dataclass(frozen=True, slots=True)
class PrivacyTerms:
    """The fields of a plan on which its delta depends.

    Attributes
    ----------
    parts
        Streams of messages, in the order of the plan.
    guarantee
        Epsilon, delta and observer.
    collections
        How often all parts are sent.
    people
        The number of honest people who certainly take part; 0 if every mix adds fakes.
    count_flips
        Whether these people's flips or replaced values count.
    hops
        The number of mixes in a row.
    """

    parts: tuple[Part, ...]
    guarantee: Guarantee
    collections: int
    people: int
    count_flips: bool
    hops: int

    @classmethod
    def of(cls, plan: Plan, collections: int | None = None) -> "PrivacyTerms":
        """Return the terms of ``plan``, or of ``collections`` collections under it if given."""
        people = 0 if plan.cover is Cover.MIXES else plan.honest_people
        return cls(
            plan.parts,
            plan.guarantee,
            plan.collections if collections is None else collections,
            people,
            plan.count_flips,
            plan.hops,
        )


def count_honest_parts(terms: PrivacyTerms) -> Counter[HonestPart]:
    """Return the number of a person's messages for each ``HonestPart`` of a plan.

    The numbers are totals over all collections. Equal parts have a common entry.
    """
    found: Counter[HonestPart] = Counter()
    for part in terms.parts:
        messages = part.record_messages if isinstance(part.recipe, Shape) else 1
        found[_make_honest_part(part, terms)] += messages * terms.collections
    return found


def _make_honest_part(part: Part, terms: PrivacyTerms) -> HonestPart:
    """Return the part, with its bins reduced to the fewest that have the same delta.

    Two answers of a person differ in two bins. If the other bins do not affect delta, they are left
    out. A set among shaped fakes then consists of several messages, one for each member.
    """
    blank = part.own is None or part.own.record is FakeRecord.BLANK
    two_bins_suffice = isinstance(part.recipe, Shape) or (
        part.most_set == 1 and blank and not terms.count_flips and part.threshold is not None
    )
    if two_bins_suffice:
        layout = replace(part.layout, bins=2, cap=None if part.layout.cap is None else 1)
        part = replace(part, bins=2, most_set=1, layout=layout)
    return HonestPart(part, terms.people, terms.count_flips)


def delta_of(terms: PrivacyTerms, accountant: Accountant, tightness: Tightness = CLOSE) -> Bracket:
    """Return bounds of delta at the epsilon of the guarantee, including caps."""
    epsilon, groups = terms.guarantee.epsilon, count_honest_parts(terms)
    if groups.total() == 1:
        (bounds,) = (group.bounds(accountant, epsilon) for group in groups)
    else:
        upper = composed_upper(terms, accountant, tightness)
        lower = max(group.lower(accountant, epsilon, times) for group, times in groups.items())
        bounds = join_ends(lower, upper)
    more = cap_cost(terms)
    return Bracket(max(0.0, bounds.lower - more), min(1.0, bounds.upper + more))


def composed_upper(terms: PrivacyTerms, accountant: Accountant, tightness: Tightness) -> float:
    """Return the upper bound of delta at the guaranteed epsilon, without the cost of caps.

    Parameters
    ----------
    terms : PrivacyTerms
        The terms of a plan.
    accountant : Accountant
        Keeps the computed numbers.
    tightness : Tightness
        The accuracy of the curves that are composed.
    """
    epsilon, delta = terms.guarantee.epsilon, terms.guarantee.delta
    if _largest_loss(terms) * _REDERIVATION_SLACK <= epsilon:
        return 0.0  # the local epsilon of all messages suffices
    return compose_terms(
        [ComposedTerms(terms, count_honest_parts(terms), epsilon)], accountant, delta, tightness
    )(epsilon)


def curve_of(terms: PrivacyTerms, accountant: Accountant) -> Curve:
    """Return the upper bound of delta(epsilon) on [0, 20], including caps.

    Parameters
    ----------
    terms : PrivacyTerms
        The terms, whose guarantee says how closely parts are composed.
    accountant : Accountant
        Keeps the numbers that are computed.
    """
    groups, own = count_honest_parts(terms), terms.guarantee
    composed = compose_terms([ComposedTerms(terms, groups, own.epsilon)], accountant, own.delta)
    return lambda epsilon: min(1.0, composed(epsilon) + cap_cost(terms, epsilon))


class ComposedTerms(NamedTuple):
    """Terms under which a person takes part, with their honest parts.

    ``groups`` has the number of messages for each honest part. ``epsilon`` is the share of the
    total epsilon that basic composition gives to these terms.
    """

    terms: PrivacyTerms
    groups: Counter[HonestPart]
    epsilon: float


def compose_terms(
    several: Sequence[ComposedTerms],
    accountant: Accountant,
    aim: float,
    tightness: Tightness = CLOSE,
) -> Curve:
    """Return the upper bound of delta(epsilon) of all messages of a person, on [0, 20].

    The bound excludes caps. It is the smaller of the composed delta and of basic composition (Dwork
    et al. (2006), theorem 1), in which every message has an even share of epsilon. It may exceed
    the exact composition by a small share of ``aim``, a delta that it will be compared with.
    """
    groups = sum((one.groups for one in several), Counter[HonestPart]())
    if groups.total() == 1:  # one message: return its exact delta
        (only_part,) = groups
        return lambda epsilon: only_part.bounds(accountant, epsilon).upper
    negligible, tightness = (
        _UNLIKELY * aim / groups.total(),
        tightness.adapt_to_delta(aim, groups.total()),
    )
    # In a later collection the direction of an answer may depend on earlier results.
    once = sum(one.terms.collections for one in several) == 1
    losses = [
        (
            (group.directed_losses if once else group.losses)(accountant, negligible, tightness),
            times,
        )
        for group, times in groups.items()
    ]
    worst, reach = worst_curve(losses), math.fsum(_largest_loss(one.terms) for one in several)
    every = math.fsum(one.epsilon for one in several)
    shares = [  # slightly below even shares, so that their sum stays below epsilon
        (
            group.curve(accountant, negligible),
            times,
            _SHARE_ROUNDING * epsilon / every / own.total(),
        )
        for _, own, epsilon in several
        for group, times in own.items()
    ]

    def upper(epsilon: float) -> float:
        added = math.fsum(times * curve(epsilon * share) for curve, times, share in shares)
        return keep_positive(min(1.0, added, worst(epsilon)), epsilon, reach)

    return upper


def _largest_loss(terms: PrivacyTerms) -> float:
    """Return a bound on every finite loss."""
    local = local_epsilon_of(terms)
    return math.inf if local is None else local


def cap_cost(terms: PrivacyTerms, epsilon: float | None = None) -> float:
    """Bound the increase of delta due to all caps, by default at the guarantee's epsilon.

    Parameters
    ----------
    terms : PrivacyTerms
        The terms of a plan.
    epsilon : float or None
        The privacy loss in nats; None for that of the guarantee.
    """
    total = math.fsum(_overflow_chance(part, terms) for part in terms.parts)
    grow = math.exp(terms.guarantee.epsilon if epsilon is None else epsilon)
    return min(1.0, terms.collections * (1.0 + grow) * total * (1.0 + 1e-9))


def _overflow_chance(part: Part, terms: PrivacyTerms) -> float:
    """Return the sum of the redraw probabilities, over the messages of a part that count.

    A message counts if it is the person's or if the proof relies on it.
    """
    cap = part.layout.cap
    if cap is None or part.threshold is None:
        return 0.0
    record = overflow_chance(part.bins, part.largest_record, part.threshold, cap)
    total = record
    if isinstance(part.recipe, BlanksRecipe):
        total += part.recipe.count * overflow_chance(part.bins, 0, part.threshold, cap)
    if part.own is not None:
        ones = 1 if part.own.record is FakeRecord.UNIFORM else 0
        fakes = terms.people * part.own.most
        total += fakes * overflow_chance(part.bins, ones, part.threshold, cap)
    if terms.count_flips:
        total += terms.people * record
    return total * part.repeats  # parts with fakes have repeats = 1


def local_epsilon_of(terms: PrivacyTerms) -> float | None:
    """Return the epsilon that remains if all hops collude with the collector, rounded up.

    None is returned if it is infinite.
    """
    total = []
    for part in terms.parts:
        total.append(part.local_epsilon)
        if part.layout.cap is not None and part.threshold is not None:
            grown = local_growth(part.bins, part.most_set, part.threshold, part.layout.cap)
            total.append(part.repeats * grown)
    local = terms.collections * math.fsum(total)
    return local if math.isfinite(local) else None


def certify_terms(terms: PrivacyTerms, accountant: Accountant | None = None) -> Certificate:
    """Return the certificate of terms. It is computed once per accountant.

    Raises AccountingError if a number cannot be right.

    Parameters
    ----------
    terms : PrivacyTerms
        The terms of a plan.
    accountant : Accountant or None
        Keeps the computed numbers; None for a new accountant.
    """
    own = accountant or Accountant()
    return own.cache_search(terms, lambda: _prove_terms(terms, own))


def _prove_terms(terms: PrivacyTerms, accountant: Accountant) -> Certificate:
    bounds, groups = delta_of(terms, accountant), count_honest_parts(terms)
    sources = [
        accountant.delta(
            Record.of(group.mechanism(group.fakes.certain)), terms.guarantee.epsilon
        ).source
        for group in groups
    ]
    if any(part.own is not None and part.own.coin for part in terms.parts):
        sources.append(COINS_SOURCE)
    if any(part.pads and isinstance(part.recipe, Shape) for part in terms.parts):
        sources.append(SETS_SOURCE)
    if groups.total() > 1:
        sources.append(COMPOSED_SOURCE)
    if cap_cost(terms) > 0.0:
        sources.append(CAPS_SOURCE)
    return Certificate(
        epsilon=terms.guarantee.epsilon,
        lower=bounds.lower,
        upper=bounds.upper,
        observer=Observer.MESSAGES,
        status=Status.PROVED,
        source="; ".join(dict.fromkeys(sources)),
        assumption=assumption(terms),
    )


def assumption(terms: PrivacyTerms) -> str:
    """Return a sentence about who must be trusted."""
    if not terms.people:
        who = "the mix is" if terms.hops == 1 else f"any one of the {terms.hops} mixes is"
        return f"holds if {who} honest, whatever everybody else does"
    drawn = ["draw their fakes"] * any(part.own for part in terms.parts)
    replaced = any(part.replaced is not None for part in terms.parts)
    flipped = not replaced or any(part.threshold is not None for part in terms.parts)
    drawn += ["flip their bits"] * (terms.count_flips and flipped)
    drawn += ["replace their values"] * replaced
    if not drawn:
        return "holds whatever everybody else does: each report hides its person by itself"
    follow = " and ".join(drawn) + " as the protocol says"
    if any(part.own is not None and part.own.coin for part in terms.parts):
        follow += ", and whose messages arrive whatever number of fakes they drew"
    people = f"the messages of at least {terms.people:,} honest people, who {follow}"
    if terms.hops == 1:
        return f"holds if the mix is honest and receives {people}"
    return (
        f"holds if the first honest mix receives {people}; this is so if the first mix is honest, "
        "or if all mixes before the first honest one forward everything they received"
    )


def verify(plan: Plan, accountant: Accountant | None = None) -> Certificate:
    """Derive the certificate of a plan from its integers and compare every field with the file.

    Neither end of delta may differ from the derived one by more than rounding. So the distance
    between the two ends, which decides whether delta is called exact, is verified too.

    Parameters
    ----------
    plan : Plan
        The plan as a file states it.
    accountant : Accountant, optional
        Contains the numbers that were computed before.

    Returns
    -------
    Certificate
        The derived certificate.

    Raises
    ------
    PlanError
        If the plan states less delta than is proved, or if a field differs from the derived one.
    """
    terms = PrivacyTerms.of(plan)
    true, stated = certify_terms(terms, accountant), plan.certificate
    # A false promise is reported before any altered field, because nobody may answer under it.
    if true.lower > stated.upper:
        raise PlanError(
            "certificate of the plan",
            expected=f"a delta of at least {true.lower:g}, which follows from its integers",
            got=f"{stated.upper:g}",
            do="do not answer under it: its promise is false",
        )
    _check_ends(true, stated)
    for field in ("epsilon", "observer", "status", "source", "assumption"):
        expected, got = getattr(true, field), getattr(stated, field)
        if expected != got:
            raise _altered_error(f"{field} {str(expected)!r}", repr(str(got)))
    derived, said = local_epsilon_of(terms), plan.local_epsilon
    if (derived is None) != (said is None) or (
        derived is not None
        and said is not None
        and not said / _REDERIVATION_SLACK <= derived <= said * CROSS_MACHINE_SLACK
    ):
        raise _altered_error(
            f"a local epsilon of {_format_epsilon(derived)}", _format_epsilon(said)
        )
    return true


def _check_ends(true: Certificate, stated: Certificate) -> None:
    """Refuse a stated end that differs from the derived one by more than rounding.

    The lower end is a difference of numbers as large as the upper end, so its rounding is a share
    of the upper end.
    """
    rounding = (_REDERIVATION_SLACK - 1.0) * true.upper
    too_low = true.upper > stated.upper * CROSS_MACHINE_SLACK
    too_high = stated.upper > true.upper + rounding
    if too_low or too_high or abs(stated.lower - true.lower) > rounding:
        raise _altered_error(
            f"the bounds that follow from its integers, {true.lower:.12g} to {true.upper:.12g}",
            f"{stated.lower:.12g} to {stated.upper:.12g}",
        )


def _format_epsilon(epsilon: float | None) -> str:
    return "none: nothing is left" if epsilon is None else f"{epsilon:.12g}"


def _altered_error(expected: str, got: str) -> PlanError:
    return PlanError(
        "certificate of the plan",
        expected=expected,
        got=got,
        do="the file was altered: take it as it was published",
    )
