"""Targets from parameters and a claim, without a plan.

``mixtally check attack --protocol`` calls ``build_target``. It makes a part of a plan from the
parameters: K fakes become the fakes of K people, who send one each.
"""

from typing import Any

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.parameters import Parameters, parse_parameters
from mixtally.errors import ParameterError, join_words, not_one_of, not_together
from mixtally.lab.attacks.memoized import MemoizedTarget, memoized_target
from mixtally.lab.attacks.target import NOBODY, HidingPeople, Target
from mixtally.model.contract import FakeRecord, NoRecipe, OwnFakes, Part, Recipe
from mixtally.model.guarantee import check_fraction, check_users, count_arriving
from mixtally.model.mechanism import Memoized, Shuffled, mechanisms
from mixtally.model.mechanism.parameters import check_names_given


def build_target(
    name: str,
    parameters: Parameters,
    epsilon: float | None,
    delta: float | None,
    honest_share: float | None = None,
    accountant: Accountant | None = None,
) -> Target | MemoizedTarget:
    """Return the target for a protocol with these parameters and the claimed guarantee.

    Parameters
    ----------
    name : str
        The name of the protocol.
    parameters : Parameters
        The parameters that the protocol requires, by name; all others are None.
    epsilon, delta : float or None
        The claimed guarantee; None for memoized answers, whose losses are computed.
    honest_share : float, optional
        The share of the fakes that the claim relies on, in (0, 1].
    accountant : Accountant, optional
        Computes the true delta of the parameters.

    Raises
    ------
    ParameterError
        If the protocol is unknown, if a parameter is missing, superfluous or out of range, or if a
        guarantee is claimed for memoized answers.
    """
    given = _select_parameters(name, parameters)
    if name in Memoized.PROTOCOLS:
        claims = {"--epsilon": epsilon, "--delta": delta, "--honest-share": honest_share}
        if used := [flag for flag, value in claims.items() if value is not None]:
            rest = join_words(used)
            raise not_together(
                "memory", "memory", used, f"leave {rest} out: the losses of memory are computed"
            )
        return memoized_target(**given)
    if epsilon is None or delta is None:
        raise ParameterError(
            "claim",
            expected="both --epsilon and --delta",
            got="neither"
            if epsilon is delta
            else f"--{'delta' if epsilon is None else 'epsilon'} alone",
            do="give the guarantee that is claimed for the parameters",
        )
    fraction = check_fraction(1.0 if honest_share is None else honest_share)
    users = check_users(given["users"])
    mechanism = _build_mechanism(name, parameters)
    if mechanism.gain == 0.0:
        raise ParameterError(
            "flip probability",
            expected="less than 1/2",
            got="1/2",
            do="flip with a smaller probability: such reports contain no information",
        )
    words = ", ".join(
        key.replace("_", " ") + ("" if value is True else f" {value:,.10g}")
        for key, value in given.items()
    )
    title = f"{name} with {words}"
    return target_of_mechanism(mechanism, users, epsilon, delta, title, fraction, accountant)


def target_of_mechanism(
    mechanism: Shuffled,
    users: int,
    epsilon: float,
    delta: float,
    title: str,
    honest_share: float = 1.0,
    accountant: Accountant | None = None,
) -> Target:
    """Return the target for a mechanism and the claim that it is (epsilon, delta)-private.

    The claim relies on ``honest_share`` of the mechanism's fakes, a share in (0, 1].

    Raises
    ------
    PlanError
        If no part of a plan can send these messages, for example records in clear that are sent
        several times.
    """
    fakes, shaped = mechanism.fakes_sent, mechanism.shaped_fakes
    certain = HidingPeople(count_arriving(fakes, honest_share), mechanism.crowd)
    return Target(
        (part_of(mechanism),),
        epsilon,
        delta,
        users,
        HidingPeople(fakes, users),
        NOBODY if shaped else certain,
        title,
        (accountant or Accountant()).certificate(
            Record.of(mechanism.with_honest(honest_share)), epsilon
        ),
        hops=1 if shaped is None else shaped.mixes,
    )


def part_of(mechanism: Shuffled) -> Part:
    """Return a part whose devices send the messages of the mechanism.

    If people draw the fakes of the mechanism, every device of the part draws one fake.
    """
    record = FakeRecord.UNIFORM if mechanism.uniform_fakes else FakeRecord.BLANK
    shaped = mechanism.shaped_fakes
    recipe: Recipe = NoRecipe() if shaped is None else shaped.shape
    return Part(
        bins=mechanism.bins,
        most_set=mechanism.max_set,
        threshold=mechanism.flip_threshold,
        own=OwnFakes(record, 1, 0) if mechanism.own_fakes else None,
        recipe=recipe,
        layout=mechanism.layout,
        repeats=mechanism.repeats,
        replaced=mechanism.replaced,
        slots=mechanism.slots,
    )


def _select_parameters(name: str, parameters: Parameters) -> dict[str, Any]:
    """Return the given parameters; raise ParameterError if they are not the required ones."""
    kinds = {name: kind for kind in mechanisms() for name in kind.PROTOCOLS}
    known = [name for name, kind in kinds.items() if kind.PROTOCOLS[name].claim is not None]
    if name not in known:
        raise not_one_of("protocol", name, known)
    kind, given = kinds[name], parameters.list_given_names()
    takes = kind.PROTOCOLS[name]
    needs, may = takes.claim or (frozenset(), frozenset())
    for one, other in takes.instead:
        # A distribution of fakes has one of two parameters. If the user states the alternative, it
        # replaces the required one.
        if one in needs and parameters.get(other) is not None:
            needs = needs - {one} | {other}
    check_names_given(name, given, needs, may, kind.PARAMETERS)
    order = [one.name for one in kind.PARAMETERS]
    return {each: parameters.get(each) for each in order if each in given}


def _build_mechanism(name: str, given: Parameters) -> Shuffled:
    if name == "flip" and given.get("bits") is None and given.get("bins") is None:
        raise ParameterError(
            "flip",
            expected="--bins for records of one value, or --bits for free vectors",
            got="neither",
            do="give one",
        )
    if name == "single-bit" and given.get("fakes") is None:
        given = given.with_values(fakes=0)
    return parse_parameters(name, given).full_record.message.mechanism
