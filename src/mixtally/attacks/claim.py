"""A target from parameters and a claim, without a plan: whatever somebody says they guarantee.

The parameters become a part as plans have them: K fakes are those of K people, one each.
"""

from dataclasses import dataclass, replace
from typing import Any

from mixtally.attacks.memoized import MemoizedTarget, memoized_target
from mixtally.attacks.target import ALONE, People, Target
from mixtally.errors import ParameterError, not_one_of
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.parameters import Parameters, parsed
from mixtally.records.contract import (
    FakeRecord,
    NoRecipe,
    OwnFakes,
    Part,
    Recipe,
)
from mixtally.records.guarantee import arriving, checked_fraction, checked_users
from mixtally.records.mechanism import BitFlips, KaryResponse, NoFakes, Shuffled

_TAKES = {
    "flip-blank": "users bins fakes flip [max_set] [count_crowd]",
    "flip-uniform": "users bins fakes flip [count_crowd]",
    "flip": "users [bins] [bits] flip [max_set] [repeats]",
    "single-bit": "users [fakes] flip",
    "clear-uniform": "users bins fakes [max_set]",
    "kary-response": "users bins replaced [fakes]",
    "clear-shaped": "users bins shape_decay shape_shift [mixes] [max_set]",
    "memory": "[bits] permanent p q hashes reports",
}
"""By mechanism: the parameters that a claim must have and, in brackets, those it may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedParameters(Parameters):
    """Parameters of a mechanism, or of memoized answers, by the names of their options."""

    permanent: float | None = None
    p: float | None = None
    q: float | None = None
    hashes: int | None = None
    reports: int | None = None


def claim(
    name: str,
    parameters: ClaimedParameters,
    epsilon: float | None,
    delta: float | None,
    honest_share: float | None = None,
    accountant: Accountant | None = None,
) -> Target | MemoizedTarget:
    """What is claimed about protocol ``name`` with these parameters.

    Raises ParameterError for an unknown mechanism, for parameters that are missing, not taken or
    out of range, and for a claim about memoized answers.
    """
    given = _given(name, parameters)
    if name == "memory":
        if (epsilon, delta, honest_share) != (None, None, None):
            raise ParameterError(
                "memory",
                wanted="no claim: its losses are computed",
                got="--epsilon, --delta or --honest-share",
                do="leave them out",
            )
        return memoized_target(**given)
    if epsilon is None or delta is None:
        raise ParameterError(
            "claim",
            wanted="--epsilon and --delta",
            got="neither" if epsilon is delta else "one",
            do="say what the parameters are claimed to guarantee",
        )
    fraction = checked_fraction(1.0 if honest_share is None else honest_share)
    users = checked_users(given["users"])
    mechanism = _mechanism(name, parameters)
    if mechanism.gain == 0.0:
        raise ParameterError(
            "flip probability", wanted="less than 1/2", got="1/2", do="such flips reveal nothing"
        )
    words = ", ".join(f"{key.replace('_', ' ')} {value:,.10g}" for key, value in given.items())
    title = f"{name} with {words}"
    return claimed(mechanism, users, epsilon, delta, title, fraction, accountant)


def claimed(
    mechanism: Shuffled,
    users: int,
    epsilon: float,
    delta: float,
    title: str,
    honest_share: float = 1.0,
    accountant: Accountant | None = None,
) -> Target:
    """What is claimed of ``mechanism``, a share of whose promised fakes is counted on.

    Raises PlanError for what no plan can be, as records in clear that are sent several times.
    """
    crowd = mechanism.crowd if isinstance(mechanism, BitFlips | KaryResponse) else 0
    fakes, shaped = mechanism.fakes_sent, mechanism.shaped
    certain = People(arriving(fakes, honest_share), crowd)
    return Target(
        (part_of(mechanism),),
        epsilon,
        delta,
        users,
        People(fakes, users),
        ALONE if shaped else certain,
        title,
        (accountant or Accountant()).certificate(
            Record.of(mechanism.with_honest(honest_share)), epsilon
        ),
        hops=1 if shaped is None else shaped.mixes,
    )


def part_of(mechanism: Shuffled) -> Part:
    """The part that sends what ``mechanism`` does, a fake of a person's own if there are any."""
    record = FakeRecord.UNIFORM if mechanism.uniform_fakes else FakeRecord.BLANK
    own: OwnFakes | None = OwnFakes(record, 1, 0)
    recipe: Recipe = NoRecipe()
    threshold: int | None = None
    most_set: int | None = 1
    replaced: int | None = None
    if isinstance(mechanism, BitFlips):
        threshold, most_set = mechanism.threshold, mechanism.max_set
        own = None if isinstance(mechanism.fakes, NoFakes) else own
    elif isinstance(mechanism, KaryResponse):
        own, replaced = own if mechanism.fakes.count else None, mechanism.replaced
    else:
        most_set = mechanism.most_set
    if (shaped := mechanism.shaped) is not None:
        own, recipe = None, shaped.shape
    return Part(
        bins=mechanism.bins,
        most_set=most_set,
        threshold=threshold,
        own=own,
        recipe=recipe,
        layout=mechanism.layout,
        repeats=mechanism.repeats,
        replaced=replaced,
    )


def _given(name: str, parameters: ClaimedParameters) -> dict[str, Any]:
    """The parameters given, once they are all that is needed and no more."""
    if name not in _TAKES:
        raise not_one_of("protocol", name, list(_TAKES))
    given, takes = parameters.given(), _TAKES[name]
    if parameters.shape_variance is not None:  # another shape
        takes = takes.replace("shape_decay", "shape_variance")
    needs = {each for each in takes.split() if not each.startswith("[")}
    order = [each.strip("[]") for each in takes.split()]
    may = set(order) - needs
    if not needs <= given or not given <= needs | may:
        raise ParameterError(
            name,
            wanted=_flags(needs),
            got=_flags(given) or "neither",
            do="give exactly these" + (f"; it may take {_flags(may)}" if may else ""),
        )
    return {each: getattr(parameters, each) for each in order if each in given}


def _mechanism(name: str, given: ClaimedParameters) -> Shuffled:
    if name == "flip" and given.bits is None and given.bins is None:
        raise ParameterError(
            "flip",
            wanted="--bins for records of one value, or --bits for free vectors",
            got="neither",
            do="give one",
        )
    if name == "single-bit" and given.fakes is None:
        given = replace(given, fakes=0)
    return parsed(name, given).sent.message.mechanism


def _flags(names: set[str]) -> str:
    return " and ".join("--" + name.replace("_", "-") for name in sorted(names))
