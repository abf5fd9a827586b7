"""The most frequent words of a crowd, without a list of them."""

from dataclasses import dataclass
from typing import Annotated

from mixtally.app.options import MixFakes, option, whole_option
from mixtally.app.outcome import Outcome, Run
from mixtally.data.population import Population
from mixtally.encode.spelling import LETTERS, Spelling
from mixtally.errors import ParameterError, in_range
from mixtally.records.guarantee import Guarantee
from mixtally.simulation.heavy import Search, Way, design, find_words
from mixtally.simulation.heavy.document import document
from mixtally.simulation.heavy.facts import facts, lines, published
from mixtally.simulation.heavy.search import MOST_ROUNDS, MOST_SYMBOLS

_CHEAP_BINS = 1_000_000
"""Of a round, whose counts take about a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Which words are looked for, and at what cost."""

    top: Annotated[int, whole_option("--top", "How many words are wanted.")] = 50
    longest: Annotated[int, whole_option("--longest", "Most characters of a word, 1 to 64.")] = 10
    symbols: Annotated[
        int | None,
        whole_option(
            "--symbols",
            "Characters by which prefixes grow a round (default: as many as are few bins).",
        ),
    ] = None
    survivors: Annotated[
        int | None,
        whole_option("--survivors", "Prefixes that survive a round at most (default 3 x top)."),
    ] = None
    alphabet: Annotated[
        str | None,
        option(
            "--alphabet",
            "Characters that count as one; others count as several (default a-z 0-9 ').",
            "CHARACTERS",
        ),
    ] = None
    way: Annotated[
        str | None,
        option(
            "--way",
            "together: everybody in all rounds; apart: everybody in one; else by error.",
            "WAY",
        ),
    ] = None
    error_rate: Annotated[
        float,
        option("--error-rate", "Chance that any word nobody holds is published, at most 0.5.", "R"),
    ] = 0.05
    messages_per_user: Annotated[
        float, option("--messages-per-user", "Most messages a person sends in one round.", "M")
    ] = 4.0
    mix_fakes: MixFakes = False

    def symbols_of(self, spelling: Spelling) -> int:
        """How many symbols a round asks for: fewer rounds cost less, and bins of mixes are dear."""
        in_range("longest", self.longest, 1, MOST_ROUNDS, "it is the most characters of a word")
        if self.symbols is not None:
            in_range("symbols", self.symbols, 1, MOST_SYMBOLS, "two or three do")
            return self.symbols
        if self.mix_fakes:
            return 1
        kept = 3 * self.top if self.survivors is None else self.survivors
        found = 1
        while found < self.longest and kept * spelling.size ** (found + 1) < _CHEAP_BINS:
            found += 1
        return found

    def check(self) -> tuple[Spelling, Way | None]:
        """How words are spelled, and the way of the rounds; raises ParameterError for others."""
        spelling = Spelling(LETTERS if self.alphabet is None else self.alphabet)
        if self.way is None or self.way in list(Way):
            return spelling, None if self.way is None else Way(self.way)
        raise ParameterError(
            "way", wanted="together or apart", got=repr(self.way), do="or leave it out"
        )


def words(crowd: Population, promised: Guarantee, options: SearchOptions, run: Run) -> Outcome:
    """Find the most frequent words that people hold.

    Raises ParameterError for an option outside its range, InfeasibleError when nothing fits.
    """
    spelling, way = options.check()
    symbols = options.symbols_of(spelling)
    search = Search(
        guarantee=promised,
        users=crowd.users,
        top=options.top,
        rounds=-(-options.longest // symbols),
        symbols=symbols,
        keep=options.survivors,
        error_rate=options.error_rate,
        messages_per_user=options.messages_per_user,
        mix_fakes=options.mix_fakes,
        spelling=spelling,
        name=crowd.question.name,
    )
    vocabulary = crowd.question.labels or ()
    result = find_words(design(search, way, run.lab.planner), vocabulary, crowd.codes, run.lab)
    raw = f"{run.source} {crowd.note}".rstrip()
    found = facts(result, vocabulary, crowd.truth, source=raw, seed=run.seed)
    public = published(result, source=run.source, seed=run.seed)
    return Outcome(
        document=document(found, lines(result)),
        from_data=crowd.from_data,
        plain=document(public, lines(result)),
        seeded=run.seed is not None,
    )
