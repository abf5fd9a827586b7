"""From protocols with their integers to an option: plans with certificates, and one for all."""

import math
from collections.abc import Sequence
from functools import partial

from mixtally.planner.options import CONFIDENCE, Infeasible, Likely, PlanOption, named
from mixtally.planner.request import PlanRequest
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.certify import certify
from mixtally.privacy.composition import compose
from mixtally.privacy.composition.pld import CLOSE
from mixtally.privacy.numerics.search import least_epsilon
from mixtally.records.guarantee import LEAST_DELTA, LEAST_EPSILON, Guarantee
from mixtally.records.mechanism import Shuffled
from mixtally.records.plan import PLAN_VERSION, Plan
from mixtally.records.question import Question, collisions

_HAIR = 1e-9
_ROOM, _MOST_PROOFS = 1.1, 3
"""What is expected is lowered by a little more than a proof lay above it, so that few are needed.
"""


def option(
    request: PlanRequest, messages: Sequence[tuple[Question, Shuffled]], accountant: Accountant
) -> PlanOption | Likely | Infeasible:
    """The option of a record that travels as ``messages``, or why it says too little."""
    name = messages[0][1].name
    error = max(mechanism.standard_error(request.users) for _, mechanism in messages)
    error = math.hypot(error, *(collisions(request.users, question) for question, _ in messages))
    useless = tells_nothing(request, name, error)
    if useless is not None:
        return useless
    if request.likely or accountant.sketches:
        return Likely(named(messages), error)
    together = len(messages) * request.collections
    shares: dict[Shuffled, Guarantee] = {}  # messages of one mechanism keep the same
    for _, mechanism in messages:
        if mechanism not in shares:
            shares[mechanism] = _share(request, mechanism, together, accountant)
    plans = tuple(_plan(request, q, m, shares[m], accountant) for q, m in messages)
    total = plans[0].certificate
    if together > 1:
        charges = [(plan, request.collections) for plan in plans]
        total = compose.delta_of(
            charges, request.guarantee.epsilon, CLOSE, accountant, request.guarantee.delta
        )
        if not total.upper <= request.guarantee.delta:
            return Infeasible(name, "bins that differ less between the attributes")
    return PlanOption(
        plans,
        request.guarantee,
        total,
        request.collections,
        request.users if request.minimum_crowd is None else request.minimum_crowd,
        request.honest_fraction,
    )


def tells_nothing(request: PlanRequest, name: str, error: float) -> Infeasible | None:
    """Why an option of this standard error is none, where it says nothing; None otherwise."""
    if CONFIDENCE * error < request.users:
        return None
    return Infeasible(
        name,
        f"more users or a larger epsilon: with a standard error of {error:.3g} counts nobody "
        f"could be told from all {request.users:,} people",
    )


def _plan(
    request: PlanRequest,
    question: Question,
    mechanism: Shuffled,
    promised: Guarantee,
    accountant: Accountant,
) -> Plan:
    fraction = request.sure_fraction
    return Plan(
        version=PLAN_VERSION,
        question=question,
        guarantee=promised,
        users=request.users,
        honest_fraction=fraction,
        mechanism=mechanism,
        certificate=certify(mechanism, promised.epsilon, fraction, accountant, promised.delta),
    )


def _share(
    request: PlanRequest, mechanism: Shuffled, together: int, accountant: Accountant
) -> Guarantee:
    """What one of ``together`` collections keeps alone: its epsilon at an even share of delta."""
    total = request.guarantee
    if together == 1:
        return total
    sure = Record.of(mechanism.surely(request.sure_fraction))
    delta = max(total.delta / together, LEAST_DELTA)
    upper = partial(accountant.upper, sure, aim=delta)
    expected = partial(upper, proved=False)
    most = upper(total.epsilon)
    if most > delta:
        delta = most * (1.0 + _HAIR)
    target, ends = delta, (LEAST_EPSILON, total.epsilon)
    for _ in range(_MOST_PROOFS):  # what proves one epsilon is dear
        if expected(total.epsilon) > target:
            break
        epsilon = least_epsilon(expected, target, *ends)
        proved = upper(epsilon)
        if proved <= delta:
            return Guarantee(epsilon=epsilon, delta=delta)
        target *= (delta / proved) ** _ROOM
    epsilon = least_epsilon(upper, delta, *ends)
    return Guarantee(epsilon=epsilon, delta=delta)
