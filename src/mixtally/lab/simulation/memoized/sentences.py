"""Sentences on memoized answers: what was found, what it costs, and what an observer learns."""

import math

from mixtally.accounting.divergence.memoized import SOURCE
from mixtally.lab.simulation.memoized.counts import MemoizedFindings
from mixtally.model.guarantee import Observer
from mixtally.protocol.estimate.words import CHOSEN
from mixtally.report.document import Facts, Promise
from mixtally.report.numbers import at_least, at_most, error_text, round_to_error
from mixtally.report.promise import error_line, protection_line


def describe_findings(findings: MemoizedFindings) -> list[str]:
    """Return sentences on the accuracy of the estimates and on the privacy lost by averaging."""
    facts, reports = findings.facts, findings.facts["reports"]
    lines = [
        f"standard error of an empty bit: {error_text(facts['bit_error_one_report'])} from one "
        f"report a person, {error_text(facts['bit_error_all_reports'])} from {reports:,}, "
        f"{error_text(facts['bit_error_floor'])} from any number",
        f"{_describe_measured(findings)}{facts['method']}",
    ]
    if "unlisted" in facts:
        significant = sum(row["found"] for row in findings.rows)
        lines.append(
            f"{significant:,} of {len(facts['estimates']):,} candidates are significant; others "
            "than candidates: "
            f"{round_to_error(facts['unlisted'], facts['unlisted_standard_error'])} +- "
            f"{error_text(facts['unlisted_standard_error'])}"
            f"{_describe_unlisted(findings)}; reduced chi-square {facts['misfit']:.3g}"
            + (", counted in the errors" if facts["misfit_counted"] else "")
        )
        if facts["method"] == CHOSEN:
            lines.append(
                "the bits cannot distinguish all candidates: the choice is not counted in the "
                "errors, and intervals fall short of their level; use more bits or cohorts"
            )
    return [*lines, describe_averaging(facts)]


def promise_lines(facts: Facts) -> Promise:
    """Return the three lines of the promise: protection, losses with assumptions, and error."""
    errors = [row["standard_error"] for row in facts["estimates"]]
    error = max((one for one in errors if one is not None), default=None)
    return (
        protection_line(Observer.LINKED, "the value that each person holds"),
        f"epsilon = {at_most(facts['eps_T'], 6)} after {facts['reports']:,} reports and "
        f"{at_most(facts['eps_inf'], 6)} after any number, delta = 0 (exact). Assumes nothing "
        "of others: the noise of a value is drawn once and kept.",
        error_line(error, facts["confidence_level"]),
    )


def _describe_measured(findings: MemoizedFindings) -> str:
    """Compare the estimates with the truth, in sentences; empty in a release."""
    if not findings.is_simulated:
        return ""
    covered = findings.coverage().text(findings.facts["confidence_level"]).rstrip(".")
    return f"{covered}; measured error {error_text(findings.measured_error)} counts; "


def _describe_unlisted(findings: MemoizedFindings) -> str:
    return f" (truth {findings.true_unlisted:,})" if findings.is_simulated else ""


def describe_averaging(facts: Facts) -> str:
    """Describe the loss of privacy from averaging all reports of a person."""
    learned = facts["recovery"]
    return (
        f"averaging a person's {facts['reports']:,} reports misreads the memoized bit with "
        f"probability {learned['kept_bit_wrong']:.3f}, the true one with "
        f"{learned['true_bit_wrong']:.3f}, never below {learned['true_bit_wrong_at_least']:.3f}"
    )


def describe_linking(facts: Facts) -> str:
    """Describe how often an observer recognizes reports at two places as those of one person."""
    found = facts["linking"]
    if found is None:
        return "Linking was not played: the record has too few bits for it."
    cohort = ""
    if facts["cohorts"] > 1:
        cohort = (
            f" Two people are in one of the {facts['cohorts']:,} cohorts with chance "
            f"{1 / facts['cohorts']:.3g}, so the cohort, which is sent in clear, already excludes "
            "most other people; this adds to the above."
        )
    return (
        f"With {found['reports_at_each_place']:,} reports at each of two places, somebody who "
        "knows the value recognizes by the memoized noise alone that both come from one person, in "
        f"{100 * found['recognized']:.1f} % of the cases (at least "
        f"{100 * found['recognized_at_least']:.1f} %), at one false alarm in "
        f"{1 / found['false_alarms']:,.0f}; blind guessing would be right in "
        f"{100 * found['false_alarms']:g} %. Played {found['runs']:,} times on "
        f"{found['bits']:,} bits.{cohort}"
    )


def describe_losses(facts: Facts) -> list[str]:
    """Return the losses, in one line each."""
    lines = [
        f"eps_1 = {at_most(facts['eps_1'], 6)}, eps_T = {at_most(facts['eps_T'], 6)} after "
        f"{facts['reports']:,} reports, eps_inf = {at_most(facts['eps_inf'], 6)} however many; "
        "observer: linked; delta = 0",
    ]
    if facts["memory_file"]:
        lines.append("reports of earlier runs by this key count as well: eps_inf holds for all")
    if facts["memories"] > 1:
        lines.append(
            f"this key has answered under {facts['memories']:,} questions, encoders or f: each "
            "costs an eps_inf of its own, and they add up"
        )
    if "epsilon" in facts:
        lines.append(
            f"at epsilon {at_most(facts['epsilon'], 6)} after {facts['reports']:,} reports: "
            f"delta <= {at_most(facts['delta'], 6)}, at least {at_least(facts['delta_lower'], 6)}"
        )
    return lines


def describe_promise(facts: Facts) -> list[str]:
    """Describe the promise without formulas, and its assumptions."""
    factor = at_most(math.exp(facts["eps_T"]))
    forever = at_most(math.exp(facts["eps_inf"]))
    return [
        f"What an observer who sees all {facts['reports']:,} reports of this run, and knows whose "
        f"they are, concludes about a person is at most {factor} times as likely under one value "
        f"as under the other; from any number of reports, at most {forever} times (delta = 0).",
        f"This is local differential privacy: {'; '.join(describe_losses(facts))}.",
        "Assumes no mix, no fake and no other person, only that the noise of a value is drawn "
        "once, from a key that nobody else has, and is the same in every report.",
        f"Source: {SOURCE}.",
    ]


NOT_PROMISED = (
    "A value that changes is memoized anew: each further value costs eps_inf again, and the moment "
    "of the change can be seen.",
    "Reports of one person can be linked: what is memoized is the same wherever it is used.",
    "Averaging finds what is memoized. The true value stays hidden behind noise drawn once.",
    "A key that is lost is made anew, and every response with it: that costs eps_inf once more.",
    "Anyone who has the key can compute each response, and learns from reports which values they "
    "are of: keep it as a secret.",
    "That someone took part is not hidden, only what they answered.",
    "Nothing here stops a person from lying.",
)
"""Sentences on what the guarantee of memoized answers does not include."""
