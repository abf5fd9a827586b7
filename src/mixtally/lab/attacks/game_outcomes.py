"""Outcomes of a game: with messages drawn by the code, and with counts from the distribution.

The attacks call ``attack_outcomes``. A device's code is slow, so its runs are often too few to
prove much. Hence the same game is also played without messages: the count of every kind of message
is drawn from the distribution that the mechanism should have. Such runs do not test the code. But
they test the guarantee with many more runs, and for any number of messages.
"""

from dataclasses import replace

import numpy as np

from mixtally.errors import ParameterError
from mixtally.lab.attacks.game import Game, draw_pilot, play, quick_runs
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.outcome import AttackLab, Hypothesis, NoiseSource, Outcome, conclude_game
from mixtally.lab.attacks.worlds import Worlds
from mixtally.primitives.bits import spans

MOST_MESSAGES = 20_000_000
"""The most messages of a run that the code draws."""
_SPAN_RUNS = 1 << 20
"""The largest number of counts that are drawn at once, which limits memory."""
_KINDS, _MOST_DRAWN, _FEWEST_DRAWN = 8, 1_000_000, 20_000
"""The number of runs with counts from the distribution, which take a few seconds.

For up to ``_KINDS`` kinds of messages it is ``_MOST_DRAWN``. For more kinds it is inversely
proportional to their number, but at least ``_FEWEST_DRAWN``.
"""
DRAWN = "; counts drawn from their distribution, not by the code"
"""The suffix of a description whose counts come from the distribution."""


def attack_outcomes(
    hypothesis: Hypothesis, game: Game, lab: AttackLab, *, twice: bool = False
) -> list[Outcome]:
    """Return the outcomes of a game against a guarantee.

    There is one outcome for messages drawn by the code, and one for counts drawn from the
    distribution, if both can be played. Together they use the false-alarm probability
    ``lab.error``.

    With ``twice``, a run is two collections in which the person gives both answers, in either
    order, and the statistic is the difference of the two.

    Raises
    ------
    ParameterError
        If there are too many messages to draw them by the code, and ``lab`` allows no runs with
        counts from the distribution.
    """
    setting = game.setting
    by_code, by_distribution = setting.messages <= MOST_MESSAGES, lab.drawn != 0
    if not by_code and not by_distribution:
        raise ParameterError(
            "collection",
            expected=f"at most {MOST_MESSAGES:,} messages to play one by one",
            got=f"{setting.messages:,}",
            do="draw their counts from the distribution: --drawn 1e6",
        )
    attack, plays = hypothesis.attack, []
    drawn = _play_by_distribution(game, lab, attack, twice) if by_distribution else None
    if by_code or drawn is None:
        plays.append((NoiseSource.CODE, _play_by_code(game, lab, attack, twice), setting.played))
    if drawn is not None:
        plays.append((NoiseSource.DISTRIBUTION, drawn, setting.stage + DRAWN))
    lab = replace(lab, error=lab.error / len(plays))
    return [
        conclude_game(
            hypothesis,
            worlds,
            lab,
            played=f"twice: {played}" if twice else played,
            noise=noise,
            pilot=_draw_pilot(game, len(worlds.u), lab, twice),
        )
        for noise, worlds, played in plays
    ]


def _play_by_code(game: Game, lab: AttackLab, attack: str, twice: bool) -> Worlds:
    if not twice:
        return play(game, lab, attack)
    runs = lab.runs if lab.runs is not None else quick_runs(game.setting.cost, 0.5)
    lab = replace(lab, runs=runs)
    return _subtract_swapped(play(game, lab, attack), play(game, lab, attack))


def _draw_pilot(game: Game, runs: int, lab: AttackLab, twice: bool) -> Worlds:
    one = draw_pilot(game, runs, lab)
    return _subtract_swapped(one, draw_pilot(game, runs, lab)) if twice else one


def _play_by_distribution(game: Game, lab: AttackLab, attack: str, twice: bool) -> Worlds | None:
    """Return the statistics of runs with counts from the distribution.

    Return None if drawing messages by the code is as fast.
    """
    parts, draw, kinds = [], Binomials(lab.chance, lab.tables), game.setting.kinds
    runs = lab.drawn or int(min(_MOST_DRAWN, max(_FEWEST_DRAWN, _MOST_DRAWN * _KINDS / kinds)))
    for span in spans(runs, max(1, _SPAN_RUNS // kinds)):
        one = [game.draw_from_distribution(span.stop - span.start, draw) for _ in range(1 + twice)]
        worlds = [Worlds(*both) for both in one if both is not None]
        if not worlds:
            return None
        parts.append(_subtract_swapped(*worlds) if twice else worlds[0])
        lab.progress(attack + ", by the distribution", span.stop, runs)
    return Worlds(*(np.concatenate([getattr(p, side) for p in parts]) for side in ("u", "v")))


def _subtract_swapped(first: Worlds, second: Worlds) -> Worlds:
    """Return the statistic of the first collection minus that of the second, for pairs of them.

    In world u of the result, the first collection is in world u and the second in world v. In world
    v of the result, the first collection is in world v and the second in world u. An effect that is
    the same in both collections cancels.
    """
    # Infinity minus infinity is certainty for both orders of the answers, so it is no evidence.
    with np.errstate(invalid="ignore"):
        both = first.u - second.v, first.v - second.u
    return Worlds(*(np.nan_to_num(one, nan=0.0) for one in both))
