"""Delta of a mechanism with known parameters, and the smallest noise for a guarantee.

The command line and Python show the results of ``delta`` and ``noise``. The other functions also
accept the terms of a plan, and only Python calls them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mixtally.accounting.accountant import Accountant, Record, local_epsilon
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.composition.pld import Curve
from mixtally.accounting.curves import PrivacyCurve, trace_curve
from mixtally.accounting.divergence import memoized as memory
from mixtally.accounting.parameters import ParsedParameters
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms, curve_of, local_epsilon_of
from mixtally.app.matrix import search_epsilon
from mixtally.app.mechanism import (
    MEMORY,
    MechanismOptions,
    count_fakes,
    parse_memoized,
    parse_record,
    standard_error,
    with_promised_fakes,
)
from mixtally.model.certificate import Certificate
from mixtally.model.guarantee import LEAST_EPSILON, Guarantee, check_epsilon
from mixtally.model.mechanism import Memoized, Parameter, Shuffled
from mixtally.model.mechanism.memoized import PERMANENT
from mixtally.report.document import Promise
from mixtally.report.numbers import at_least, at_most, error_text
from mixtally.report.promise import certificate_line, error_line, protection_line

_UNKNOWN: dict[str, Any] = {"flip_probability": None, "flip_threshold": None, "fakes": None}
"""Keys that the JSON output always has; their values are null if they do not apply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """The proved privacy of a mechanism, and the parameter that was found for it.

    Attributes
    ----------
    request : MechanismOptions
        The requested protocol and its parameters.
    certificate : Certificate
        Bounds of delta, with observer, source and assumption.
    own : dict
        Facts of the mechanism: the parameters with which delta was computed, and the privacy loss
        without mixes.
    standard_error : float or None
        Standard error of one count; None if the number of people is unknown.
    people : int or None
        The number of people for which the error is computed.
    aim : float or None
        The delta for which a parameter was searched; None without a search.
    found : dict
        The parameter that was found, by its public name; empty without a search.
    noise : tuple of str
        The noise that was found, in words; empty without a search.
    """

    request: MechanismOptions
    certificate: Certificate
    own: dict[str, Any]
    standard_error: float | None
    people: int | None
    aim: float | None = None
    found: dict[str, float]
    noise: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, Any]:
        """All values, with the keys of the JSON output."""
        shown = self.certificate
        proved = {
            "delta": shown.upper,
            "delta_lower": shown.lower,
            "epsilon": shown.epsilon,
            **shown.terms(),
        }
        if self.aim is None:
            return {**proved, **self.own}
        more = {"standard_error": self.standard_error, "found": self.found}
        return {**_UNKNOWN, **self.own, **more, **proved, "delta_target": self.aim}

    @property
    def promise(self) -> Promise:
        """The three lines with which every result begins."""
        # If --users is not set, the error is computed for as many people as there are fakes.
        error, users = self.standard_error, self.request.users or self.own.get("fakes")
        first, second = (
            protection_line(self.certificate.observer),
            certificate_line(self.certificate),
        )
        if error is None:
            third = error_line(None, note=": add --users N for the number of people")
        elif self.request.protocol == MEMORY and self.request.users is None:
            third = (
                f"Expected error of each count: a standard error of {error_text(error)} times the "
                "square root of the people."
            )
        else:
            third = error_line(error, note=f", of {users:,} people" if users else "")
        return first, second, third

    @property
    def lines(self) -> list[str]:
        """Lines about the noise and the proved bounds: lower rounded down, upper rounded up."""
        shown = self.certificate
        at = at_most(shown.epsilon, 9)
        return [
            *self.noise,
            f"delta <= {at_most(shown.upper, 9)} at epsilon {at} ({shown.status})",
            f"delta >= {at_least(shown.lower, 9)}, observer: {shown.observer}",
            f"source: {shown.source}",
            f"assumption: {shown.assumption}",
            _loss_line(self.own),
        ]


def delta(request: MechanismOptions, epsilon: float) -> Priced:
    """Compute the exact delta of a mechanism.

    Parameters
    ----------
    request : MechanismOptions
        The protocol and its parameters.
    epsilon : float
        The epsilon at which delta is computed, in [0.01, 20].

    Returns
    -------
    Priced
        The certificate, and the facts and sentences that show it.

    Raises
    ------
    ParameterError
        If parameters are missing, unknown or out of range.
    """
    if request.protocol == MEMORY:
        mechanism, reports = parse_memoized(request)
        return _price_memoized(request, mechanism, reports, check_epsilon(epsilon))
    asked = parse_record(request)
    return _price_record(request, asked, asked.honest_record, Accountant(), check_epsilon(epsilon))


