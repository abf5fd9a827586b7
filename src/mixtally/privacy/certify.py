"""What a mechanism promises, from its final integers."""

from mixtally.privacy.accountant import Accountant, Record
from mixtally.records.certificate import Certificate, Status
from mixtally.records.guarantee import Observer, checked_epsilon, checked_fraction
from mixtally.records.mechanism import Shuffled

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
