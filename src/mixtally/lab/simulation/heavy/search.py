"""What is looked for, and what it may cost."""

from dataclasses import dataclass, field

from mixtally.errors import in_range
from mixtally.model.guarantee import Guarantee, check_users
from mixtally.model.question import MOST_BINS, Question
from mixtally.protocol.encode.spelling import Spelling
from mixtally.protocol.estimate.noise import check_rate

MOST_ROUNDS = 64
MOST_SYMBOLS = 10
MOST_TOP = 10_000
DEFAULT_MESSAGES = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search for the ``top`` most frequent words; all of it is fixed before anyone answers.

    where
      guarantee           for everything a person sends in all rounds
      users               people who take part
      rounds              in [1, 64]
      symbols             by which prefixes grow a round, in [1, 10]: words of up to so many times
                          the rounds can be found, in characters of the alphabet
      keep                prefixes that survive a round at most; None for three times ``top``
      error_rate          the chance that any word or prefix which nobody holds is published
      messages_per_user   the most messages a person sends in one round on average
      mix_fakes           whether mixes may be trusted to draw fakes

    Raises ParameterError for a number outside its range.
    """

    guarantee: Guarantee
    users: int
    top: int = 50
    rounds: int = 10
    symbols: int = 1
    keep: int | None = None
    error_rate: float = 0.05
    messages_per_user: float = DEFAULT_MESSAGES
    mix_fakes: bool = False
    spelling: Spelling = field(default_factory=Spelling)
    name: str = "word"

    def __post_init__(self) -> None:
        check_users(self.users)
        check_rate(self.error_rate)
        for subject, value, most, advice in (
            ("top", self.top, MOST_TOP, "it is how many words are expected"),
            ("rounds", self.rounds, MOST_ROUNDS, "they hold the most characters of a word"),
            ("symbols", self.symbols, self._most_symbols, "two or three a round do"),
            (
                "prefixes kept",
                self.most_survivors,
                (MOST_BINS - 1) // self.extensions_per_prefix,
                "three per expected word are: ask for fewer words, or fewer symbols a round",
            ),
        ):
            in_range(subject, value, 1, most, advice)

    @property
    def most_survivors(self) -> int:
        """The most prefixes that survive a round."""
        return 3 * self.top if self.keep is None else self.keep

    @property
    def _most_symbols(self) -> int:
        """So many that one prefix with all that may follow it fits into the bins of a round."""
        fit, level = 0, self.spelling.size
        while fit < MOST_SYMBOLS and level < MOST_BINS:
            fit, level = fit + 1, level * self.spelling.size
        return max(fit, 1)

    @property
    def extensions_per_prefix(self) -> int:
        """What may follow a prefix in a round."""
        return int(self.spelling.size**self.symbols)

    @property
    def bins(self) -> int:
        """Bins of every round: all extensions of the survivors, and one for everything else."""
        return max(self.most_survivors, 1) * self.extensions_per_prefix + 1

    @property
    def first_depth(self) -> int:
        """Symbols of the prefixes that the first round extends: one where there is room for all."""
        return 1 if self.spelling.size <= self.most_survivors else 0

    @property
    def closing_round(self) -> int | None:
        """The round that asks for the last symbol and the end in one; None where there is room.

        A search that starts without a prefix has no round left for the ends of the longest words.
        """
        return None if self.first_depth else self.rounds

    @property
    def longest(self) -> int:
        """Symbols of a word that are ever looked at, its end included."""
        return 1 + self.rounds * self.symbols

    @property
    def bins_in_all_rounds(self) -> int:
        """Bins looked at in all rounds together."""
        return self.rounds * self.bins

    @property
    def question(self) -> Question:
        """The same for every round: its plan cannot depend on what earlier rounds showed."""
        return Question(name=f"what comes next in {self.name}", bins=self.bins)