def certify(target: MechanismOptions | PrivacyTerms, epsilon: float) -> Certificate:
    """Return the proved bounds of delta of a protocol or of a plan at one epsilon.

    Parameters
    ----------
    target : MechanismOptions or PrivacyTerms
        The protocol and its parameters, or the terms of a plan.
    epsilon : float
        The epsilon at which delta is computed, in [0.01, 20].

    Raises
    ------
    ParameterError
        As in ``delta``.
    """
    if isinstance(target, MechanismOptions):
        return delta(target, epsilon).certificate
    promised = Guarantee(epsilon=check_epsilon(epsilon), delta=target.guarantee.delta)
    return certify_terms(replace(target, guarantee=promised))


def least_epsilon(target: MechanismOptions | PrivacyTerms, delta: float) -> Certificate:
    """Return the bounds at the least epsilon whose upper bound is at most ``delta``.

    Epsilon is in [0.01, 20].

    Parameters
    ----------
    target : MechanismOptions or PrivacyTerms
        The protocol and its parameters, or the terms of a plan.
    delta : float
        The delta of the guarantee.

    Raises
    ------
    ParameterError
        As in ``delta``, and if no epsilon up to 20 satisfies delta.
    """
    upper, _ = _curve_of(target)
    found = search_epsilon(lambda one: upper(max(one, LEAST_EPSILON)), delta)
    return certify(target, max(found, LEAST_EPSILON))


def trace(
    target: MechanismOptions | PrivacyTerms, epsilons: Sequence[float] | None
) -> PrivacyCurve:
    """Return the upper bound of delta as a curve over epsilon.

    Parameters
    ----------
    target : MechanismOptions or PrivacyTerms
        The protocol and its parameters, or the terms of a plan.
    epsilons : sequence of float or None
        The epsilons at which delta is computed, in [0, 20]. None for enough points to compose the
        curve with others.

    Raises
    ------
    ParameterError
        As in ``delta``.
    """
    upper, reach = _curve_of(target)
    if epsilons is None:
        return trace_curve(upper, reach)
    return PrivacyCurve.from_profile([(one, upper(one)) for one in epsilons])


def _curve_of(target: MechanismOptions | PrivacyTerms) -> tuple[Curve, float]:
    """Return the function from epsilon in [0, 20] to the upper bound of delta.

    The second value is an upper bound of the privacy loss, in nats, which may be infinite.
    """
    accountant = Accountant()
    if isinstance(target, PrivacyTerms):
        local = local_epsilon_of(target)
        return curve_of(target, accountant), math.inf if local is None else local
    if target.protocol == MEMORY:
        mechanism, reports = parse_memoized(target)
        reach = memory.loss(mechanism, reports).eps_T
        return lambda epsilon: memory.delta(mechanism, reports, epsilon).upper, reach
    record = parse_record(target).honest_record
    return lambda epsilon: accountant.delta(record, epsilon).bounds.upper, local_epsilon(record)


def noise(request: MechanismOptions, guarantee: Guarantee) -> Priced:
    """Find the smallest noise for a guarantee, which is the value of the omitted parameter.

    Parameters
    ----------
    request : MechanismOptions
        The protocol and all parameters except one.
    guarantee : Guarantee
        The required epsilon and delta.

    Returns
    -------
    Priced
        The certificate with the parameter that was found, and this parameter in ``found``.

    Raises
    ------
    ParameterError
        As in ``delta``, and if no noise satisfies the guarantee.
    """
    epsilon, aim = guarantee.epsilon, guarantee.delta
    if request.protocol == MEMORY:
        mechanism, reports = parse_memoized(request, seek=True)
        found = memory.least_permanent(mechanism, reports, epsilon, aim)
        return _price_memoized(request, found, reports, epsilon, aim)
    accountant, asked = Accountant(), parse_record(request, for_epsilon=epsilon)
    if asked.sought_parameter is None:
        raise TypeError("no parameter was left out")
    record = calibrate(accountant, asked.honest_record, asked.sought_parameter, epsilon, aim)
    return _price_record(request, asked, record, accountant, epsilon, aim)


