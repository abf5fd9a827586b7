"""From protocols with their integers to an offer: plans with certificates, and one for all."""

import math
from collections.abc import Sequence

from mixtally.planner.answer import CONFIDENCE, Misfit, Offer, collisions
from mixtally.planner.wish import Wish
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.certify import certify
from mixtally.privacy.composition import compose
from mixtally.privacy.composition.pld import CLOSE
from mixtally.privacy.numerics.search import least_epsilon
from mixtally.records.guarantee import LEAST_DELTA, LEAST_EPSILON, Guarantee
from mixtally.records.mechanism import Shuffled
from mixtally.records.plan import PLAN_VERSION, Plan
from mixtally.records.question import Question

_HAIR = 1e-9


def offer(
    wish: Wish, messages: Sequence[tuple[Question, Shuffled]], accountant: Accountant
) -> Offer | Misfit:
    """The offer of a record that travels as ``messages``, or why it says too little."""
    name = messages[0][1].name
    error = max(mechanism.standard_error(wish.users) for _, mechanism in messages)
    error = math.hypot(error, *(collisions(wish.users, question) for question, _ in messages))
    if CONFIDENCE * error >= wish.users:
        return Misfit(
            name,
            f"more users or a larger epsilon: with a standard error of {error:.3g} counts nobody "
            f"could be told from all {wish.users:,} people",
        )
    together = len(messages) * wish.collections
    shares: dict[Shuffled, Guarantee] = {}  # messages of one mechanism keep the same
    for _, mechanism in messages:
        if mechanism not in shares:
            shares[mechanism] = _share(wish, mechanism, together, accountant)
    plans = tuple(_plan(wish, q, m, shares[m], accountant) for q, m in messages)
    whole = plans[0].certificate
    if together > 1:
        charges = [(plan, wish.collections) for plan in plans]
        whole = compose.delta_of(charges, wish.guarantee.epsilon, CLOSE, accountant)
        if not whole.upper <= wish.guarantee.delta:
            return Misfit(name, "bins that differ less between the attributes")
    return Offer(
        plans,
        wish.guarantee,
        whole,
        wish.collections,
        wish.users if wish.minimum_crowd is None else wish.minimum_crowd,
        wish.honest_fraction,
    )


def _plan(
    wish: Wish,
    question: Question,
    mechanism: Shuffled,
    promised: Guarantee,
    accountant: Accountant,
) -> Plan:
    fraction = wish.sure_fraction
    return Plan(
        version=PLAN_VERSION,
        question=question,
        guarantee=promised,
        users=wish.users,
        honest_fraction=fraction,
        mechanism=mechanism,
        certificate=certify(mechanism, promised.epsilon, fraction, accountant),
    )


def _share(wish: Wish, mechanism: Shuffled, together: int, accountant: Accountant) -> Guarantee:
    """What one of ``together`` collections keeps alone: its epsilon at an even share of delta."""
    whole = wish.guarantee
    if together == 1:
        return whole
    sure = Record.of(mechanism.surely(wish.sure_fraction))
    delta = max(whole.delta / together, LEAST_DELTA)
    most = accountant.upper(sure, whole.epsilon)
    if most > delta:
        delta = most * (1.0 + _HAIR)
    epsilon = least_epsilon(
        lambda epsilon: accountant.upper(sure, epsilon), delta, LEAST_EPSILON, whole.epsilon
    )
    return Guarantee(epsilon=epsilon, delta=delta)
