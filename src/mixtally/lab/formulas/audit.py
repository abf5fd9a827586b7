"""The audit of a published formula: whether the noise that it states gives the stated guarantee.

The command line and ``literature`` call ``audit_formula``, which computes delta from the exact
distribution.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from mixtally.accounting.numerics.bracket import Bracket
from mixtally.errors import ParameterError, join_words
from mixtally.lab.formulas.catalogue import FAKES, FLIP, Formula
from mixtally.lab.formulas.exact_delta import EXACT_DELTAS, ExactDelta, FormulaSetting, threshold
from mixtally.lab.formulas.exact_fakes_per_bin import NOISES
from mixtally.lab.formulas.least_noise import least_uniform_fakes
from mixtally.model.guarantee import Guarantee
from mixtally.primitives.fixed_point import LEAST_THRESHOLD, SCALE

HOLDS, FALSE, UNDECIDED = "holds", "false", "undecided"
"""The possible verdicts about a formula."""
_TOLERANCE = 1e-5
"""The relative tolerance of the search for the least noise."""


class Case(NamedTuple):
    """A stated guarantee, and the parameters of a collection to check it with.

    Parameters that a formula does not use are None.
    """

    epsilon: float
    delta: float = 1e-6
    users: int | None = None
    fakes: int | None = None
    bins: int | None = None
    bits: int | None = None
    repeats: int | None = None


@dataclass(frozen=True, slots=True)
class ObserverAudit:
    """The exact delta for one observer, and the resulting verdict.

    Attributes
    ----------
    exact : Bracket
        The delta for the stated noise. A flip probability q above 1/2 counts as 1 - q, because
        exchanging all bits reveals the same.
    verdict : str
        "holds" if ``exact.upper`` is at most the stated delta, "false" if ``exact.lower`` exceeds
        it, else "undecided".
    least_noise : float or None
        The least noise of the same kind that keeps the guarantee. None unless the verdict is
        "holds".
    noise_factor : float or None
        The stated noise divided by the least noise.
    error_factor : float or None
        The standard error with the stated noise divided by that with the least noise.
    privacy_factor : float or None
        ``exact.lower`` divided by the stated delta. None unless the verdict is "false".
    """

    observer: str
    exact: Bracket
    verdict: str
    least_noise: float | None = None
    noise_factor: float | None = None
    error_factor: float | None = None
    privacy_factor: float | None = None


@dataclass(frozen=True, slots=True)
class FormulaAudit:
    """A formula, its parameters, the noise that it states, and the audit for each observer.

    ``delta`` is the delta of the stated guarantee.
    """

    formula: Formula
    setting: FormulaSetting
    delta: float
    noise: float
    observer_audits: tuple[ObserverAudit, ...]

    @property
    def epsilon(self) -> float:
        """The epsilon of the guarantee."""
        return self.setting.epsilon

    @property
    def word(self) -> str:
        """The verdict for the first observer, who sees at least as much as the others."""
        return self.observer_audits[0].verdict

    def by_observer(self, observer: str) -> ObserverAudit:
        """Return the audit for ``observer``; raise KeyError for an unknown observer."""
        return {one.observer: one for one in self.observer_audits}[observer]


def audit_formula(formula: Formula, case: Case) -> FormulaAudit:
    """Compute the noise that a formula states, and the exact delta of this noise.

    If the formula does not use a delta, the exact delta is compared with the delta of the case.

    Raises
    ------
    ParameterError
        If a parameter is missing, superfluous, or outside the range of the formula.
    """
    epsilon, delta = case.epsilon, case.delta
    Guarantee(epsilon=epsilon, delta=delta)
    given = _select_parameters(formula, case)
    noise = _state_noise(formula, epsilon, delta, given, given_fakes=case.fakes is not None)
    if formula.computes == FAKES:
        noise = float(math.ceil(noise))
    elif formula.computes == FLIP and not 0.0 < noise < 1.0:
        raise ParameterError(
            formula.name,
            expected="a collection for which it asks a flip probability below 1",
            got=f"{noise:.4g}",
            do="more users or fakes, or a weaker promise",
        )
    setting = FormulaSetting(epsilon=epsilon, **given)
    return FormulaAudit(
        formula=formula,
        setting=setting,
        delta=delta,
        noise=noise,
        observer_audits=tuple(
            _audit_observer(formula, observer, exact_delta, setting, delta, noise)
            for observer, exact_delta in EXACT_DELTAS[formula.protocol].items()
        ),
    )


def _select_parameters(formula: Formula, case: Case) -> dict[str, int]:
    """Return the parameters of the case that the formula needs.

    Superfluous ``users`` are ignored.
    """
    every = {name: getattr(case, name) for name in ("users", "fakes", "bins", "bits", "repeats")}
    given = {name: value for name, value in every.items() if value is not None}
    if "fakes" in formula.needs:
        given.setdefault("fakes", 0)
    extra = [n for n in given if n not in formula.needs and n != "users" and given[n]]
    missing = [n for n in formula.needs if n not in given]
    if extra or missing:
        raise ParameterError(
            formula.name,
            expected=join_words(formula.needs) or "only epsilon and delta",
            got=join_words(list(given)) or "none",
            do="; ".join(
                [f"add {join_words(missing)}"] * bool(missing)
                + [f"leave {join_words(extra)} out"] * bool(extra)
            ),
        )
    return {name: given[name] for name in formula.needs}


def _state_noise(
    formula: Formula, epsilon: float, delta: float, parameters: dict[str, int], *, given_fakes: bool
) -> float:
    """Return the noise of the formula.

    If ``given_fakes`` is False, an error about the number of fakes says that the number is missing.
    """
    try:
        return formula.compute(epsilon=epsilon, delta=delta, **parameters)
    except ParameterError as error:
        if error.subject != "fakes" or given_fakes:
            raise
        raise ParameterError(
            formula.name, expected="the number of fakes", got="none", do="add --fakes N"
        ) from None


def _audit_observer(
    formula: Formula,
    observer: str,
    exact_delta: ExactDelta,
    setting: FormulaSetting,
    delta: float,
    noise: float,
) -> ObserverAudit:
    exact = exact_delta(setting, noise)
    if exact.lower > delta:
        return ObserverAudit(observer, exact, FALSE, privacy_factor=exact.lower / delta)
    if exact.upper > delta:
        return ObserverAudit(observer, exact, UNDECIDED)
    least = _least_noise(formula, exact_delta, setting, delta, noise)
    error = _standard_error(formula, setting, noise)
    return ObserverAudit(
        observer,
        exact,
        HOLDS,
        least,
        noise_factor=noise / least,
        error_factor=error / _standard_error(formula, setting, least)
        if math.isfinite(error)
        else None,
    )


def _least_noise(
    formula: Formula, exact_delta: ExactDelta, setting: FormulaSetting, delta: float, noise: float
) -> float:
    """Return the least noise of the formula's kind that keeps the guarantee.

    ``noise`` is known to keep the guarantee, and is where the search begins.
    """
    if formula.computes == FAKES:
        return float(least_uniform_fakes(setting.bins, setting.epsilon, delta))
    added = NOISES.get(formula.protocol)
    if added is None:
        lowest, known, unit = LEAST_THRESHOLD, threshold(noise), 1.0 / SCALE
    else:
        lowest, known, unit = 1, math.ceil(noise / added.unit), added.unit
    return unit * _search_least(
        lambda n: exact_delta(setting, unit * n).upper <= delta, lowest, known
    )


def _search_least(keeps_guarantee: Callable[[int], bool], lowest: int, known: int) -> int:
    """Estimate the least number that keeps the guarantee, given that ``known`` keeps it.

    The returned number keeps the guarantee. The least number that keeps it is smaller by at most
    one part in 10^5.
    """
    high = known
    low = max(lowest, high // 4)
    while low > lowest and keeps_guarantee(low):
        low, high = max(lowest, low // 4), low
    while high - low > max(1, math.floor(_TOLERANCE * high)):
        middle = min(max(math.isqrt(low * high), low + 1), high - 1)
        low, high = (low, middle) if keeps_guarantee(middle) else (middle, high)
    return high


def _standard_error(formula: Formula, setting: FormulaSetting, noise: float) -> float:
    """Return the standard error of a count, up to a factor independent of the noise.

    For flips with probability q, and p = 1 - q, the error is sqrt(p q) / |p - q| per message. The
    error is infinite if q = 1/2, or if the distribution of the fakes is unknown.
    """
    if formula.computes == FAKES:
        return math.sqrt(noise)
    added = NOISES.get(formula.protocol)
    if added is not None:
        found = added.counts(setting.epsilon, setting.users, noise)
        return math.inf if found is None else found.spread()
    gain = abs(1.0 - 2.0 * noise)
    return math.sqrt(noise * (1.0 - noise)) / gain if gain else math.inf
