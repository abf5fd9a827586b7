"""``delta`` and ``calibrate``: what parameters keep, and the least noise that keeps a guarantee."""

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
"""Parameters by name; which of them a protocol takes, `mixtally check delta --help` lists."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The least noise that keeps a guarantee.

    Attributes
    ----------
    certificate : Certificate
        What is proved of it, with observer, status and assumption.
    found : dict
        What was found, by the names of the parameters.
    standard_error : float or None
        Of one count, in counts; None where nobody said how many people.
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
    """Compute the exact delta of given parameters.

    Parameters
    ----------
    protocol : str
        The name of a protocol, as `mixtally check delta --help` lists them.
    epsilon : float
        The privacy loss for which delta is computed, in [0.01, 20].
    **given
        The parameters of the protocol.

    Returns
    -------
    Certificate
        Both bounds of delta, with observer, proof and what they rest on.

    Raises
    ------
    ParameterError
        For parameters that are missing, not taken or out of range.

    Examples
    --------
    >>> mixtally.delta("clear-uniform", epsilon=1, bins=10, fakes=1_000).upper
    """
    return price.delta(
        _options(protocol, given), checks.check_number("epsilon", epsilon)
    ).certificate


@checks.translate_errors
@checks.accept_options(Parameters)
def calibrate(protocol: str, *, epsilon: float, delta: float, **given: Any) -> Calibrated:
    """Find the least noise that keeps a guarantee: the parameter that is left out.

    Parameters
    ----------
    protocol : str
        The name of a protocol, as `mixtally check noise --help` lists them.
    epsilon : float
        The largest privacy loss, in [0.01, 20].
    delta : float
        The delta of the guarantee, in [1e-15, 0.1].
    **given
        The parameters of the protocol but for the one that is to be found.

    Returns
    -------
    Calibrated
        What was found, its certificate and the error of a count.

    Raises
    ------
    ParameterError
        For parameters that are missing, not taken or out of range, and where no noise keeps the
        guarantee.

    Examples
    --------
    >>> mixtally.calibrate("clear-uniform", epsilon=1, delta=1e-6, bins=10)
    """
    guarantee = guarantee_of(epsilon, delta)
    priced = price.noise(_options(protocol, given), guarantee)
    error = priced.standard_error if priced.people else None
    return Calibrated(priced.certificate, priced.found, error)


def _options(protocol: object, given: dict[str, object]) -> MechanismOptions:
    """The parameters, each of its type; ParameterError for another type or protocol."""
    name = checks.check_choice("protocol", protocol, PROTOCOLS)
    return checks.read_options(MechanismOptions, {**given, "protocol": name})
