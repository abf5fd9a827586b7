"""Prefix extension: ask for the next symbol of what survived, keep what is surely held, repeat.

Source: Bassily, Nissim, Stemmer, Thakurta, Practical Locally Private Heavy Hitters (2017), and
Wang, Li, Jha, Locally Differentially Private Heavy Hitter Identification (2019), prefix extension;
the rounds, the noise and the thresholds are those of shuffled counting, not of local reports.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mixtally.data.cells import Progress, quiet
from mixtally.encode.prefixes import extended, extension_bins
from mixtally.encode.spelling import END, Symbols
from mixtally.errors import ParameterError
from mixtally.estimate.conclude import Extensions, conclude_extensions
from mixtally.ground.chance import Chance
from mixtally.ground.draw import permutation
from mixtally.privacy.certify import verify
from mixtally.simulate.heavy.design import Design, Way
from mixtally.simulate.heavy.result import Found, HeavyResult, Round
from mixtally.simulate.simulate import play

_Codes = NDArray[np.int64]


def find_words(
    design: Design,
    vocabulary: tuple[str, ...],
    codes: _Codes,
    chance: Chance,
    progress: Progress = quiet,
) -> HeavyResult:
    """The most frequent words of a crowd, by real messages through every round.

    where
      vocabulary   the distinct words that people hold; only their own devices look at them
      codes        shape (users,), which of them each person holds

    Stops early when no unfinished prefix survives. Raises ParameterError when the crowd is not as
    planned, DataError for an empty word, PlanError for a plan that promises too much.
    """
    search = design.search
    if len(codes) != search.users:
        raise ParameterError(
            "crowd",
            wanted=f"the {search.users:,} people of the plan",
            got=f"{len(codes):,}",
            do="plan again for this crowd",
        )
    mechanism = verify(design.offer.plan)
    symbols = search.spelling.spell(vocabulary, search.longest)
    prefixes = _first(design)
    rounds: list[Round] = []
    found: list[Found] = []
    unreadable = 0
    for number, group in enumerate(_groups(design, codes, chance), start=1):
        closing = number == search.closing
        bins = extension_bins(symbols, prefixes, search.spelling.size, search.bins, closing=closing)
        tally = play(mechanism, bins[group], chance, progress)
        # The last bin and unused ones are no words.
        seen = conclude_extensions(
            mechanism,
            tally,
            len(prefixes) * search.spelling.size,
            people=len(group),
            users=search.users,
            tests=search.tests,
            error_rate=search.error_rate,
        )
        grown = extended(prefixes, seen.bins, search.spelling.size)
        over = (grown[:, -1] == END) | closing
        words = _words(design, seen, grown, over, number)
        unreadable += int(over.sum()) - len(words)
        found += words
        survivors = grown[~over][: search.kept]
        rounds.append(
            Round(
                asked=_shown(design, prefixes),
                people=len(group),
                messages=tally.messages,
                threshold=seen.threshold,
                survivors=_shown(design, survivors),
                ended=tuple(one.word for one in words),
                crowded=int((~over).sum()) - len(survivors),
            )
        )
        progress("rounds", number, search.rounds)
        if not len(survivors):
            break
        prefixes = survivors
    ranked = sorted(found, key=lambda one: -one.count)
    return HeavyResult(design, tuple(rounds), tuple(ranked), unreadable)


def _first(design: Design) -> Symbols:
    """The prefixes before anything is known: none at all, or every symbol but the end."""
    size = design.search.spelling.size
    if design.search.first_depth == 0:
        return np.zeros((1, 0), dtype=np.uint8)
    return np.arange(END + 1, size, dtype=np.uint8).reshape(-1, 1)


def _groups(design: Design, codes: _Codes, chance: Chance) -> Iterator[_Codes]:
    """The codes of those who take part in each round."""
    rounds = design.search.rounds
    if design.way is Way.TOGETHER:
        for _ in range(rounds):
            yield codes
        return
    dealt = codes[permutation(chance, len(codes))]
    for i in range(rounds):
        yield dealt[i * len(codes) // rounds : (i + 1) * len(codes) // rounds]


def _words(
    design: Design, seen: Extensions, grown: Symbols, over: NDArray[np.bool_], number: int
) -> list[Found]:
    """Every ended word with its count of the whole crowd and its interval."""
    found = []
    for i in np.flatnonzero(over).tolist():
        symbols = grown[i].tolist()
        # The words of a closing round have no end of their own.
        word = design.search.spelling.read(symbols[:-1] if symbols[-1] == END else symbols)
        if word is not None:
            found.append(
                Found(
                    word,
                    float(seen.counts[i]),
                    float(seen.errors[i]),
                    int(seen.lower[i]),
                    int(seen.upper[i]),
                    number,
                )
            )
    return found


def _shown(design: Design, prefixes: Symbols) -> tuple[str, ...]:
    return tuple(design.search.spelling.show(one) for one in prefixes.tolist())
