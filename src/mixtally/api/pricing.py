"""The delta of a protocol, a plan or a matrix, and the least noise for a guarantee.

``delta`` and ``calibrate`` are the Python forms of ``mixtally check delta`` and ``check noise``.
``epsilon`` finds the least epsilon for a delta, and ``curve`` computes delta at many epsilons.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mixtally.accounting.curves import PrivacyCurve as PrivacyCurve
from mixtally.accounting.plans.terms import PrivacyTerms, verify
from mixtally.api import checks
from mixtally.api.files import contract_bytes
from mixtally.api.matrices import Groups, Randomized, is_matrix, shuffled_matrix_of, with_path
from mixtally.api.planning import Plan
from mixtally.api.requests import guarantee_of
from mixtally.app import matrix, price
from mixtally.app.contracts import read_plan_or_contract
from mixtally.app.matrix import MatrixOptions
from mixtally.app.matrix import RandomizerDelta as RandomizerDelta
from mixtally.app.mechanism import PROTOCOLS, MechanismOptions
from mixtally.app.plans import refuse_extra_flags
from mixtally.errors import ParameterError
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Contract
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
        The standard error of one count, in people. None if it depends on the number of people and
        this number is unknown.

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
@checks.accept_options(Parameters, MatrixOptions)
def delta(
    protocol: Randomized, *, epsilon: float, groups: Groups = (), **given: Any
) -> Certificate | RandomizerDelta:
    """Compute lower and upper bounds of delta of a protocol, a plan or any randomizer.

    Parameters
    ----------
    protocol : str, Plan or matrix
        A protocol that ``mixtally check delta --help`` lists, a plan or the path of its file, or
        the matrix of a randomizer: an array, a data frame or nested lists. A row of the matrix is a
        value that a person may hold, a column is a message, and the entries of a row sum to 1
        exactly.
    epsilon : float
        The privacy loss at which delta is computed, in nats, in [0.01, 20], or in [0, 20] for a
        matrix.
    groups : sequence of (matrix, int)
        Other people who use other randomizers: the matrix and the number of people of each group.
    fake_row : str or sequence, optional
        For a matrix, the distribution of fakes: the label of a row, "uniform", or a probability for
        each output. The row remains a value that people may hold.
    **given
        The parameters of the protocol. For a matrix: ``users`` and, if ``fake_row`` is given,
        ``fakes``.

    Returns
    -------
    Certificate or RandomizerDelta
        The lower and the upper bound of delta, with the observer, the proof and its assumption.

    Raises
    ------
    DataError
        If the matrix is no randomizer.
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
    >>> found = mixtally.delta([["3/4", "1/4"], ["1/4", "3/4"]], users=1_000, epsilon=0.1)
    >>> f"{found.upper:.3g}", found.pair, found.crowd
    ('4.95e-05', ('1', '0'), '999 x 1')
    """
    epsilon, protocol = checks.check_number("epsilon", epsilon), with_path(protocol)
    if is_matrix(protocol):
        return matrix.price_matrix(shuffled_matrix_of(protocol, groups, given), epsilon)
    return price.certify(_target_of(protocol, groups, given), epsilon)


@checks.translate_errors
@checks.accept_options(Parameters, MatrixOptions)
def epsilon(
    protocol: Randomized, *, delta: float, groups: Groups = (), **given: Any
) -> Certificate | RandomizerDelta:
    """Find the least epsilon at which the upper bound of delta is at most ``delta``.

    Parameters
    ----------
    protocol : str, Plan or matrix
        As in ``delta``.
    delta : float
        The delta of the guarantee.
    groups : sequence of (matrix, int)
        As in ``delta``.
    **given
        As in ``delta``.

    Returns
    -------
    Certificate or RandomizerDelta
        The lower and the upper bound of delta at the epsilon that was found, which is the attribute
        ``epsilon``.

    Raises
    ------
    DataError
        If the matrix is no randomizer.
    EffortError
        If the computation would take too long.
    ParameterError
        As in ``delta``, and if no epsilon up to 20 satisfies delta.

    Examples
    --------
    >>> import mixtally
    >>> found = mixtally.epsilon([["3/4", "1/4"], ["1/4", "3/4"]], users=1_000, delta=1e-6)
    >>> round(found.epsilon, 3)
    0.142
    """
    delta, protocol = checks.check_number("delta", delta), with_path(protocol)
    if is_matrix(protocol):
        return matrix.least_epsilon(shuffled_matrix_of(protocol, groups, given), delta)
    return price.least_epsilon(_target_of(protocol, groups, given), delta)


@checks.translate_errors
@checks.accept_options(Parameters, MatrixOptions)
def curve(
    protocol: Randomized,
    *,
    epsilons: Sequence[float] | None = None,
    groups: Groups = (),
    **given: Any,
) -> PrivacyCurve:
    """Compute upper bounds of delta at many epsilons.

    Parameters
    ----------
    protocol : str, Plan or matrix
        As in ``delta``.
    epsilons : sequence of float, optional
        The epsilons at which delta is computed, from 0 to 20. The default has enough points to
        compose the curve with others.
    groups : sequence of (matrix, int)
        As in ``delta``.
    **given
        As in ``delta``.

    Returns
    -------
    PrivacyCurve
        The curve, which can be composed and exchanged with other libraries.

    Raises
    ------
    DataError
        If the matrix is no randomizer.
    EffortError
        If the computation would take too long.
    ParameterError
        As in ``delta``.

    Examples
    --------
    >>> import mixtally
    >>> curve = mixtally.curve([["3/4", "1/4"], ["1/4", "3/4"]], users=1_000)
    >>> round(curve.epsilon(1e-6), 3)
    0.142
    >>> round(curve.compose(10).epsilon(1e-6), 2)
    0.47
    """
    points, protocol = None, with_path(protocol)
    if epsilons is not None:
        points = [
            checks.check_number(f"epsilons[{i}]", one)
            for i, one in enumerate(checks.read_list("epsilons", epsilons))
        ]
    if is_matrix(protocol):
        return matrix.trace_matrix(shuffled_matrix_of(protocol, groups, given), points)
    return price.trace(_target_of(protocol, groups, given), points)


def _target_of(
    protocol: Randomized, groups: Groups, given: dict[str, Any]
) -> MechanismOptions | PrivacyTerms:
    """Return the parameters of a protocol, or the terms of a plan.

    Raises ParameterError for arguments that belong to a matrix, or that the plan already states.
    """
    if isinstance(protocol, str):
        matrix.refuse_matrix_options(checks.read_options(MatrixOptions, given))
    if len(groups):
        raise ParameterError(
            "groups", expected="a matrix with groups", got="a protocol", do="leave groups out"
        )
    if isinstance(protocol, str):
        return _options(protocol, given)
    refuse_extra_flags([f"--{name.replace('_', '-')}" for name in given])
    if isinstance(protocol, Plan):  # the planner or Plan.load has already verified it
        return PrivacyTerms.of(protocol.record)
    read = read_plan_or_contract(contract_bytes(protocol), "the plan")
    plan = read.plan if isinstance(read, Contract) else read
    verify(plan)
    return PrivacyTerms.of(plan)


@checks.translate_errors
@checks.accept_options(Parameters)
def calibrate(protocol: str, *, epsilon: float, delta: float, **given: Any) -> Calibrated:
    """Find the least noise that satisfies a guarantee, as the value of the omitted parameter.

    Parameters
    ----------
    protocol : str
        A protocol that ``mixtally check noise --help`` lists.
    epsilon : float
        The largest privacy loss, in nats, in [0.01, 20].
    delta : float
        The delta of the guarantee, in [1e-15, 0.1].
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
    # If the number of people is unknown, ``standard_error`` is the error divided by the square root
    # of this number, so it is left out.
    error = priced.standard_error if priced.people else None
    return Calibrated(priced.certificate, priced.found, error)


def _options(protocol: object, given: dict[str, object]) -> MechanismOptions:
    """Return the parameters after checking their types and the protocol."""
    name = checks.check_choice("protocol", protocol, PROTOCOLS)
    return checks.read_options(MechanismOptions, {**given, "protocol": name})
