"""The most frequent words of a crowd, without a list of them."""

from dataclasses import dataclass
from typing import Annotated

from mixtally.app.options import MixFakes, option, whole_option
from mixtally.app.outcome import Outcome, Run
from mixtally.data.population import Population
from mixtally.encode.spelling import LETTERS, Spelling
from mixtally.errors import ParameterError
from mixtally.records.guarantee import Guarantee
from mixtally.simulation.heavy import Search, Way, design, find_words
from mixtally.simulation.heavy.document import document
from mixtally.simulation.heavy.facts import facts, lines, published


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Which words are looked for, and at what cost."""

    top: Annotated[int, whole_option("--top", "How many words are wanted.")] = 50
    rounds: Annotated[int, whole_option("--rounds", "Most characters of a word, 1 to 64.")] = 10
    survivors: Annotated[
        int | None,
        whole_option("--survivors", "Prefixes that survive a round at most (default 3 x top)."),
    ] = None
    alphabet: Annotated[
        str | None,
        option(
            "--alphabet",
            "Characters that take one round each; others take several (default a-z 0-9 ').",
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
    search = Search(
        guarantee=promised,
        users=crowd.users,
        top=options.top,
        rounds=options.rounds,
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
        from_data=(),
        plain=document(public, lines(result)),
        seeded=run.seed is not None,
    )
