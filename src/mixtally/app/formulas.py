"""Published formulas: their list, and the exact delta of the noise that a formula prescribes.

The command line calls ``list_formulas`` and ``check_formula``, and prints what they return.
"""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, NamedTuple

from mixtally.app import options as o
from mixtally.errors import ParameterError, join_words
from mixtally.lab.formulas.audit import Case, FormulaAudit, ObserverAudit, audit_formula
from mixtally.lab.formulas.catalogue import FORMULAS, formula_named
from mixtally.report.document import Promise
from mixtally.report.numbers import at_least, at_most

_LISTED = (
    "Protects: nobody, because nothing is collected here; this is a list of published formulas.",
    "epsilon and delta: --formula NAME compares the claimed delta with the exact delta.",
    "Expected error of each count: none, because nothing is counted; --formula NAME prints by how "
    "much the error of a formula is too large.",
)


class FormulaView(NamedTuple):
    """Output about formulas: the promise in three lines, the JSON facts, and lines of text."""

    promise: Promise
    facts: dict[str, Any]
    lines: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingOptions:
    """The parameters of a collection that a formula needs."""

    users: Annotated[int | None, o.whole_option("--users", "People who take part, 2 or more.")] = (
        None
    )
    fakes: Annotated[
        int | None, o.whole_option("--fakes", "Fakes in the whole collection, 0 or more.")
    ] = None
    bins: o.Bins = None
    bits: Annotated[int | None, o.whole_option("--bits", "Bits of a vector, 1 or more.")] = None
    repeats: Annotated[
        int | None, o.whole_option("--repeats", "Times every bit is sent, 1 or more.")
    ] = None


def list_formulas() -> FormulaView:
    """Return all published formulas with their parameters and sources."""
    rows = [
        {
            "formula": one.name,
            "asks": one.computes,
            "protocol": one.protocol,
            "needs": list(one.needs),
            "source": one.source,
        }
        for one in FORMULAS
    ]
    lines = []
    for one in FORMULAS:
        takes = " ".join(f"--{name}" for name in one.needs)
        lines.append(f"{one.name:<16} {one.computes} of {one.protocol}, takes {takes or 'no more'}")
        lines.append(f"{'':<16} {one.source}")
    return FormulaView(_LISTED, {"formulas": rows}, lines)


def check_formula(
    name: str | None, promise: o.MaybePromise, setting: SettingOptions
) -> FormulaView:
    """Compare the delta that a formula claims with the exact delta of the noise it prescribes.

    Parameters
    ----------
    name : str or None
        The name of the formula. None means that the user did not set the option, and is refused.
    promise : MaybePromise
        The guarantee for which the formula prescribes noise.
    setting : SettingOptions
        The parameters of the collection.

    Raises
    ------
    ParameterError
        If the formula or the guarantee is missing, or if a parameter is unknown or out of range.
    """
    epsilon, delta = promise.epsilon, promise.delta
    if name is None or epsilon is None or delta is None:
        given = {"--formula": name, "--epsilon": epsilon, "--delta": delta}
        named = [flag for flag, value in given.items() if value is not None]
        raise ParameterError(
            "check formula",
            expected="--formula, --epsilon and --delta, or --list",
            got=join_words(named) if named else "none",
            do="see --list for the formulas and their parameters",
        )
    verdict = audit_formula(formula_named(name), Case(epsilon, delta, **asdict(setting)))
    return FormulaView(_promise(verdict), _facts(verdict), _lines(verdict))


def _promise(verdict: FormulaAudit) -> Promise:
    """Return the claim of the formula, and the verdict for the observer who sees most."""
    # The first observer sees at least as much as the others.
    most = verdict.observer_audits[0]
    factor = next(
        (one.error_factor for one in verdict.observer_audits if one.error_factor is not None), None
    )
    larger = "not compared with the smallest one, because the claim is not proved correct"
    if factor is not None:
        larger = f"{factor:.3g} times that of the smallest noise that satisfies the guarantee"
    return (
        f"Protects, according to {verdict.formula.name}: each person's answer, against anyone who "
        f"sees {most.observer}.",
        f"epsilon = {at_most(verdict.epsilon, 6)}, delta <= {at_most(verdict.delta, 6)} is "
        f"claimed; verdict: {verdict.word}. The exact delta with this noise is between "
        f"{at_least(most.exact.lower, 4)} and {at_most(most.exact.upper, 4)} (proved).",
        f"Expected error of each count: {larger}.",
    )


def _facts(verdict: FormulaAudit) -> dict[str, Any]:
    given = {name: getattr(verdict.setting, name) for name in verdict.formula.needs}
    return {
        "formula": verdict.formula.name,
        "source": verdict.formula.source,
        "protocol": verdict.formula.protocol,
        "epsilon": verdict.epsilon,
        "delta": verdict.delta,
        **given,
        "asks": verdict.formula.computes,
        "noise": verdict.noise,
        "verdict": verdict.word,
        "seen": [
            {
                "observer": one.observer,
                "verdict": one.verdict,
                "delta_lower": one.exact.lower,
                "delta_upper": one.exact.upper,
                "least_noise": one.least_noise,
                "noise_factor": one.noise_factor,
                "error_factor": one.error_factor,
                "privacy_factor": one.privacy_factor,
            }
            for one in verdict.observer_audits
        ],
    }


def _lines(verdict: FormulaAudit) -> list[str]:
    formula, noise = verdict.formula, verdict.noise
    given = ", ".join(f"{getattr(verdict.setting, name):,} {name}" for name in formula.needs)
    # Noise below 1 is a probability; otherwise it is a number of fakes.
    asked = f"{noise:,.0f}" if noise >= 1.0 else f"{noise:.6g}"
    return [
        f"formula: {formula.name}, {formula.source}",
        f"promise: delta <= {at_most(verdict.delta, 9)} at epsilon {at_most(verdict.epsilon, 9)}",
        f"asks: {formula.computes} {asked} of {formula.protocol}" + (f", {given}" if given else ""),
        *[_line(one) for one in verdict.observer_audits],
    ]


def _line(one: ObserverAudit) -> str:
    # Both bounds are rounded outward, so that the printed interval still contains delta.
    truth = f"{at_least(one.exact.lower, 4)} <= delta <= {at_most(one.exact.upper, 4)}"
    said = f"{one.observer}: {one.verdict}, {truth}"
    if one.privacy_factor is not None:
        return f"{said}; {at_least(one.privacy_factor, 4)} times the promise"
    if one.noise_factor is None or one.least_noise is None:
        return said
    least = f"{one.least_noise:,.0f}" if one.least_noise >= 1.0 else f"{one.least_noise:.4g}"
    error = "" if one.error_factor is None else f", error {one.error_factor:.3g} times as large"
    return f"{said}; {one.noise_factor:.3g} times the noise needed ({least}){error}"
