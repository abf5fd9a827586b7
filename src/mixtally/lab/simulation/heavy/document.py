"""Document of a search for words.

``app.words`` calls `document`. All numbers shown are also in ``WordFindings.facts``.
"""

from operator import itemgetter

from mixtally.lab.simulation.heavy.facts import WordFindings, promise_lines
from mixtally.report.charts import bars_of, intervals_chart
from mixtally.report.counts_view import CHART_BINS, TABLE_BINS
from mixtally.report.document import Document, Facts, Part, Rows, Section, Table, Text, columns
from mixtally.report.numbers import at_most, error_text, interval_text, percent, round_to_error
from mixtally.report.sections import plan_facts, promise_sections
from mixtally.report.words import likelihood_text, without_mixes

_PREFIXES = 12
"""Number of surviving prefixes that a table row lists."""
_PLAN = (
    "protocol", "users", "rounds_planned", "rounds_played", "bins", "alphabet", "error_rate",
    "noise_of_a_round", "messages_per_user", "observer", "way", "keep", "bytes_per_user",
)  # fmt: skip
_NOT_PROMISED = (
    "Words of one person, or of a few, never appear: the threshold hides the long tail.",
    "The prefixes that survive a round are published, also those that end in no frequent word.",
    "That someone took part is not hidden, only which word they hold.",
    "A crowd that colludes can push any prefix past the threshold: every message is a vote.",
    "Another search, or another question to the same people, spends epsilon and delta again.",
)


def document(findings: WordFindings) -> Document:
    """Return the document of a simulation, or of a publishable result if the truth is missing."""
    facts, every = findings.facts, findings.words[:TABLE_BINS]
    title = f"The {len(every):,} most frequent of {facts['words_found']:,} words found"
    return findings.document(
        promise=promise_lines(findings.result),
        key=_key_figures(findings),
        sections=lambda: (
            Section("Words found", (_chart(findings), Text(_findings(findings), note=True))),
            *(
                [_missed_section(findings)]
                if findings.is_simulated and findings.missed_words
                else []
            ),
            Section("Round by round", (_rounds_table(facts), Text(_ROUNDS, note=True))),
            Section(
                "The search",
                (
                    Text(findings.provenance.reason),
                    *plan_facts({k: facts[k] for k in _PLAN}, read=_PLAN[:10]),
                ),
            ),
            *promise_sections(
                _promise_texts(facts), [without_mixes(facts["local_epsilon"]), *_NOT_PROMISED]
            ),
            Section("All words", (_words_table(findings, every, title, folded=True),)),
        ),
        summary=lambda: (_words_table(findings, findings.words, findings.provenance.title),),
        prose=_prose(findings),
        facts=lambda: findings.facts,
        tables=lambda: {"words.csv": Rows(findings.words, tuple(findings.columns))},
        origin=(facts["fingerprint"], "plan of every round"),
    )


_ROUNDS = (
    "In every round each person reports which extension of the surviving prefixes their word "
    "starts with. What reaches the threshold survives, or ends as a word; where there was no room "
    "for all of them the largest went on."
)


_NONE = (
    "No word is held by enough people to pass the threshold of every round. More people, a larger "
    "epsilon or fewer rounds lower it; a list of words needs no rounds "
    "(`mixtally simulate --candidates FILE`)."
)


def _prose(findings: WordFindings) -> tuple[str, ...]:
    """Return the sections that a terminal shows below the words."""
    facts, scored = findings.facts, ""
    if findings.is_simulated:
        top, quality = facts["top"], findings.score
        scored = (
            f" Of the true first {top:,}, {100 * quality.recall:.0f} % are among the first "
            f"{top:,} found; {quality.false_positives} of all found are held by nobody."
        )
    return (
        f"{facts['words_found']:,} words found in {facts['rounds_played']} rounds.{scored}",
        f"{facts['protocol']}, {facts['messages_per_user']:.3g} messages and "
        f"{facts['bytes_per_user']:,.0f} bytes a person in all. {findings.provenance.reason}",
        *facts["promised"],
    )


