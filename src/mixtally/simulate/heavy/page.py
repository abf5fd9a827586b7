"""A search as one HTML file that opens offline; all of it is in the facts."""

import math

from mixtally.report.charts import Row, rows_chart
from mixtally.report.parts import (
    document,
    facts_table,
    figures_list,
    folded,
    footer,
    note,
    paragraphs,
    plain_list,
    rows_table,
    section,
)
from mixtally.report.svg import Markup, el
from mixtally.report.words import at_most, number
from mixtally.simulate.heavy.export import Facts

_CHART_WORDS = 30
_TABLE_WORDS = 1000
_PREFIXES = 12
_PLAN = (
    "way", "protocol", "users", "rounds_planned", "rounds_played", "bins", "keep", "alphabet",
    "error_rate", "noise_of_a_round", "messages_per_user", "bytes_per_user", "observer",
)  # fmt: skip
_NOT_PROMISED = (
    "Words of one person, or of a few, never appear: the threshold hides the long tail.",
    "The prefixes that survive a round are published, also those that end in no frequent word.",
    "That someone took part is not hidden, only which word they hold.",
    "A crowd that colludes can push any prefix past the threshold: every message is a vote.",
    "Another search, or another question to the same people, spends epsilon and delta again.",
)


def page(facts: Facts) -> str:
    """The report as HTML text."""
    return document(
        facts["title"],
        facts["source"],
        _key_figures(facts),
        section("Words found", _found(facts), note(_findings(facts))),
        *([_missed(facts)] if facts["missed"] else []),
        section("Round by round", _rounds(facts), note(_ROUNDS)),
        section("The search", el("p", facts["reason"]), facts_table({k: facts[k] for k in _PLAN})),
        section("What is promised", *paragraphs(_promised(facts))),
        section("What is not promised", plain_list([_without_mixes(facts), *_NOT_PROMISED])),
        section("All words", _all(facts)),
        footer(facts["seed"], facts["fingerprint"], "plan of every round"),
    )


_ROUNDS = (
    "In every round each person reports which extension of the surviving prefixes their word "
    "starts with. What reaches the threshold survives, or ends as a word; where there was no room "
    "for all of them the largest went on."
)


def _key_figures(facts: Facts) -> Markup:
    figures = [
        ("people", f"{facts['users']:,}"),
        ("words found", f"{facts['words_found']:,}"),
        (f"recall of the first {facts['top']:,}", f"{100 * facts['recall']:.0f} %"),
        ("precision", f"{100 * facts['precision']:.0f} %"),
        ("epsilon, all rounds", at_most(facts["epsilon"])),
        ("delta at most", at_most(facts["delta"])),
    ]
    return figures_list(figures)


def _found(facts: Facts) -> Markup:
    rows = [
        Row(row["word"], row["count"], row["lower"], row["upper"], row["truth"])
        for row in facts["words"][:_CHART_WORDS]
    ]
    if not rows:
        return el("p", "No word was held by enough people.")
    return rows_chart(rows, f"The {len(rows):,} most frequent words with their intervals")


def _findings(facts: Facts) -> str:
    level = 100 * (1 - facts["error_rate"])
    text = (
        f"Of the true first {facts['top']:,} words {100 * facts['recall']:.0f} % are among the "
        f"first {facts['top']:,} found; {facts['ghosts']:,} of all {facts['words_found']:,} found "
        f"are held by nobody. Intervals hold for all bins of all rounds at once, at {level:g} %."
    )
    if facts["covered"] is not None:
        text += f" {100 * facts['covered']:.1f} % of those shown hold the truth."
    return text


def _missed(facts: Facts) -> Markup:
    rows = [[row["word"], f"{row['truth']:,}"] for row in facts["missed"]]
    why = (
        f"Words among the true first {facts['top']:,} that are not among the first "
        f"{facts['top']:,} found: too rare for the threshold, too long for the rounds, crowded "
        "out, or as frequent as others that are."
    )
    table = rows_table(["missed", "people"], rows[:_CHART_WORDS])
    return section("Words missed", table, note(why))


def _rounds(facts: Facts) -> Markup:
    head = ["round", "prefixes asked", "people", "messages", "threshold", "words ended"]
    head += ["prefixes that survive", "no room for"]
    rows = []
    for place, one in enumerate(facts["rounds"], start=1):
        numbers = [place, len(one["asked"]), one["people"], one["messages"], one["threshold"]]
        cells = [f"{value:,}" for value in [*numbers, len(one["ended"])]]
        rows.append([*cells, _some(one["survivors"]), f"{one['crowded']:,}"])
    return rows_table(head, rows)


def _some(prefixes: list[str]) -> str:
    more = f" and {len(prefixes) - _PREFIXES:,} more" if len(prefixes) > _PREFIXES else ""
    return " ".join(prefixes[:_PREFIXES]) + more if prefixes else "none"


def _promised(facts: Facts) -> list[str]:
    return [
        "Take any person and any two words they could hold. Whatever is seen in all rounds by "
        "someone who receives every shuffled message, and who may know everybody else's word, is "
        f"at most {at_most(math.exp(facts['epsilon']))} times as likely under one word as under "
        f"the other, give or take a probability of {at_most(facts['delta'])}.",
        *facts["promise"],
    ]


def _without_mixes(facts: Facts) -> str:
    if facts["local_epsilon"] is None:
        return "If every mix colludes with the collector nothing is left: words travel in clear."
    return (
        "If every mix colludes with the collector only the local guarantee is left: epsilon = "
        f"{at_most(facts['local_epsilon'])} for all rounds."
    )


def _all(facts: Facts) -> Markup:
    shown = facts["words"][:_TABLE_WORDS]
    head = [facts["column"], "estimate", "standard error", "interval, all bins", "truth", "round"]
    rows = [
        [
            row["word"],
            f"{row['count']:,.1f}",
            number(row["standard_error"]),
            f"{row['lower']:,} .. {row['upper']:,}",
            f"{row['truth']:,}",
            f"{row['round']:,}",
        ]
        for row in shown
    ]
    title = f"The {len(shown):,} most frequent of {facts['words_found']:,} words found"
    return folded(title, rows_table(head, rows))
