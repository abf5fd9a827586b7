"""What is shown of a result: its promise first, then its counts; never a true count."""

from mixtally.ground.codec import fingerprint
from mixtally.records.result import Findings, Result
from mixtally.report import counts
from mixtally.report.document import Bullets, Document, Facts, Part, Rows, Section, Text, closing
from mixtally.report.promise import of_result
from mixtally.report.words import not_promised, promise


def document(result: Result, title: str, plans: Facts, note: str) -> Document:
    """The result as a page, JSON and CSV files.

    where
      plans  what its plans say, flat
      note   where the values came from
    """
    return Document(
        title=title,
        source=note,
        key=counts.key_figures(result),
        promise=of_result(result, plans["local_epsilon"]),
        sections=lambda: _sections(result),
        summary=lambda: (),
        facts=lambda: _facts(result, title, note, plans),
        tables=lambda: tables(result),
        closing=closing(None, fingerprint(result.plan)),
    )


def tables(result: Findings) -> dict[str, Rows]:
    """Every count, and every number derived beside them."""
    return {
        "estimates.csv": counts.as_csv(counts.count_rows(result, {})),
        **{f"{one.name}.csv": counts.as_csv(counts.figure_rows(one, {})) for one in result.figures},
    }


def _sections(result: Result) -> tuple[Section, ...]:
    bins, level = list(range(result.question.bins)), result.estimate.each.level
    table = counts.counts_table(result, bins, {}, title=result.question.name)
    parts: list[Part] = [table, Text(counts.findings(result), note=True)]
    return (
        Section("Counts", tuple(parts)),
        *(
            Section(
                one.title,
                (
                    counts.figures_table(one, level, len(one.rows), {}, titled=False),
                    Text(one.note, note=True),
                ),
            )
            for one in result.figures
        ),
        Section("What is promised", tuple(map(Text, promise(result.plan, result.certificate)))),
        Section("What is not promised", (Bullets.of(not_promised(result.plans)),)),
    )


def _facts(result: Result, title: str, note: str, plans: Facts) -> Facts:
    return {
        "title": title,
        "source": note,
        **counts.facts(result, plans),
        "estimates": counts.count_rows(result, {}),
        **{one.name: counts.figure_rows(one, {}) for one in result.figures},
    }