def _key_figures(findings: WordFindings) -> tuple[tuple[str, str], ...]:
    facts = findings.facts
    return (
        ("people", f"{facts['users']:,}"),
        ("words found", f"{facts['words_found']:,}"),
        *[
            (name, f"{100 * facts[key]:.0f} %")
            for key, name in (
                ("recall", f"recall of the first {facts['top']:,}"),
                ("precision", "precision"),
            )
            if findings.is_simulated
        ],
        ("epsilon, all rounds", at_most(facts["epsilon"])),
        ("delta at most", at_most(facts["delta"])),
    )


def _chart(findings: WordFindings) -> Part:
    keys = ("count", "lower_simultaneous", "upper_simultaneous")
    bars = bars_of(findings.words[:CHART_BINS], itemgetter("word"), keys)
    if not bars:
        return Text(f"No word was held by enough people. {_NONE}")
    return intervals_chart(bars, "most frequent words")


def _findings(findings: WordFindings) -> str:
    facts = findings.facts
    level = percent(1 - facts["error_rate"])
    text = f"Intervals hold for all bins of all rounds at once, at {level}."
    if not findings.is_simulated:
        return text
    covered, every = findings.coverage()
    if every:
        text += f" {covered:,} of the {every:,} shown cover the true count."
    return (
        f"Of the true first {facts['top']:,} words {100 * findings.score.recall:.0f} % are among "
        f"the first {facts['top']:,} found; {findings.score.false_positives:,} of all "
        f"{facts['words_found']:,} found are held by nobody. {text}"
    )


def _missed_section(findings: WordFindings) -> Section:
    facts = findings.facts
    missed = columns(
        findings.missed_words[:CHART_BINS],
        ("missed", lambda row: row["word"]),
        ("people", lambda row: f"{row['truth']:,}"),
    )
    why = (
        f"Words among the true first {facts['top']:,} that are not among the first "
        f"{facts['top']:,} found: too rare for the threshold, too long for the rounds, crowded "
        "out, or as frequent as others that are."
    )
    return Section("Words missed", (Table(*missed), Text(why, note=True)))


def _rounds_table(facts: Facts) -> Table:
    head = ("round", "prefixes asked", "people", "messages", "threshold", "words ended")
    rows = []
    for place, one in enumerate(facts["rounds"], start=1):
        numbers = [place, len(one["asked"]), one["people"], one["messages"], one["threshold"]]
        cells = [f"{value:,}" for value in [*numbers, len(one["ended"])]]
        rows.append([*cells, _shorten_list(one["survivors"]), f"{one['crowded']:,}"])
    survive = "prefixes that survive"
    return Table((*head, survive, "no room for"), rows, words=frozenset({survive}))


def _shorten_list(prefixes: list[str]) -> str:
    more = f" and {len(prefixes) - _PREFIXES:,} more" if len(prefixes) > _PREFIXES else ""
    return " ".join(prefixes[:_PREFIXES]) + more if prefixes else "none"


def _promise_texts(facts: Facts) -> list[str]:
    return [
        "What an observer who sees every shuffled message of all rounds, and knows all other "
        "words, concludes about a person is "
        f"{likelihood_text(facts['epsilon'], facts['delta'], 'word')}.",
        *facts["promised"],
    ]


def _words_table(
    findings: WordFindings, shown: list[Facts], title: str, *, folded: bool = False
) -> Table | Text:
    if not shown:
        return Text(f"{title}: none was found. {_NONE}")
    level = f"{percent(1 - findings.facts['error_rate'])} interval, all bins"
    table = columns(
        shown,
        (findings.facts["column"], lambda row: row["word"]),
        ("estimate", lambda row: round_to_error(row["count"], row["standard_error"])),
        ("standard error", lambda row: error_text(row["standard_error"])),
        (level, lambda row: interval_text(row["lower_simultaneous"], row["upper_simultaneous"])),
        *[("true count", lambda row: f"{row['truth']:,}")] * findings.is_simulated,
        ("round", lambda row: f"{row['round']:,}"),
    )
    return Table(*table, title=title, folded=folded)
