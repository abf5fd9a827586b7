"""Prefix extension: ask for the next symbol of what survived, keep what is surely held, repeat.

Source: Bassily, Nissim, Stemmer, Thakurta, Practical Locally Private Heavy Hitters (2017), and
Wang, Li, Jha, Locally Differentially Private Heavy Hitter Identification (2019), prefix extension;
the rounds, the noise and the thresholds are those of shuffled counting, not of local reports.
"""

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.data.cells import Progress, quiet
from mixtally.encode.prefixes import extended, extension_bins
from mixtally.encode.spelling import END, Symbols
from mixtally.errors import ParameterError
from mixtally.estimate.intervals import intervals
from mixtally.estimate.significant import least_significant
from mixtally.ground.chance import Chance
from mixtally.ground.draw import permutation
from mixtally.privacy.certify import verify
from mixtally.records.mechanism import Shuffled
from mixtally.records.results import Tally
from mixtally.simulate.heavy.design import Design, Way, whole_error
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
            "crowd", wanted=f"the {search.users:,} people of the plan", got=f"{len(codes):,}",
            do="plan again for this crowd",
        )  # fmt: skip
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
        least = least_significant(mechanism, tally.messages, search.tests, search.error_rate)
        asked = len(prefixes) * search.spelling.size  # the last bin and unused ones are no words
        high = np.flatnonzero(tally.counts[:asked] >= least)
        high = high[np.argsort(-tally.counts[high], kind="stable")]
        grown = extended(prefixes, high, search.spelling.size)
        over = (grown[:, -1] == END) | closing
        words = _words(design, mechanism, tally, len(group), high[over], grown[over], number)
        unreadable += int(over.sum()) - len(words)
        found += words
        survivors = grown[~over][: search.kept]
        rounds.append(
            Round(
                asked=_shown(design, prefixes),
                people=len(group),
                messages=tally.messages,
                threshold=least,
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
    design: Design,
    mechanism: Shuffled,
    tally: Tally,
    people: int,
    bins: _Codes,
    grown: Symbols,
    number: int,
) -> list[Found]:
    """Every ended word with its count of the whole crowd and its interval."""
    search = design.search
    seen = Tally(tally.counts[bins], tally.messages)
    counts = mechanism.unbiased(seen.counts, seen.messages) * (search.users / people)
    noise = mechanism.variance(tally.messages) ** 0.5
    ends = intervals(mechanism, seen, 1.0 - search.error_rate, simultaneous_over=search.tests)
    out = []
    for i, symbols in enumerate(grown.tolist()):
        # The words of a closing round have no end of their own.
        spelled = symbols[:-1] if symbols[-1] == END else symbols
        word, count = search.spelling.read(spelled), float(counts[i])
        if word is None:
            continue
        share = min(max(count / search.users, 0.0), 1.0)
        error = whole_error(noise, search.users, people, share)
        lower, upper = int(ends.lower[i]), int(ends.upper[i])
        if people < search.users:
            width = _width(search.error_rate / search.tests) * error
            lower, upper = max(int(count - width), lower), int(count + width) + 1
        out.append(Found(word, count, error, lower, upper, number))
    return out


def _width(rate: float) -> float:
    """Standard errors on either side of a normal estimate that is off more with chance ``rate``."""
    return NormalDist().inv_cdf(1.0 - rate / 2.0)


def _shown(design: Design, prefixes: Symbols) -> tuple[str, ...]:
    return tuple(design.search.spelling.show(one) for one in prefixes.tolist())
