"""Search for the most frequent words of a crowd, without a list of words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from mixtally.app.options import MixFakes, option, whole_option
from mixtally.app.outcome import Outcome, Run, outcome_of
from mixtally.errors import ParameterError, in_range, not_together
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.heavy import Participation, Search, design_search, find_words
from mixtally.lab.simulation.heavy.design import Design
from mixtally.lab.simulation.heavy.document import document
from mixtally.lab.simulation.heavy.facts import WordFindings
from mixtally.lab.simulation.heavy.feasibility import (
    check_frequency,
    check_lengths,
    collect_alphabet,
)
from mixtally.lab.simulation.heavy.search import MOST_ROUNDS, MOST_SYMBOLS
from mixtally.lab.simulation.lab import Provenance
from mixtally.model.guarantee import Guarantee
from mixtally.protocol.encode.spelling import Spelling

MOST_LONGEST = MOST_ROUNDS * MOST_SYMBOLS
"""Largest number of characters of a word that a search can find."""
_CHEAP_BINS = 1_000_000
"""Largest number of bins for which a round takes about a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The words to search for, and the cost of the search."""

    top: Annotated[int, whole_option("--top", "Number of words to find.")] = 50
    longest: Annotated[
        int, whole_option("--longest", "Largest number of characters of a word.")
    ] = 10
    outside: Annotated[
        int,
        whole_option(
            "--outside",
            "Characters of a word that may be outside the alphabet (default 0); each needs "
            "several symbols.",
        ),
    ] = 0
    symbols: Annotated[
        int | None,
        whole_option(
            "--symbols",
            "Characters by which a round extends prefixes (default: as many as stay cheap).",
        ),
    ] = None
    survivors: Annotated[
        int | None,
        whole_option("--survivors", "Most prefixes that are kept after a round (default 3 x top)."),
    ] = None
    alphabet: Annotated[
        str | None,
        option(
            "--alphabet",
            "Characters of words (default a-z A-Z 0-9, space and . - ').",
            "CHARACTERS",
        ),
    ] = None
    alphabet_from_data: Annotated[
        bool,
        option(
            "--alphabet-from-data",
            "Take the alphabet from the words: for a rehearsal, never for a release.",
        ),
    ] = False
    way: Annotated[
        str | None,
        option(
            "--way",
            "together: each person in all rounds; apart: in one (default: by error).",
            "WAY",
        ),
    ] = None
    error_rate: Annotated[
        float,
        option("--error-rate", "Probability of any false positive, at most 0.5.", "R"),
    ] = 0.05
    messages_per_user: Annotated[
        float, option("--messages-per-user", "Most messages per person and round.", "M")
    ] = 4.0
    mix_fakes: MixFakes = False

    def check(self) -> None:
        """Check the options as far as this is possible without data.

        Raises
        ------
        ParameterError
            If the alphabet or the value of ``way`` is invalid, or two alphabets are given.
        """
        if self.alphabet is not None and self.alphabet_from_data:
            raise not_together("alphabet", "--alphabet", ["--alphabet-from-data"], "leave one out")
        if self.way is not None and self.way not in list(Participation):
            raise ParameterError(
                "way", expected="together or apart", got=repr(self.way), do="choose one"
            )
        self.search_rounds(self.spelling((), np.zeros(0, dtype=np.int64)))

    def spelling(self, vocabulary: Sequence[str], people: NDArray[np.int64]) -> Spelling:
        """Return how words are spelled with symbols of an alphabet.

        ``vocabulary`` and ``people``, the words and the number of people with each of them, are
        used only with ``alphabet_from_data``.
        """
        if self.alphabet is not None:
            return Spelling.from_characters(self.alphabet)
        if self.alphabet_from_data and len(vocabulary):
            return Spelling(collect_alphabet(vocabulary, people))
        return Spelling()

    def search_rounds(self, spelling: Spelling) -> tuple[int, int]:
        """Return the number of rounds, and the number of symbols of each round.

        Fewer rounds cost less privacy. More symbols per round need more bins, which are expensive
        if a mix draws fakes for each bin.

        Raises
        ------
        ParameterError
            If the words are too long for 64 rounds.
        """
        in_range("longest", self.longest, 1, MOST_LONGEST, "it limits the characters of a word")
        advice = "it counts the characters of a word that are not in the alphabet"
        in_range("outside", self.outside, 0, self.longest, advice)
        if self.symbols is not None:
            in_range("symbols", self.symbols, 1, MOST_SYMBOLS, "two or three are usual")
        whole = spelling.most_symbols(self.longest, self.outside)
        symbols = self._choose_symbols(spelling, whole)
        rounds = -(-whole // symbols)
        if rounds > MOST_ROUNDS:
            raise ParameterError(
                "longest",
                expected=f"words of up to {MOST_ROUNDS * symbols:,} symbols in {MOST_ROUNDS} "
                f"rounds",
                got=f"{whole:,} symbols",
                do="give a smaller --longest or more --symbols, or count a list of words with "
                "`mixtally simulate --candidates FILE`",
            )
        return rounds, symbols

    def _choose_symbols(self, spelling: Spelling, whole: int) -> int:
        if self.symbols is not None:
            return self.symbols
        # Mixes draw fakes for every bin, so the smallest number of bins costs the fewest messages.
        if self.mix_fakes:
            return 1
        kept = 3 * self.top if self.survivors is None else self.survivors
        found = 1
        # Every surviving prefix is extended by all combinations of symbols, so the number of bins
        # grows exponentially with the number of symbols.
        while found < whole and kept * spelling.size ** (found + 1) < _CHEAP_BINS:
            found += 1
        return found


def words(crowd: Population, promised: Guarantee, options: SearchOptions, run: Run) -> Outcome:
    """Simulate a search for the most frequent words of a crowd.

    All errors are raised before the first message is drawn.

    Parameters
    ----------
    crowd : Population
        The people; the bins are words.
    promised : Guarantee
        The guarantee for all rounds together.
    options : SearchOptions
        The options of the search.
    run : Run
        The settings of the simulation.

    Raises
    ------
    ParameterError
        If an option is out of range.
    DataError
        If the words do not fit the search, or are too rare for it.
    InfeasibleError
        If no plan meets the request.
    """
    options.check()
    vocabulary = crowd.question.labels or ()
    spelling = options.spelling(vocabulary, crowd.truth)
    rounds, symbols = options.search_rounds(spelling)
    search = Search(
        guarantee=promised,
        users=crowd.users,
        top=options.top,
        rounds=rounds,
        symbols=symbols,
        keep=options.survivors,
        error_rate=options.error_rate,
        messages_per_user=options.messages_per_user,
        mix_fakes=options.mix_fakes,
        spelling=spelling,
        name=crowd.question.name,
    )
    way = None if options.way is None else Participation(options.way)

    def plan(one: Search) -> Design:
        return design_search(one, way, run.lab.planner)

    people = crowd.truth
    check_lengths(
        search, vocabulary, people, plan, longest=options.longest, outside=options.outside
    )
    planned = plan(search)
    # Raises before anything is simulated if the search would probably find nothing.
    check_frequency(planned, vocabulary, people)
    result = find_words(planned, vocabulary, crowd.codes, run.lab)
    found = WordFindings(
        provenance=Provenance(
            title=f"The most frequent words of {search.name}",
            source=run.source,
            raw=crowd.note,
            reason=planned.reason,
            seed=run.seed,
        ),
        result=result,
        truth=dict(zip(vocabulary, crowd.truth.tolist(), strict=True)),
    )
    learned = ("alphabet",) if options.alphabet_from_data else ()
    return outcome_of(found, document, (*crowd.from_data, *learned))
