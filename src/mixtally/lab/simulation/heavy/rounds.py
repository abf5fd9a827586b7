"""Prefix extension: each round asks for the next symbols of the prefixes that are still frequent.

``app.words`` calls `find_words`. A *prefix* is the beginning of a word. The bins of a round are the
extensions of some prefixes by the next symbols. Extensions whose counts are significant *survive*,
and are the prefixes of the next round.

Source: Bassily, Nissim, Stemmer, Thakurta, Practical Locally Private Heavy Hitters (2017), and
Wang, Li, Jha, Locally Differentially Private Heavy Hitter Identification (2019), for prefix
extension. The rounds, the noise and the thresholds are those of shuffled counting, not of local
reports.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.plans.terms import verify
from mixtally.device.contract.spelling import END
from mixtally.errors import ParameterError
from mixtally.lab.simulation.heavy.design import Design, Participation
from mixtally.lab.simulation.heavy.result import FoundWord, HeavyResult, SearchRound
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.play import play
from mixtally.model.estimates import Tally
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import draw_permutation
from mixtally.protocol.encode.prefixes import extend_prefixes, extension_bins
from mixtally.protocol.encode.spelling import Symbols
from mixtally.protocol.estimate.conclude import Extensions, conclude_extensions, tally_of_bins
from mixtally.protocol.estimate.received import reconcile_mechanism

_Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _PlayedRound:
    """A round as it is published, the words that ended in it, and the prefixes that survived."""

    published: SearchRound
    words: list[FoundWord]
    unreadable: int
    survivors: Symbols


def find_words(design: Design, vocabulary: tuple[str, ...], codes: _Codes, lab: Lab) -> HeavyResult:
    """Find the most frequent words of a crowd, with real messages in every round.

    Parameters
    ----------
    design, lab
        The plan of the search, and the tools of the simulation.
    vocabulary
        The distinct words that people hold. Only the simulated devices read them.
    codes
        Shape (users,), the index in ``vocabulary`` of each person's word.

    Returns
    -------
    HeavyResult
        The words found, most frequent first, and the rounds.

    Raises
    ------
    ParameterError
        If the number of people differs from the plan of the search.
    DataError
        If a word is empty.
    PlanError
        If the plan's certificate is false.
    """
    search = design.search
    if len(codes) != search.users:
        raise ParameterError(
            "crowd",
            expected=f"the {search.users:,} people of the plan",
            got=f"{len(codes):,}",
            do="plan again for this crowd",
        )
    plan = design.plan
    # Nothing may be drawn under a plan whose certificate is false.
    verify(plan, lab.planner.accountant)
    size, symbols = search.spelling.size, search.spelling.spell(vocabulary, search.longest)
    prefixes, rounds = _first_prefixes(design), list[_PlayedRound]()
    for number, group in enumerate(_deal_groups(design, codes, lab.chance), start=1):
        closing = number == search.closing_round
        bins = extension_bins(
            symbols, prefixes, size, search.bins, level=search.symbols, closing=closing
        )
        (tally,) = play(plan, [bins[group]], lab.chance, lab.progress).tallies
        rounds.append(_conclude_round(design, number, prefixes, len(group), tally))
        lab.progress("rounds", number, search.rounds)
        prefixes = rounds[-1].survivors
        if not len(prefixes):  # no unfinished prefix survives, so that later rounds find nothing
            break
    found = [word for one in rounds for word in one.words]
    return HeavyResult(
        design=design,
        rounds=tuple(one.published for one in rounds),
        words=tuple(sorted(found, key=lambda word: -word.count)),
        unreadable=sum(one.unreadable for one in rounds),
    )


def _conclude_round(
    design: Design, number: int, prefixes: Symbols, people: int, tally: Tally
) -> _PlayedRound:
    """Estimate the counts of the extensions of ``prefixes`` in round ``number``.

    ``tally`` has the messages of the ``people`` who took part in the round.
    """
    search = design.search
    size = search.spelling.size
    seen = conclude_extensions(
        reconcile_mechanism(design.plan, tally, people),
        tally_of_bins(design.plan.parts[0], tally),
        len(prefixes) * search.extensions_per_prefix,  # other bins belong to no prefix
        people=people,
        users=search.users,
        tests=search.bins_in_all_rounds,
        error_rate=search.error_rate,
    )
    grown = extend_prefixes(prefixes, seen.bins, size, search.symbols)
    has_ended = (grown == END).any(axis=1) | (number == search.closing_round)
    words = _ended_words(design, seen, grown, has_ended, number)
    # Extensions are sorted by count, so the least frequent ones exceed the limit.
    survivors = grown[~has_ended][: search.most_survivors]
    published = SearchRound(
        asked=_show_prefixes(design, prefixes),
        people=people,
        messages=tally.messages,
        threshold=seen.threshold,
        survivors=_show_prefixes(design, survivors),
        ended=tuple(one.word for one in words),
        crowded=int((~has_ended).sum()) - len(survivors),
    )
    return _PlayedRound(published, words, int(has_ended.sum()) - len(words), survivors)


def _first_prefixes(design: Design) -> Symbols:
    """Return the prefixes that the first round extends.

    These are the empty prefix alone, or every symbol except the one that ends a word.
    """
    size = design.search.spelling.size
    if design.search.first_depth == 0:
        return np.zeros((1, 0), dtype=np.uint8)
    return np.arange(END + 1, size, dtype=np.uint8).reshape(-1, 1)


def _deal_groups(design: Design, codes: _Codes, chance: Chance) -> Iterator[_Codes]:
    """Yield, for each round, the codes of the words of the people who take part in the round."""
    rounds = design.search.rounds
    if design.participation is Participation.EVERY_ROUND:
        for _ in range(rounds):
            yield codes
        return
    dealt = codes[draw_permutation(chance, len(codes))]
    for i in range(rounds):
        yield dealt[i * len(codes) // rounds : (i + 1) * len(codes) // rounds]


def _ended_words(
    design: Design,
    extensions: Extensions,
    grown_prefixes: Symbols,
    has_ended: NDArray[np.bool_],
    number: int,
) -> list[FoundWord]:
    """Return every word that ended, with its estimated count in the whole crowd and its interval.

    ``extensions`` has the counts and intervals of significant extensions. ``grown_prefixes`` has
    the symbols of these extensions, and ``has_ended`` says which of them ended in round ``number``.
    An extension that spells no text is left out.
    """
    found = []
    for i in np.flatnonzero(has_ended).tolist():
        symbols = grown_prefixes[i].tolist()
        while symbols[-1:] == [END]:  # a word of the closing round may lack an end symbol
            symbols.pop()
        word = design.search.spelling.decode(symbols) if symbols else None
        if word is not None:
            found.append(
                FoundWord(
                    word,
                    float(extensions.counts[i]),
                    float(extensions.errors[i]),
                    int(extensions.lower[i]),
                    int(extensions.upper[i]),
                    number,
                )
            )
    return found


def _show_prefixes(design: Design, prefixes: Symbols) -> tuple[str, ...]:
    return tuple(design.search.spelling.format_prefix(one) for one in prefixes.tolist())
