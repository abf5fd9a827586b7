"""What ``mixtally memory`` says: prices, estimates, and what an observer who averages learns."""

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixtally.encode.bloom import check_design, design
from mixtally.estimate.debias import check_choices
from mixtally.estimate.remembered import (
    Recovery,
    check_told,
    empty_error,
    estimate_remembered,
    recovery,
)
from mixtally.estimate.words import CHOSEN, estimate_words
from mixtally.ground.codec import fingerprint
from mixtally.lab.population import Population
from mixtally.lab.remembered import check_reports
from mixtally.privacy import remembered
from mixtally.protocols.two_level import TwoLevel
from mixtally.records.guarantee import checked_epsilon
from mixtally.records.results import Intervals
from mixtally.report.words import at_least, at_most, number

Facts = dict[str, Any]


def prices(plan: TwoLevel, reports: int, epsilon: float | None) -> Facts:
    """The plan's parameters and its losses; delta too where ``epsilon`` is given.

    Raises ParameterError as ``privacy.memory`` and ``checked_epsilon`` do.
    """
    p, q = plan.shown
    kept = remembered.Memory(permanent=plan.f, p=p, q=q, hashes=plan.hashes, reports=reports)
    loss = remembered.loss(kept)
    facts: Facts = {
        "protocol": "memory",
        "observer": "linked",
        "fingerprint": fingerprint(plan),
        "permanent": plan.f,
        "p": p,
        "q": q,
        "permanent_threshold": plan.permanent,
        "p_threshold": plan.p,
        "q_threshold": plan.q,
        "bits": plan.bits,
        "hashes": plan.hashes,
        "cohorts": plan.cohorts,
        "reports": reports,
        "eps_1": loss.eps_1,
        "eps_T": loss.eps_T,
        "eps_inf": loss.eps_inf,
    }
    if epsilon is not None:
        bracket = remembered.delta(kept, checked_epsilon(epsilon))
        facts |= {"epsilon": epsilon, "delta": bracket.upper, "delta_lower": bracket.lower}
    return facts


def check(plan: TwoLevel, reports: int, words: Sequence[str], level: float) -> None:
    """Refuse before the work what cannot be estimated after it; raises ParameterError."""
    check_choices(level, None)
    check_reports(plan, reports)
    if plan.hashed:
        check_design(plan, words)
    check_told(plan)


def estimated(
    plan: TwoLevel,
    ones: NDArray[np.int64],
    sizes: NDArray[np.int64],
    words: Sequence[str],
    population: Population,
    level: float,
) -> Facts:
    """Counts of bins, or of candidate words, beside the truth."""
    people, reports = int(sizes.sum()), ones.shape[1]
    labels = population.question.labels or ()
    known = dict(zip(labels, population.truth.tolist(), strict=True))
    if not plan.hashed:
        found = estimate_remembered(plan, ones[0], people, level=level)
        first = found.by_report[0].tolist()
        rows = _rows(labels, found.counts, found.standard_errors, found.each, found.together, known)
        for row, count in zip(rows, first, strict=True):
            row["first_report"] = count
        return _errors(plan, people, reports, level) | {"method": found.each.method} | _list(rows)
    regression = estimate_words(
        plan, ones.mean(axis=1), sizes, design(plan, words), reports, level=level
    )
    counts, errors = regression.counts, regression.standard_errors
    rows = _rows(words, counts, errors, regression.each, regression.together, known)
    for row, seen in zip(rows, regression.found.tolist(), strict=True):
        row["found"] = seen
    listed = sum(known.get(word, 0) for word in words)
    return {
        **_errors(plan, people, reports, level),
        "method": regression.method,
        "misfit": regression.misfit,
        "misfit_counted": regression.misfit_counted,
        "unlisted": regression.unlisted[0],
        "unlisted_standard_error": regression.unlisted[1],
        "unlisted_truth": people - listed,
        **_list(rows),
    }


def _errors(plan: TwoLevel, people: int, reports: int, level: float) -> Facts:
    return {
        "users": people,
        "confidence_level": level,
        "bit_error_one_report": empty_error(plan, people, 1),
        "bit_error_all_reports": empty_error(plan, people, reports),
        "bit_error_floor": empty_error(plan, people, math.inf),
    }


def _list(rows: list[Facts]) -> Facts:
    told = [row for row in rows if row["standard_error"] is not None]
    held = [row["lower"] <= row["truth"] <= row["upper"] for row in told]
    square = sum((row["estimate"] - row["truth"]) ** 2 for row in rows)
    return {
        "measured_error": math.sqrt(square / len(rows)),
        "covered": sum(held) / len(held),
        "estimates": rows,
    }


