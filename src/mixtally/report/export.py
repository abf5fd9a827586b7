"""The result as CSV and as JSON, all digits kept."""

from dataclasses import asdict, fields
from typing import Any

import msgspec

from mixtally.ground.codec import fingerprint
from mixtally.records.results import Figure, Figures
from mixtally.report import texts
from mixtally.report.study import Release, Study


def rows(study: Study, release: Release) -> list[dict[str, Any]]:
    """One flat object a bin, in the order of the bins."""
    question, found = release.question, release.estimate
    out = []
    for i, count in enumerate(found.counts.tolist()):
        row = {
            "bin": i,
            "label": question.label(i),
            "estimate": count,
            "standard_error": found.error_of(i),
            "lower": int(found.each.lower[i]),
            "upper": int(found.each.upper[i]),
            "lower_all_bins": int(found.together.lower[i]),
            "upper_all_bins": int(found.together.upper[i]),
            "above_zero": bool(found.together.lower[i] > 0),
        }
        if found.projected is not None:
            row["simplex"] = float(found.projected[i])
        if study.truth is not None:
            row["truth"] = int(study.truth[i])
        out.append(row)
    return out


def csv_text(study: Study) -> str:
    """The main release, one line a bin, largest estimate first."""
    table = rows(study, study.main)
    return texts.csv_text(table[i] for i in study.ranked())


def figures_csv(figures: Figures) -> str:
    """Numbers derived from the same messages, a line each; what is not known is left empty."""
    return texts.csv_text(map(asdict, figures.rows), [field.name for field in fields(Figure)])


def facts(study: Study) -> dict[str, Any]:
    """The whole study as one JSON object."""
    return {
        "title": study.title,
        "source": study.source,
        "seed": study.seed,
        "reason": study.reason,
        "central_standard_error": study.central_error,
        "local_standard_error": study.local_error,
        "central": [line.facts() for line in study.central.lines],
        "central_note": study.central.note,
        "releases": [_release(study, release) for release in study.releases],
    }


def _release(study: Study, release: Release) -> dict[str, Any]:
    found = release.estimate
    return {
        **release.facts(),
        "fingerprint": fingerprint(release.plan),
        "messages": release.messages,
        "confidence_level": found.each.level,
        "interval_method": found.each.method,
        "measured_error": study.measured_error(release),
        "covered": study.covered(release),
        "estimates": rows(study, release),
        **_more(release),
    }


def _more(release: Release) -> dict[str, Any]:
    """What not every release has: further plans, figures, another observer."""
    more: dict[str, Any] = {f.name: [asdict(row) for row in f.rows] for f in release.figures}
    if release.rest:
        more["fingerprints"] = [fingerprint(plan) for plan in release.plans]
    if release.sums is not None:
        more["observer_of_sums"] = msgspec.to_builtins(release.sums)
    return more


def json_text(study: Study) -> str:
    """The whole study as JSON."""
    return texts.json_text(facts(study))
