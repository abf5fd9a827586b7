"""The picture of a vote: every option's share and interval in both versions."""

from mixtally.records.result import Vote
from mixtally.report.axes import Marks, Row, Scale, across, bar, dot, ring, rows_picture, short
from mixtally.report.document import Picture
from mixtally.simulation.election.votes import Election
from mixtally.simulation.election.words import percent

MOST_SHOWN = 30


def shares_chart(election: Election) -> Picture:
    """Bars of shares with intervals: the local version's above the shuffle version's."""
    chosen = election.ranked()[:MOST_SHOWN]
    shown = [
        100.0 * votes / election.users
        for count in election.counts().values()
        for i in chosen
        for votes in (float(count.estimate.each.upper[i]), float(count.estimate.counts[i]))
    ]
    scale = Scale(0.0, max(1.0, *shown))
    rows = [
        _share(election, name, count, i, which, scale)
        for i in chosen
        for which, (name, count) in enumerate(election.counts().items())
    ]
    title = "Shares of the votes with their intervals"
    drawn = rows_picture(title, "share of the votes, %", scale, rows, _seen(election, chosen))
    reading = (
        "Each option has two bars: its share in the local and in the shuffle version. Where the "
        "intervals of two options do not overlap, their order is most likely right."
    )
    missed = ' missed"' in drawn
    return Picture(drawn, title, _marks(election, missed=missed), reading)


def _marks(election: Election, *, missed: bool) -> Marks:
    known = election.truth is not None
    return (
        ("share0", "local version: estimate"),
        ("ends0", "its interval"),
        ("share1", "shuffle version: estimate"),
        ("ends1", "its interval"),
        *([("ends1 missed", "interval that misses the true share")] if missed else []),
        *([("truth", "true share")] if known else []),
    )


def _seen(election: Election, chosen: list[int]) -> str:
    """What the chart shows, in words."""
    texts = []
    for name, count in election.counts().items():
        found, users = count.estimate, election.users
        shares = [
            f"{election.question.label(i)} {percent(float(found.counts[i]) / users)} (interval "
            f"{percent(float(found.each.lower[i]) / users)} to "
            f"{percent(float(found.each.upper[i]) / users)})"
            for i in chosen
        ]
        texts.append(f"{name}: {', '.join(shares)}")
    return f"{'; '.join(texts)}."


def _share(election: Election, name: str, count: Vote, i: int, which: int, scale: Scale) -> Row:
    """One bar with its interval, under the option's name where it is the option's first."""
    users, found, label = election.users, count.estimate, election.question.label(i)
    share = float(found.counts[i]) / users
    low, high = float(found.each.lower[i]) / users, float(found.each.upper[i]) / users
    missed = ""
    tip = f"{label}, {name}: {percent(share)}, interval {percent(low)} .. {percent(high)}"
    truth = None if election.truth is None else float(election.truth[i]) / users
    if truth is not None:
        missed = "" if low <= truth <= high else " missed"
        tip += f", truth {percent(truth)}"
    marks = [
        bar(scale, 100.0 * share, f"share{which}"),
        across(scale, 100.0 * low, 100.0 * high, f"ends{which}{missed}"),
        dot(scale, 100.0 * share, f"dot{which}"),
        *([] if truth is None else [ring(scale, 100.0 * truth)]),
    ]
    clipped = min(max(share, low), high)
    value = f"{name} {percent(clipped, 1)} ({percent(low, 1)} .. {percent(high, 1)})"
    return Row("" if which else short(label, 12), value.replace(" %", "%"), marks, tip)
