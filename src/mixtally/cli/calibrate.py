"""``mixtally check noise``: the least noise that keeps a guarantee."""

from typing import Any

from mixtally.app.mechanism import MechanismOptions, memoized, parsed, standard_error
from mixtally.cli import options as o
from mixtally.cli.delta import certificate_facts, promise_of, proved
from mixtally.cli.grouped import grouped
from mixtally.cli.mechanism import memoized_facts, record_facts
from mixtally.cli.output import print_told, sign_of_life
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.calibrate import calibrate as search
from mixtally.privacy.divergence import memoized as divergence
from mixtally.records.certificate import Certificate
from mixtally.report.numbers import at_most

_UNKNOWN: dict[str, Any] = {"flip_probability": None, "flip_threshold": None, "fakes": None}


@grouped
def calibrate(promise: o.Promise, json: o.Json = False, *, options: MechanismOptions) -> None:
    """Find the least noise for a guarantee.

    Takes the parameters of `mixtally check delta` without --flip or --replaced, or without --fakes,
    and finds what was left out: the shape for clear-shaped, --permanent for memory. Errors are for
    --users people, or for as many as there are fakes when it is left out.
    """
    promise.guarantee()  # refuses what is out of range
    with sign_of_life("calibrating"):
        found = _memoized if options.protocol == "memory" else _record
        facts, shown, lines = found(options, promise.epsilon, promise.delta)
    facts = {**_UNKNOWN, **facts, **certificate_facts(shown), "delta_target": promise.delta}
    told = [*lines, *proved(shown, facts)]
    print_told(promise_of(shown, facts, options), facts, told, json=json)


def _record(
    options: MechanismOptions, epsilon: float, delta: float
) -> tuple[dict[str, Any], Certificate, list[str]]:
    """Facts, certificate and what was found, of a mechanism whose messages are mixed."""
    accountant, asked = Accountant(), parsed(options, for_epsilon=epsilon)
    if asked.sought is None:
        raise TypeError("nothing is to be found")
    found = search(accountant, asked.counted, asked.sought, epsilon, delta)
    facts = record_facts(options, asked, found)
    facts["standard_error"], _ = standard_error(options, asked, found)
    lines = []
    if facts.get("flip_threshold") is not None:
        flip = at_most(facts["flip_probability"], 9)  # who types it in again flips no less
        lines.append(f"flip probability {flip}, threshold {facts['flip_threshold']} over 2^64")
    if "replace_threshold" in facts:
        share = at_most(facts["replace_probability"], 9)  # and replaces no less
        lines.append(f"replaced {share}, threshold {facts['replace_threshold']} over 2^64")
    for name in ("decay", "variance"):
        if f"shape_{name}" in facts and "shape_shift" in facts:
            shift = facts["shape_shift"]
            lines.append(f"shape {name} {facts[f'shape_{name}']:.9g}, shift {shift}")
    if facts["fakes"] is not None:
        counted = facts["fakes_counted"]
        more = f", {counted:,} of them counted on" * (counted != facts["fakes"])
        lines.append(f"fakes {facts['fakes']:,}{more}")
    return facts, accountant.certificate(found, epsilon, delta), lines


def _memoized(
    options: MechanismOptions, epsilon: float, delta: float
) -> tuple[dict[str, Any], Certificate, list[str]]:
    """The same of memoized answers, whose permanent response is found."""
    mechanism, reports = memoized(options, seek=True)
    found = divergence.least_permanent(mechanism, reports, epsilon, delta)
    facts = memoized_facts(options, found, reports)
    users = options.users or 1
    facts["standard_error"] = found.standard_error(users, reports)
    line = f"permanent response {at_most(found.f, 9)}"
    return facts, divergence.certificate(found, reports, epsilon), [line]
