"""Parameters of a search for frequent words, and the numbers that follow from them.

``app.words`` makes a `Search` from options; `design_search` plans it.
"""

from dataclasses import dataclass, field

from mixtally.errors import in_range
from mixtally.model.guarantee import Guarantee, check_users
from mixtally.model.question import MOST_BINS, Question
from mixtally.protocol.encode.spelling import Spelling
from mixtally.protocol.estimate.noise import check_rate

MOST_ROUNDS = 64
MOST_SYMBOLS = 10
"""Largest number of symbols that a prefix grows by in one round."""
MOST_TOP = 10_000
DEFAULT_MESSAGES = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search for the ``top`` most frequent words, fixed before anyone answers.

    Attributes
    ----------
    guarantee
        The guarantee for everything that a person sends in all rounds.
    rounds
        Number of rounds, in [1, 64].
    symbols
        Number of symbols by which a round extends prefixes, in [1, 10]. Words of up to rounds times
        symbols characters of the alphabet can be found.
    keep
        Largest number of prefixes that survive a round; None for three times ``top``.
    error_rate
        Probability that any word or prefix that nobody holds is published.
    messages_per_user
        Largest mean number of messages that a person sends in one round.
    mix_fakes
        Whether the plan may rely on mixes to draw fakes.

    Raises
    ------
    ParameterError
        If a number is out of range.
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
            ("top", self.top, MOST_TOP, "it is the number of expected words"),
            ("rounds", self.rounds, MOST_ROUNDS, "they limit the characters of a word"),
            ("symbols", self.symbols, self._most_symbols, "two or three per round are enough"),
            (
                "prefixes kept",
                self.most_survivors,
                (MOST_BINS - 1) // self.extensions_per_prefix,
                "three per expected word are kept: ask for fewer words, or fewer symbols per round",
            ),
        ):
            in_range(subject, value, 1, most, advice)

    @property
    def most_survivors(self) -> int:
        """Largest number of prefixes that survive a round."""
        return 3 * self.top if self.keep is None else self.keep

    @property
    def _most_symbols(self) -> int:
        """Largest number of symbols for which all extensions of one prefix fit into a round."""
        fit, level = 0, self.spelling.size
        while fit < MOST_SYMBOLS and level < MOST_BINS:
            fit, level = fit + 1, level * self.spelling.size
        return max(fit, 1)

    @property
    def extensions_per_prefix(self) -> int:
        """Number of extensions of one prefix, each of which is a bin of the round."""
        return int(self.spelling.size**self.symbols)

    @property
    def bins(self) -> int:
        """Number of bins of every round: all extensions of the survivors, and one for the rest."""
        return max(self.most_survivors, 1) * self.extensions_per_prefix + 1

    @property
    def first_depth(self) -> int:
        """Number of symbols of the prefixes that the first round extends.

        It is 1 if every symbol can be a surviving prefix: the alphabet with its special symbols has
        at most ``most_survivors`` symbols. Otherwise it is 0, and the first round extends the empty
        prefix.
        """
        return 1 if self.spelling.size <= self.most_survivors else 0

    @property
    def closing_round(self) -> int | None:
        """Number of the round that takes every surviving prefix for a word; None if there is none.

        It is the last round of a search that starts with the empty prefix, because such a search
        has no further round that could ask for the end of the longest words.
        """
        return None if self.first_depth else self.rounds

    @property
    def longest(self) -> int:
        """Largest number of symbols of a word that devices use, including the end symbol."""
        return 1 + self.rounds * self.symbols

    @property
    def bins_in_all_rounds(self) -> int:
        """Number of bins in all rounds together."""
        return self.rounds * self.bins

    @property
    def question(self) -> Question:
        """The one question that all rounds have, so that no plan depends on other rounds."""
        return Question(name=f"what comes next in {self.name}", bins=self.bins)
