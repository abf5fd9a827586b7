"""Reproduction of every number, table, figure and claim of the founding documents.

``python -m literature`` and ``make literature`` call ``reproduce``. The formulas of the documents
are in ``mixtally.lab.formulas``. Each module here compares the statements of one document with
exact distributions.
"""

from dataclasses import dataclass
from typing import Any

from literature import maximal, notes, repeats, sufficient, verdicts, voting
from literature.finding import Finding, Steps, VerdictRow
from mixtally.errors import ParameterError
from mixtally.primitives.progress import Progress, ignore_progress
from mixtally.report.curves import Chart

DOCUMENTS: dict[str, str] = {
    "000": "Zhilyaev, Zeber: Sufficient Differential Privacy (2017)",
    "001": "Zhilyaev, Zeber: K-Randomization (2016)",
    "002": "Side Notes on Differential Privacy",
    "003": "Zhilyaev, Zeber: K-Randomization (2015)",
    "004": "Zhilyaev: Notes (2020)",
}
"""The documents by their numbers."""
_MODULES = {"000": sufficient, "001": maximal, "002": voting, "003": repeats, "004": notes}
_TOLD_TOGETHER = {"003": ("001", "003")}
"""Documents that are shown with others: 003 is the first draft of what 001 proves."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The findings of the requested documents, with verdicts and charts."""

    findings: tuple[Finding, ...]
    rows: tuple[VerdictRow, ...]
    charts: tuple[Chart, ...]

    def facts(self) -> dict[str, Any]:
        """Return the results as a JSON object."""
        words = [one.word for one in self.findings]
        return {
            "documents": {d: DOCUMENTS[d] for d in sorted({f.document for f in self.findings})},
            "words": {word: words.count(word) for word in sorted(set(words))},
            "findings": [one.facts() for one in self.findings],
            "verdicts": [row.facts() for row in self.rows],
        }


def reproduce(document: str | None, progress: Progress = ignore_progress) -> Reproduction:
    """Compute all findings of one document, or of all; 003 includes 001.

    Raises
    ------
    ParameterError
        If there is no such document.
    """
    if document is not None and document not in _MODULES:
        raise ParameterError(
            "document",
            expected="one of " + ", ".join(_MODULES),
            got=repr(document),
            do="leave it out for all of them",
        )
    chosen = tuple(_MODULES) if document is None else _TOLD_TOGETHER.get(document, (document,))
    findings: list[Finding] = []
    charts: list[Chart] = []
    for name in chosen:
        findings += _MODULES[name].findings(_steps(progress, name))
        charts += _MODULES[name].charts()
        progress(name, 1, 1)
    rows = verdicts.audit_documents(chosen, _steps(progress, "audit"))
    rows += [*verdicts.decide_claims(findings), *verdicts.count_printed_numbers(findings)]
    rows.sort(key=lambda row: row.document)
    return Reproduction(tuple(findings), tuple(rows), tuple(charts))


def _steps(progress: Progress, name: str) -> Steps:
    def show(done: int, total: int) -> None:
        progress(name, done, total)

    return show


__all__ = ["DOCUMENTS", "Reproduction", "reproduce"]
