"""The picture of a vote: every option's share and interval in both versions."""

from collections.abc import Callable

from mixtally.records.result import Vote
from mixtally.report.axes import TOP, WIDTH, Marks, picture, ring, round_numbers, short, ticks
from mixtally.report.document import Picture
from mixtally.report.svg import Markup, el
from mixtally.simulation.election.votes import Election
from mixtally.simulation.election.words import percent

_LEFT, _RIGHT, _ROW = 150, 70, 40
MOST_SHOWN = 30


def shares_chart(election: Election) -> Picture:
    """Bars of shares with intervals: the local version's above the shuffle version's."""
    chosen = election.ranked()[:MOST_SHOWN]
    users = election.users
    shown = [
        votes / users
        for count in election.counts().values()
        for i in chosen
        for votes in (float(count.estimate.each.upper[i]), float(count.estimate.counts[i]))
    ]
    largest = max(0.01, *shown)
    height = TOP + _ROW * len(chosen) + 8

    def at(value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * max(0.0, value) / largest

    parts = [
        el(
            "text",
            "share of the votes, % (upper bar: local, lower bar: shuffle; "
            + (
                "line: interval)" if election.truth is None else "line: interval; ring: true share)"
            ),
            x=_LEFT,
            y=16,
            class_="axis",
        ),
        *ticks(round_numbers(0.0, 100.0 * largest, 6), lambda v: at(v / 100.0), height),
    ]
    for row, i in enumerate(chosen):
        y = TOP + _ROW * row + _ROW / 2
        label = election.question.label(i)
        parts.append(el("text", short(label, 20), x=_LEFT - 8, y=y + 4, class_="label"))
        for which, (name, count) in enumerate(election.counts().items()):
            place = y + (-8.0, 8.0)[which]
            parts.append(_share(election, name, count, i, which, place, at))
        if election.truth is not None:
            parts += ring(at(float(election.truth[i]) / users), y)
    title = "Shares of the votes with their intervals"
    missed = ' missed"' in "".join(parts)
    reading = (
        "Two bars belong to each option: the upper one is its share in the local version, the "
        "lower one in the shuffle version. Where the lines of two options do not overlap, their "
        "order is most likely right."
    )
    drawn = picture(height, title, parts, _seen(election, chosen))
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


def _share(
    election: Election,
    name: str,
    count: Vote,
    i: int,
    which: int,
    y: float,
    at: Callable[[float], float],
) -> Markup:
    """One bar with its interval."""
    users, found = election.users, count.estimate
    share = float(found.counts[i]) / users
    low, high = float(found.each.lower[i]) / users, float(found.each.upper[i]) / users
    missed = ""
    tip = (
        f"{election.question.label(i)}, {name}: {percent(share)}, "
        f"interval {percent(low)} .. {percent(high)}"
    )
    if election.truth is not None:
        truth = float(election.truth[i]) / users
        missed = "" if low <= truth <= high else " missed"
        tip += f", truth {percent(truth)}"
    return el(
        "g",
        el("title", tip),
        el(
            "rect", x=at(0.0), y=y - 5, width=at(share) - at(0.0), height=10, class_=f"share{which}"
        ),
        el("line", x1=at(low), x2=at(high), y1=y, y2=y, class_=f"ends{which}{missed}"),
        el("circle", cx=at(share), cy=y, r=3.2, class_=f"dot{which}"),
    )
