"""``mixtally check delta``: the exact delta of any parameters."""

from typing import Any

from mixtally.app.mechanism import MechanismOptions, memoized, parsed, standard_error
from mixtally.cli import options as o
from mixtally.cli.grouped import grouped
from mixtally.cli.mechanism import memoized_facts, record_facts
from mixtally.cli.output import print_told, sign_of_life
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.divergence import memoized as divergence
from mixtally.records.certificate import Certificate
from mixtally.report.document import Promise
from mixtally.report.numbers import at_least, at_most, error_text
from mixtally.report.promise import expected, protects, stated


@grouped
def delta(epsilon: o.Epsilon, json: o.Json = False, *, options: MechanismOptions) -> None:
    """Compute the exact delta of given parameters.

    flip-blank takes --fakes and --flip (and --max-set, or --users with --count-crowd);
    clear-uniform --fakes and --bins (and --max-set); kary-response --users, --bins and --replaced
    (and --fakes, --max-set); clear-shaped --shape-decay, or --shape-variance, and --shape-shift
    (and --max-set); single-bit --users, --fakes and --flip (and --ones); flip --users and --flip
    (and --bins with --observer or --max-set, or --bits with --background); flip-uniform --users,
    --fakes, --bins and --flip (and --observer); memory --permanent, --p, --q, --hashes and
    --reports. All but memory and kary-response also take --repeats, --count-crowd and, where a
    record has several bits or attributes, --split.
    """
    error: float | None
    if options.protocol == "memory":
        mechanism, reports = memoized(options)
        with sign_of_life("computing delta"):
            shown = divergence.certificate(mechanism, reports, epsilon)
        facts = memoized_facts(options, mechanism, reports)
        error = mechanism.standard_error(options.users or 1, reports)
    else:
        asked = parsed(options)
        with sign_of_life("computing delta"):
            shown = Accountant().certificate(asked.counted, epsilon)
        facts = record_facts(options, asked, asked.counted)
        error, _ = standard_error(options, asked, asked.counted)
    facts = {**certificate_facts(shown), **facts}
    promise = promise_of(shown, {**facts, "standard_error": error}, options)
    print_told(promise, facts, proved(shown, facts), json=json)


def promise_of(shown: Certificate, facts: dict[str, Any], options: MechanismOptions) -> Promise:
    """The three lines of a mechanism, whose error is among the ``facts``."""
    error, users = facts["standard_error"], options.users or facts.get("fakes")
    first, second = protects(shown.observer), stated(shown)
    if options.protocol == "memory" and options.users is None:
        return (
            first,
            second,
            (
                f"Expected error of each count: a standard error of {error_text(error)} times the "
                "square root of the people."
            ),
        )
    if error is None:
        return first, second, expected(None, note=": say how many people with --users")
    return first, second, expected(error, note=f", of {users:,} people" if users else "")


def certificate_facts(shown: Certificate) -> dict[str, Any]:
    """A certificate as the first fields of a JSON answer."""
    return {
        "delta": shown.upper,
        "delta_lower": shown.lower,
        "epsilon": shown.epsilon,
        **shown.terms(),
    }


def proved(shown: Certificate, facts: dict[str, Any]) -> list[str]:
    """A certificate, each number rounded to its own side, and what is left without mixes."""
    at = at_most(shown.epsilon, 9)
    return [
        f"delta <= {at_most(shown.upper, 9)} at epsilon {at} ({shown.status})",
        f"delta >= {at_least(shown.lower, 9)}, observer: {shown.observer}",
        f"source: {shown.source}",
        f"assumption: {shown.assumption}",
        _losses(facts),
    ]


def _losses(facts: dict[str, Any]) -> str:
    """What is left without mixes, or of a memory."""
    if "eps_T" in facts:
        shown = {name: at_most(facts[name], 6) for name in ("eps_1", "eps_T", "eps_inf")}
        return (
            f"largest loss: {shown['eps_1']} after one report, {shown['eps_T']} after "
            f"{facts['reports']:,}, {shown['eps_inf']} after any number"
        )
    local = facts["local_epsilon"]
    left = "nothing" if local is None else f"a local epsilon of {at_most(local, 6)}"
    return f"if every mix colludes: {left} is left"
