"""What is shown of a result: its promise first, then its counts; never a true count."""

from mixtally.ground.codec import fingerprint
from mixtally.records.result import Result
from mixtally.report import counts
from mixtally.report.counted import TABLE_BINS, Counted
from mixtally.report.document import Bullets, Document, Facts, Section, Text, closing
from mixtally.report.promise import of_result
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
        sections=lambda: _sections(result, shown),
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


def _sections(result: Result, shown: Counted) -> tuple[Section, ...]:
    said = Text(shown.findings(TABLE_BINS), note=True)
    return (
        Section("Counts", (shown.chart(), said, shown.table(TABLE_BINS))),
        *(
            Section(one.title, shown.figures(one, len(one.rows), titled=False))
            for one in result.figures
        ),
        Section("What is promised", tuple(map(Text, promise(result.plan, result.certificate)))),
        Section("What is not promised", (Bullets.of(not_promised(result.plans)),)),
    )
