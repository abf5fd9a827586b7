"""What is shown of a result: its promise first, then its counts; never a true count."""

import msgspec

from mixtally.model.certificate import Certificate
from mixtally.model.result import Result
from mixtally.report import counts
from mixtally.report.counted import TABLE_BINS, Counted
from mixtally.report.document import Document, Facts, closing
from mixtally.report.promise import of_result
from mixtally.report.sections import promises
from mixtally.report.words import not_promised, promise, seen_by_sums


def sums_facts(sums: Certificate | None) -> Facts:
    """Return what is proved against anyone who sees sums alone, as JSON has it."""
    return {} if sums is None else {"observer_of_sums": msgspec.to_builtins(sums)}


def sums_texts(result: Result, sums: Certificate | None) -> list[str]:
    """Return what is hidden from anyone who sees sums alone, in words."""
    return [] if sums is None else seen_by_sums(result.certificate, sums)


def document(result: Result, title: str, note: str, sums: Certificate | None = None) -> Document:
    """Return the result as a page, JSON and CSV files; ``note`` says where the values came from."""
    shown = Counted(result)
    return Document(
        title=title,
        source=note,
        key=counts.key_figures(result),
        promise=of_result(result),
        sections=lambda: (
            shown.section(shown.table(TABLE_BINS)),
            *shown.figure_sections(),
            *promises(
                [*promise(result.plan, result.certificate), *sums_texts(result, sums)],
                not_promised(result.plan),
            ),
        ),
        summary=lambda: (),
        facts=lambda: {
            "title": title,
            "source": note,
            **counts.facts(result),
            **shown.facts(),
            **sums_facts(sums),
        },
        tables=shown.tables,
        closing=closing(None, result.plan.fingerprint),
    )
