"""The verdict table: audits of formulas, decided claims and counted printed numbers.

The numbers of a row come from the audit's exact distributions or from the findings.
"""

import math
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TypeVar

from literature.finding import DIFFERS, FALSE, REPRODUCES, Finding, Steps, VerdictRow
from mixtally.lab.formulas.audit import HOLDS, Case, FormulaAudit, ObserverAudit, audit_formula
from mixtally.lab.formulas.catalogue import formula_named
from mixtally.report.numbers import number

TWO = math.log(2.0)
_Key = TypeVar("_Key")

_TABLES = [Case(e, users=n, bits=5) for e in (TWO, 2.0) for n in (1000, 3000, 5000)]
_PROMISES = ((1.0, 1e-6), (1.0, 1e-9), (0.5, 1e-6), (2.0, 1e-6), (0.1, 1e-6))

CASES: tuple[tuple[str, str, str, list[Case]], ...] = (
    ("000", "(4.2)", "sufficient-4.2", [Case(TWO, bits=5), Case(2.0, bits=40)]),
    ("000", "(3.12)", "sufficient-3.12", [*_TABLES, Case(1.0, users=10**6, bits=5)]),
    ("000", "section 5", "sufficient-5", [Case(2.0, users=10**3), Case(2.0, users=10**6)]),
    ("002", "section 5", "voting", [Case(e) for e in (0.5, 1.0, 2.0)]),
    (
        "003",
        "(4.45)",
        "repeats-4.45",
        [Case(TWO, users=1000), Case(1.0, users=10**6), Case(2.0, users=10**6)],
    ),
    ("003", "(5.24)", "repeats-5.24", [Case(1.0, users=10**5, repeats=k) for k in (2, 5, 10)]),
    ("004", "(4.48)", "notes-4.48", [Case(*promise, users=10**6) for promise in _PROMISES]),
    ("004", "(5.10)", "notes-5.10", [Case(*promise, bins=100) for promise in _PROMISES]),
    (
        "004",
        "(5.12), (5.16)",
        "notes-5.16",
        [Case(1.0, users=10**4), *(Case(e, users=10**5) for e in (0.5, 1.0, 2.0))],
    ),
    ("004", "(5.26)", "notes-5.26", [Case(*promise, fakes=10**7) for promise in _PROMISES]),
    ("004", "published", "cheu-zhilyaev", [Case(1.0, fakes=10**6)]),
)
"""Every audited formula: the document, the place, the formula's name, and the audited cases."""


def audit_documents(documents: Iterable[str], progress: Steps) -> list[VerdictRow]:
    """Return a row for every formula of ``documents`` and every observer."""
    expected = [entry for entry in CASES if entry[0] in set(documents)]
    total, done, rows = sum(len(cases) for *_, cases in expected), 0, []
    for document, place, name, cases in expected:
        verdicts = []
        for case in cases:
            verdicts.append(audit_formula(formula_named(name), case))
            done += 1
            progress(done, total)
        rows += [
            _formula_row(document, place, verdicts, seen.observer)
            for seen in verdicts[0].observer_audits
        ]
    return rows


def _formula_row(
    document: str, place: str, verdicts: list[FormulaAudit], observer: str
) -> VerdictRow:
    seen = [verdict.by_observer(observer) for verdict in verdicts]
    formula = verdicts[0].formula
    words = [one.verdict for one in seen]
    required = _range(v.noise for v in verdicts)
    epsilons = _range(v.epsilon for v in verdicts)
    deltas = _range(v.delta for v in verdicts)
    return VerdictRow(
        document=document,
        place=place,
        promise=f"{formula.name}, {formula.protocol}: {formula.computes} {required} for epsilon "
        f"{epsilons}, delta {deltas}; observer: {observer}",
        truth=f"delta {_range(end for one in seen for end in one.exact)}",
        factor=_factor(seen),
        word=FALSE if FALSE in words else words[0] if len(set(words)) == 1 else "undecided",
    )


def _factor(seen: list[ObserverAudit]) -> str:
    parts = []
    much = [one.noise_factor for one in seen if one.noise_factor is not None]
    error = [one.error_factor for one in seen if one.error_factor is not None]
    short = [one.privacy_factor for one in seen if one.privacy_factor is not None]
    if much:
        parts.append(f"{_range(much)} times the noise needed")
    if error:
        parts.append(f"error {_range(error)} times as large")
    if short:
        parts.append(f"{_range(short)} times the promise")
    return "; ".join(parts)


def _range(values: Iterable[float]) -> str:
    found = list(values)
    low, high = number(min(found)), number(max(found))
    return low if low == high else f"{low} to {high}"


def decide_claims(findings: list[Finding]) -> list[VerdictRow]:
    """Return a row for every claim; cases of one claim with equal verdicts share a row."""

    def key(one: Finding) -> tuple[str, str, str, str]:
        return one.document, one.place, one.subject, one.word

    claims = [one for one in findings if one.holds is not None]
    rows = []
    for (document, place, subject, word), group in _group_by_key(claims, key):
        values = ", ".join(" ".join((g.computed_text(), g.unit)).strip() for g in group)
        labels = {one.what.rpartition(": ")[2] for one in group if ": " in one.what}
        label = f"{labels.pop()}: " if len(labels) == 1 else ""
        rows.append(
            VerdictRow(
                document,
                place,
                subject,
                f"{label}{values}",
                group[0].note if len(group) == 1 else "",
                _claim_word(word),
            )
        )
    return rows


def _claim_word(word: str) -> str:
    return HOLDS if word == REPRODUCES else word


def count_printed_numbers(findings: list[Finding]) -> list[VerdictRow]:
    """Return a row for each printed number that differs, and one per document for the others."""
    printed = [one for one in findings if one.printed is not None and one.holds is None]
    rows = []
    for document, group in _group_by_key(printed, lambda one: one.document):
        good = [one for one in group if one.word == REPRODUCES]
        bad = [one for one in group if one.word == DIFFERS]
        if good:
            places = ", ".join(dict.fromkeys(one.place for one in good))
            rows.append(
                VerdictRow(
                    document,
                    places,
                    f"{len(group)} printed numbers",
                    f"{len(good)} of them follow",
                    "",
                    REPRODUCES,
                )
            )
        rows += [
            VerdictRow(
                document,
                one.place,
                f"{one.what}: {one.printed} {one.unit}".strip(),
                f"{one.computed_text()} {one.unit}".strip(),
                one.note,
                DIFFERS,
            )
            for one in bad
        ]
    return rows


def _group_by_key(
    items: list[Finding], key: Callable[[Finding], _Key]
) -> list[tuple[_Key, list[Finding]]]:
    """Return groups in the order of their first members."""
    order = list(dict.fromkeys(map(key, items)))
    ranked = sorted(items, key=lambda one: order.index(key(one)))
    return [(k, list(group)) for k, group in groupby(ranked, key)]
