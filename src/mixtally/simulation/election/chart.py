"""The picture of a vote: every option's share and interval in both versions."""

from mixtally.report.axes import Row, Scale, across, bar, dot, legend, ring, rows_pictures, short
from mixtally.report.charts import Bar
from mixtally.report.counted import CHART_BINS
from mixtally.report.document import Picture
from mixtally.simulation.election.rows import share
from mixtally.simulation.election.votes import Election
from mixtally.simulation.election.words import percent


def shares_chart(election: Election) -> Picture:
    """Bars of shares with intervals: the local version's above the shuffle version's."""
    chosen = election.ranked()[:CHART_BINS]
    shown = {
        name: [share(election, count, i) for i in chosen]
        for name, count in election.counts().items()
    }
    every = [one for shares in shown.values() for one in shares]
    scale = Scale(0.0, max(1.0, *(100.0 * v for one in every for v in (one.upper, one.estimate))))
    rows = [
        _share(name, one, which, scale)
        for both in zip(*shown.values(), strict=True)
        for which, (name, one) in enumerate(zip(shown, both, strict=True))
    ]
    title = "Shares of the votes with their intervals"
    drawn, wide = rows_pictures(title, "share of the votes, %", scale, rows, _seen(shown))
    reading = (
        "Each option has two bars: its share in the local and in the shuffle version. Where the "
        "intervals of two options do not overlap, their order is most likely right."
    )
    marks = legend(
        ("share0", "local version: estimate", True),
        ("ends0", "its interval", True),
        ("share1", "shuffle version: estimate", True),
        ("ends1", "its interval", True),
        ("ends1 missed", "interval that misses the true share", not all(one.held for one in every)),
        ("truth", "true share", election.truth is not None),
    )
    return Picture(drawn, title, marks, reading, wide)


def _seen(shown: dict[str, list[Bar]]) -> str:
    """What the chart shows, in words."""
    texts = []
    for name, shares in shown.items():
        told = [
            f"{one.label} {percent(one.estimate)} (interval {percent(one.lower)} to "
            f"{percent(one.upper)})"
            for one in shares
        ]
        texts.append(f"{name}: {', '.join(told)}")
    return f"{'; '.join(texts)}."


def _share(name: str, one: Bar, which: int, scale: Scale) -> Row:
    """One bar with its interval, under the option's name where it is the option's first."""
    ends = f"{percent(one.lower)} .. {percent(one.upper)}"
    tip = f"{one.label}, {name}: {percent(one.estimate)}, interval {ends}"
    marks = [
        bar(scale, 100.0 * one.estimate, f"share{which}"),
        across(scale, 100.0 * one.lower, 100.0 * one.upper, f"ends{which}", held=one.held),
        dot(scale, 100.0 * one.estimate, f"dot{which}"),
    ]
    if one.mark is not None:
        tip += f", truth {percent(one.mark)}"
        marks.append(ring(scale, 100.0 * one.mark))
    clipped = min(max(one.estimate, one.lower), one.upper)
    value = f"{name} {percent(clipped, 1)} ({percent(one.lower, 1)} .. {percent(one.upper, 1)})"
    return Row("" if which else short(one.label, 12), value.replace(" %", "%"), marks, tip)
