"""What a mechanism promises, from its final integers."""

from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.divergence.in_clear import SHAPED, SHAPED_BY_MANY
from mixtally.records.certificate import Certificate, Status
from mixtally.records.guarantee import Observer, checked_epsilon, checked_fraction
from mixtally.records.mechanism import BitFlips, Shuffled

_AGAIN = 1.0 + 1e-6
"""No more is stated than this above what is proved again."""


def certify(
    mechanism: Shuffled,
    epsilon: float,
    honest_share: float = 1.0,
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
    checked_fraction(honest_share)
    record = Record.of(mechanism.surely(honest_share))
    proved = (accountant or Accountant()).delta(record, epsilon, aim)
    return Certificate(
        epsilon=epsilon,
        lower=proved.bounds.lower,
        upper=proved.bounds.upper,
        observer=Observer.MESSAGES,
        status=Status.PROVED,
        source=proved.source,
        assumption=_assumption(mechanism, honest_share),
    )


def _assumption(mechanism: Shuffled, honest_share: float) -> str:
    fakes, sure = mechanism.fakes_promised, mechanism.surely(honest_share).fakes_promised
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
        f"at least {sure:,} fakes come from honest parties ({100 * honest_share:g} % of the "
        f"{fakes:,} promised); at least one mix shuffles and does not collude with the collector"
    )
