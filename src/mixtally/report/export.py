"""The result as CSV and as JSON, all digits kept."""

import csv
import io
import json
from typing import Any

from mixtally.ground.codec import fingerprint
from mixtally.protocols.facts import plan_facts
from mixtally.report.study import Release, Study


def rows(study: Study, release: Release) -> list[dict[str, Any]]:
    """One flat object a bin, in the order of the bins."""
    question, found = release.plan.question, release.estimate
    out = []
    for i, count in enumerate(found.counts.tolist()):
        row = {
            "bin": i,
            "label": question.label(i),
            "estimate": count,
            "standard_error": found.standard_error,
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
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(table[0]))  # RFC 4180 line ends, so \r is quoted
    writer.writeheader()
    writer.writerows(table[i] for i in study.ranked())
    return out.getvalue()


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
        **plan_facts(release.plan, release.protocol),
        "fingerprint": fingerprint(release.plan),
        "messages": release.messages,
        "confidence_level": found.each.level,
        "interval_method": found.each.method,
        "measured_error": study.measured_error(release),
        "covered": study.covered(release),
        "estimates": rows(study, release),
    }


def json_text(study: Study) -> str:
    """The whole study as JSON."""
    return json.dumps(facts(study), indent=1, allow_nan=False) + "\n"
