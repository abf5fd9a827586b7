"""What a mechanism promises, and whether a plan that was read promises what is true."""

from mixtally.errors import PlanError
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.divergence.in_clear import SHAPED, SHAPED_BY_MANY
from mixtally.privacy.numerics.bracket import ELSEWHERE
from mixtally.records.certificate import Certificate, Status
from mixtally.records.guarantee import Observer, checked_epsilon, checked_fraction
from mixtally.records.mechanism import BitFlips, Shuffled
from mixtally.records.plan import Plan

_AGAIN = 1.0 + 1e-6
"""No more is stated than this above what is proved again."""


def certify(
    mechanism: Shuffled,
    epsilon: float,
    honest_fraction: float = 1.0,
    accountant: Accountant | None = None,
    aim: float | None = None,
) -> Certificate:
    """delta(epsilon) of one person's record under ``mechanism``, from its final integers.

    Only the fakes that surely arrive are counted on, ``arriving`` of what is promised; ``aim`` as
    ``Accountant.delta`` has it. Raises
    ParameterError for an epsilon outside [0.01, 20] or a fraction outside (0, 1], AccountingError
    when a number cannot be right.
    """
    checked_epsilon(epsilon)
    checked_fraction(honest_fraction)
    record = Record.of(mechanism.surely(honest_fraction))
    proved = (accountant or Accountant()).delta(record, epsilon, aim)
    return Certificate(
        epsilon=epsilon,
        lower=proved.bounds.lower,
        upper=proved.bounds.upper,
        observer=Observer.MESSAGES,
        status=Status.PROVED,
        source=proved.source,
        assumption=_assumption(mechanism, honest_fraction),
    )


def verify(plan: Plan, accountant: Accountant | None = None) -> Shuffled:
    """The mechanism of ``plan``, once its certificate is seen to hold for its integers.

    Raises PlanError when the plan states less than is proved of its integers, or what is not known.
    """
    mechanism = plan.mechanism
    if mechanism.gain == 0.0:
        raise PlanError(
            "flip probability", wanted="less than 1/2", got="1/2", do="plan again: nothing is told"
        )
    if isinstance(mechanism, BitFlips) and mechanism.crowd > plan.users:
        raise PlanError(
            "crowd counted",
            wanted=f"at most the {plan.users:,} users",
            got=f"{mechanism.crowd:,}",
            do="plan again",
        )
    # As close as it gets: the plan may state a hair of its own delta more.
    true = certify(mechanism, plan.guarantee.epsilon, plan.honest_fraction, accountant, aim=0.0)
    stated = plan.certificate
    if true.lower > stated.upper:
        raise PlanError(
            "plan certificate",
            wanted=f"delta of at least {true.lower:g}, which its integers have",
            got=f"{stated.upper:g}",
            do="do not use this plan: its promise is false",
        )
    if true.upper > stated.upper * ELSEWHERE or stated.lower > true.upper * _AGAIN:
        # Where only the upper bound is known, the lower one is 0 and would let any promise pass.
        raise PlanError(
            "plan certificate",
            wanted="bounds around those proved of its integers, "
            f"{true.lower:.12g} to {true.upper:.12g}",
            got=f"{stated.lower:.12g} to {stated.upper:.12g}",
            do="the file was altered: plan again",
        )
    _check_words(true, stated)
    return mechanism


def _check_words(true: Certificate, stated: Certificate) -> None:
    for wanted, got in (
        (true.status, stated.status),
        (true.source, stated.source),
        (true.assumption, stated.assumption),
    ):
        if wanted != got:
            raise PlanError(
                "plan certificate",
                wanted=repr(str(wanted)),
                got=repr(str(got)),
                do="the file was altered: plan again",
            )


def _assumption(mechanism: Shuffled, honest_fraction: float) -> str:
    fakes, sure = mechanism.fakes_promised, mechanism.surely(honest_fraction).fakes_promised
    if mechanism.shaped is not None:
        return SHAPED if mechanism.shaped.mixes == 1 else SHAPED_BY_MANY
    if isinstance(mechanism, BitFlips) and mechanism.crowd:
        more = f" and at least {sure:,} fakes arrive" if fakes else ""
        return (
            f"{mechanism.crowd:,} honest people flip their bits as told{more}; at least one mix "
            "shuffles and does not collude with the collector"
        )
    if sure == 0:
        return "none: without fakes the promise is what each report keeps by itself"
    return (
        f"at least {sure:,} fakes come from honest parties ({100 * honest_fraction:g} % of the "
        f"{fakes:,} promised); at least one mix shuffles and does not collude with the collector"
    )