def _price_record(
    request: MechanismOptions,
    asked: ParsedParameters,
    record: Record,
    accountant: Accountant,
    epsilon: float,
    aim: float | None = None,
) -> Priced:
    """Return the bounds and errors of a mechanism whose messages are mixed."""
    counted, sent = (
        record.message.mechanism,
        with_promised_fakes(request, asked, record).message.mechanism,
    )
    error, people = standard_error(request, asked, record)
    local = local_epsilon(record)
    own = {
        **_request_facts(request),
        **counted.noise_facts(),
        "fakes": count_fakes(sent),
        "fakes_counted": count_fakes(counted),
        "users_counted": asked.crowd,
        "local_epsilon": local if math.isfinite(local) else None,
    }
    found: dict[str, float] = {}
    if asked.sought_parameter is not None:
        is_fakes = asked.sought_parameter == Parameter.FAKES
        found = (
            {"fakes": count_fakes(sent) or 0}
            if is_fakes
            else counted.get_parameter_values(asked.sought_parameter)
        )
    return Priced(
        request=request,
        certificate=accountant.certificate(record, epsilon, aim),
        own=own,
        standard_error=error,
        people=people,
        aim=aim,
        found=found,
        noise=() if aim is None else _noise_lines(counted, sent),
    )


def _price_memoized(
    request: MechanismOptions,
    mechanism: Memoized,
    reports: int,
    epsilon: float,
    aim: float | None = None,
) -> Priced:
    """Return the bounds and errors of memoized answers, which rely on no mix."""
    loss, users = memory.loss(mechanism, reports), request.users or 1
    own = {
        **_request_facts(request),
        "eps_inf": loss.eps_inf,
        "eps_1": loss.eps_1,
        "eps_T": loss.eps_T,
        "permanent": mechanism.f,
        "permanent_threshold": mechanism.permanent,
    }
    return Priced(
        request=request,
        certificate=memory.certificate(mechanism, reports, epsilon),
        own=own,
        standard_error=mechanism.standard_error(users, reports),
        people=users,
        aim=aim,
        found={} if aim is None else {"permanent": mechanism.f},
        noise=() if aim is None else (f"{PERMANENT} {at_most(mechanism.f, 9)}",),
    )


def _request_facts(request: MechanismOptions) -> dict[str, Any]:
    return {
        "protocol": request.protocol,
        "honest_share": request.honest_share,
        **request.list_given(),
    }


def _noise_lines(counted: Shuffled, sent: Shuffled) -> tuple[str, ...]:
    """Return the noise in words.

    ``counted`` is the mechanism with the fakes that the guarantee counts, and ``sent`` the one with
    all fakes. A printed probability is rounded up, so that a person who uses the printed number
    gets at least this noise.
    """
    lines = []
    for one in counted.PARAMETERS:
        sought = one.sought
        if sought is None or one.name not in counted.rules.sought or sought == Parameter.FAKES:
            continue
        found = counted.get_parameter_values(sought)
        if sought.denominator > 1:
            chance, threshold = at_most(found[one.name], 9), counted.parameter_value(sought)
            lines.append(f"{sought} {chance}, threshold {threshold} over 2^64")
        else:
            shown = [f"{name.replace('_', ' ')} {value:,.9g}" for name, value in found.items()]
            lines.append(", ".join(shown))
    fakes, certain = count_fakes(sent), count_fakes(counted)
    if fakes is not None:
        more = f", {certain:,} of them assumed honest" * (certain != fakes)
        lines.append(f"fakes {fakes:,}{more}")
    return tuple(lines)


def _loss_line(facts: dict[str, Any]) -> str:
    """Return the line about the privacy without mixes, or about memoized answers."""
    if "eps_T" in facts:
        shown = {name: at_most(facts[name], 6) for name in ("eps_1", "eps_T", "eps_inf")}
        return (
            f"largest loss: {shown['eps_1']} after one report, {shown['eps_T']} after "
            f"{facts['reports']:,} reports, {shown['eps_inf']} after any number"
        )
    local = facts["local_epsilon"]
    remaining = "no protection" if local is None else f"a local epsilon of {at_most(local, 6)}"
    return f"if every mix colludes: {remaining} remains"