def _rows(
    labels: Sequence[str],
    counts: NDArray[np.float64],
    errors: NDArray[np.float64],
    each: Intervals,
    together: Intervals,
    known: dict[str, int],
) -> list[Facts]:
    return [
        {
            "label": label,
            "estimate": float(counts[i]),
            "standard_error": None if math.isnan(errors[i]) else float(errors[i]),
            "lower": int(each.lower[i]),
            "upper": int(each.upper[i]),
            "lower_all": int(together.lower[i]),
            "upper_all": int(together.upper[i]),
            "truth": known.get(label, 0),
        }
        for i, label in enumerate(labels)
    ]


def recovered(plan: TwoLevel, reports: int, watched: Recovery) -> Facts:
    """How often an observer who averages guesses a bit wrong: exactly, and measured."""
    exact = recovery(plan, reports)

    def measured(share: float) -> float | None:
        return None if math.isnan(share) else share

    return {
        "recovery": {
            "kept_bit_wrong": exact.kept,
            "true_bit_wrong": exact.true,
            "true_bit_wrong_at_least": plan.f / 2.0,
            "kept_bit_wrong_measured": measured(watched.kept),
            "true_bit_wrong_measured": measured(watched.true),
        }
    }


def json_text(facts: Facts) -> str:
    """All of it as JSON."""
    return json.dumps(facts, indent=1, allow_nan=False) + "\n"


def csv_text(facts: Facts) -> str:
    """The estimates, one line a bin or word, largest first."""
    out = io.StringIO()
    rows = _ranked(facts)
    writer = csv.DictWriter(out, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _ranked(facts: Facts) -> list[Facts]:
    return sorted(facts["estimates"], key=lambda row: -row["estimate"])


def show(facts: Facts, column: str, top: int, written: Sequence[Path]) -> None:
    """Print the estimates and what they cost."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    level = f"{100 * facts['confidence_level']:g} % interval"
    table = Table(title=Text(f"{column}, from memories"), title_justify="left")
    table.add_column(Text(column))
    for heading in ("estimate", level, f"{level}, all", "truth", "error"):
        table.add_column(heading, justify="right")
    for row in _ranked(facts)[:top]:
        if row["standard_error"] is None:
            table.add_row(Text(row["label"]), "not chosen", "", "", f"{row['truth']:,}", "")
            continue
        held = row["lower"] <= row["truth"] <= row["upper"]
        error = f"{row['estimate'] - row['truth']:+,.1f}"
        table.add_row(
            Text(row["label"]),
            f"{row['estimate']:,.1f}",
            f"{row['lower']:,} .. {row['upper']:,}",
            f"{row['lower_all']:,} .. {row['upper_all']:,}",
            f"{row['truth']:,}",
            Text(error, style="" if held else "yellow"),
        )
    console.print(table)
    for line in [*_findings(facts), *_promise(facts), *(f"wrote {path}" for path in written)]:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _findings(facts: Facts) -> list[str]:
    reports, learned = facts["reports"], facts["recovery"]
    lines = [
        f"standard error of an empty bit: {number(facts['bit_error_one_report'])} from one report "
        f"a person, {number(facts['bit_error_all_reports'])} from {reports:,}, "
        f"{number(facts['bit_error_floor'])} from any number",
        f"{100 * facts['covered']:.1f} % of the intervals hold the truth; measured error "
        f"{number(facts['measured_error'])} counts; {facts['method']}",
    ]
    if "unlisted" in facts:
        found = sum(row["found"] for row in facts["estimates"])
        lines.append(
            f"{found:,} of {len(facts['estimates']):,} candidates are significant; others than "
            f"candidates: {facts['unlisted']:,.0f} +- {number(facts['unlisted_standard_error'])} "
            f"(truth {facts['unlisted_truth']:,}); misfit {facts['misfit']:.3g}"
            + (", counted in the errors" if facts["misfit_counted"] else "")
        )
        if facts["method"] == CHOSEN:
            lines.append(
                "the bits cannot tell all candidates apart: the choice is not counted in the "
                "errors, and intervals fall short of their level; use more bits or cohorts"
            )
    lines.append(
        f"who averages the {reports:,} reports of a person gets a kept bit wrong with "
        f"{learned['kept_bit_wrong']:.3f}, a true bit with {learned['true_bit_wrong']:.3f}, never "
        f"below {learned['true_bit_wrong_at_least']:.3f}"
    )
    return lines


def _promise(facts: Facts) -> list[str]:
    lines = [
        f"eps_1 = {at_most(facts['eps_1'], 6)}, eps_T = {at_most(facts['eps_T'], 6)} after "
        f"{facts['reports']:,} reports, eps_inf = {at_most(facts['eps_inf'], 6)} however many; "
        "observer: linked; delta = 0",
    ]
    if facts["memory_file"]:
        lines.append(
            "reports of earlier runs from this memory file count as well: eps_inf holds for all"
        )
    if "epsilon" in facts:
        lines.append(
            f"at epsilon {facts['epsilon']:.6g} after {facts['reports']:,} reports: delta <= "
            f"{at_most(facts['delta'], 6)}, at least {at_least(facts['delta_lower'], 6)}"
        )
    return lines
