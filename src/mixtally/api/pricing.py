"""The delta of given mechanism parameters, and the least noise for a guarantee.

``delta`` and ``calibrate`` are the Python forms of ``mixtally check delta`` and ``check noise``.
"""

from dataclasses import dataclass
from typing import Any

from mixtally.api import checks
from mixtally.api.requests import guarantee_of
from mixtally.app import price
from mixtally.app.mechanism import PROTOCOLS, MechanismOptions
from mixtally.model.certificate import Certificate
from mixtally.report.numbers import at_most, number
from mixtally.report.words import assumption_text

Parameters = MechanismOptions
"""The parameters of all protocols. ``mixtally check delta --help`` lists those of each protocol."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The least noise that satisfies a guarantee, with its certificate.

    Parameters
    ----------
    certificate : Certificate
        The proved delta at this noise, with its observer, status and assumption.
    found : dict
        The parameters that ``calibrate`` found, by name.
    standard_error : float or None
        The standard error of one count, in people. None if it depends on a number of people that
        was not given.

    Examples
    --------
    >>> import mixtally
    >>> found = mixtally.calibrate("clear-uniform", epsilon=1, delta=1e-6, bins=10)
    >>> found.found
    {'fakes': 422}
    >>> round(found.standard_error, 2)
    6.16
    """

    certificate: Certificate
    found: dict[str, Any]
    standard_error: float | None

    def __repr__(self) -> str:
        shown, error = self.certificate, self.standard_error
        names = ", ".join(f"{name} {value:,.9g}" for name, value in self.found.items())
        return (
            f"epsilon = {at_most(shown.epsilon, 6)}, delta <= {at_most(shown.upper, 6)} "
            f"({shown.status}, observer: {shown.observer}). {assumption_text(shown.assumption)}."
            f"\n{names}" + ("" if error is None else f"\nstandard error {number(error)} counts")
        )


@checks.translate_errors
@checks.accept_options(Parameters)
def delta(protocol: str, *, epsilon: float, **given: Any) -> Certificate:
    """Compute lower and upper bounds of delta for given parameters of a protocol.

    Parameters
    ----------
    protocol : str
        A protocol that ``mixtally check delta --help`` lists.
    epsilon : float
        The privacy loss at which delta is computed, in nats, in [0.01, 20].
    ones : int, optional
        The number of other people who are known to have a one, below ``users``.
    observer : str, default 'messages'
        What the adversary sees: "messages", or only the "sums" of all messages.
    background : str, optional
        "zero" if all other people are known to have zeros. Needs ``bits``.
    **given
        The parameters of the protocol.

    Returns
    -------
    Certificate
        Both bounds of delta, with the observer, the proof and its assumption.

    Raises
    ------
    EffortError
        If the computation would take too long.
    ParameterError
        If a parameter is missing, does not belong to the protocol, or is out of range.

    Examples
    --------
    >>> import mixtally
    >>> certificate = mixtally.delta("clear-uniform", epsilon=1, bins=10, fakes=1_000)
    >>> f"{certificate.upper:.3g}"
    '1.37e-12'
    """
    return price.delta(
        _options(protocol, given), checks.check_number("epsilon", epsilon)
    ).certificate


@checks.translate_errors
@checks.accept_options(Parameters)
def calibrate(protocol: str, *, epsilon: float, delta: float, **given: Any) -> Calibrated:
    """Find the least noise that satisfies a guarantee, by solving for the parameter left out.

    Parameters
    ----------
    protocol : str
        A protocol that ``mixtally check noise --help`` lists.
    epsilon : float
        The largest privacy loss, in nats, in [0.01, 20].
    delta : float
        The delta of the guarantee, in [1e-15, 0.1].
    ones : int, optional
        The number of other people who are known to have a one, below ``users``.
    observer : str, default 'messages'
        What the adversary sees: "messages", or only the "sums" of all messages.
    background : str, optional
        "zero" if all other people are known to have zeros. Needs ``bits``.
    **given
        All parameters of the protocol except the one to find.

    Returns
    -------
    Calibrated
        The parameter, its certificate and the standard error of a count.

    Raises
    ------
    EffortError
        If the computation would take too long.
    ParameterError
        If a parameter is missing, does not belong to the protocol, or is out of range, or if no
        noise satisfies the guarantee.

    Examples
    --------
    >>> import mixtally
    >>> mixtally.calibrate("clear-uniform", epsilon=1, delta=1e-6, bins=10).found
    {'fakes': 422}
    """
    guarantee = guarantee_of(epsilon, delta)
    priced = price.noise(_options(protocol, given), guarantee)
    # Without a number of people, the error is only a factor of its square root.
    error = priced.standard_error if priced.people else None
    return Calibrated(priced.certificate, priced.found, error)


def _options(protocol: object, given: dict[str, object]) -> MechanismOptions:
    """Return the parameters after checking their types and the protocol."""
    name = checks.check_choice("protocol", protocol, PROTOCOLS)
    return checks.read_options(MechanismOptions, {**given, "protocol": name})
