"""What is shown of a result: its promise first, then its counts; never a true count."""

from mixtally.ground.codec import fingerprint
from mixtally.records.result import Result
from mixtally.report import counts
from mixtally.report.counted import TABLE_BINS, Counted
from mixtally.report.document import Document, Facts, closing
from mixtally.report.promise import of_result
from mixtally.report.sections import promises
from mixtally.report.words import not_promised, promise


def document(result: Result, title: str, plans: Facts, note: str) -> Document:
    """The result as a page, JSON and CSV files.

    where
      plans  what its plans say, flat
      note   where the values came from
    """
    shown = Counted(result)
    return Document(
        title=title,
        source=note,
        key=counts.key_figures(result),
        promise=of_result(result, plans["local_epsilon"]),
        sections=lambda: (
            shown.section(shown.table(TABLE_BINS)),
            *shown.figure_sections(),
            *promises(promise(result.plan, result.certificate), not_promised(result.plans)),
        ),
        summary=lambda: (),
        facts=lambda: {
            "title": title,
            "source": note,
            **counts.facts(result, plans),
            **shown.facts(),
        },
        tables=shown.tables,
        closing=closing(None, fingerprint(result.plan)),
    )
