"""What is shown of a result: its promise first, then its counts; never a true count."""

from mixtally.model.result import Result
from mixtally.report import counts
from mixtally.report.counted import TABLE_BINS, Counted
from mixtally.report.document import Document, closing
from mixtally.report.promise import of_result
from mixtally.report.sections import promises
from mixtally.report.words import not_promised, promise


def document(result: Result, title: str, note: str) -> Document:
    """The result as a page, JSON and CSV files; ``note`` says where the values came from."""
    shown = Counted(result)
    return Document(
        title=title,
        source=note,
        key=counts.key_figures(result),
        promise=of_result(result),
        sections=lambda: (
            shown.section(shown.table(TABLE_BINS)),
            *shown.figure_sections(),
            *promises(promise(result.plan, result.certificate), not_promised(result.plan)),
        ),
        summary=lambda: (),
        facts=lambda: {
            "title": title,
            "source": note,
            **counts.facts(result),
            **shown.facts(),
        },
        tables=shown.tables,
        closing=closing(None, result.plan.fingerprint),
    )
