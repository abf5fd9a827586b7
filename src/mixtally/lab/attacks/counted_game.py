"""Games whose messages are counted by kind.

The games of flipped records, of replaced values, of planes and of uniform fakes inherit from
``CountedGame``. The *hiding messages* are the fakes and the messages of other people. Let w(y) be
the probability of message y under the person's record, divided by its probability under the mean
distribution of the hiding messages. The person sends k of the N messages y_1, .., y_N of a batch,
shuffled among the others. Let e_k be the elementary symmetric polynomial of degree k. Averaging
over all choices of the person's k messages gives

    P(multiset) / P_hiding(multiset) = e_k(w(y_1), .., w(y_N)) / C(N, k),

where P_hiding is the probability if all N messages have the mean distribution. For k = 1 the right
side is the mean of w over all messages. The statistic of a game is log e_k for record u minus log
e_k for record v.

A *kind* of messages has one ratio w; let c be the number of messages of a kind. Then e_k is the
coefficient of t^k in the product of (1 + w t)^c over the kinds. For every t > 0 this is

    e_k = P(sum of Bin(c, w t / (1 + w t)) = k) product of (1 + w t)^c / t^k.

The code selects t so that the mean of the sum of binomials is about k. Then the probability is not
tiny. All terms are positive, so no digits cancel.
"""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from scipy.special import gammaln

from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.game import MOST_SHUFFLED, Game, Setting
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.senders import Bits, Senders, select_positions
from mixtally.primitives.bits import Counts, Rows, row_bytes, spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.tails import Floats

_SPAN_MESSAGES = 1 << 20
"""The messages of other people that are drawn at once, which limits memory."""


@dataclass(frozen=True)
class CountedGame(Game):
    """A game of one record u or v among equal records of other people, and fakes."""

    senders: Senders

    @property
    @abstractmethod
    def records(self) -> tuple[Bits, Bits, Bits]:
        """The record of everyone else, record u and record v.

        Each has only the positions that the game looks at.
        """

    def _setting(self, cost: float, kinds: int, stage: str) -> Setting:
        """Return the cost and the description of a run."""
        order = "not shuffled: the order is not used"
        if self.senders.messages <= MOST_SHUFFLED:
            order = "shuffled"
        return Setting(cost, self.senders.messages, kinds, stage, f"{stage}; {order}")

    @property
    def _others_text(self) -> str:
        """The other people who hide the person, in words."""
        people = self.senders.people
        return f"{people:,} others who all hold the same" if people else "nobody else"

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """Return the statistic in world u and the statistic in world v, from separate messages."""
        counts = [self._collect_counts(record, chance, device) for record in self.records[1:]]
        in_u, in_v = self._statistics(np.array(counts))
        return float(in_u), float(in_v)

    def _collect_counts(self, record: Bits, chance: Chance, device: Device) -> Floats:
        """Return the number of messages of each kind in one collection."""
        own = self.senders.draw_reports(record, self.senders.times, chance, device)
        fakes = self.senders.draw_fakes(len(record), chance, device)
        hiding = chain(self._draw_others(chance, device), fakes)
        if self.senders.messages <= MOST_SHUFFLED:
            return self._counts(device.shuffle(np.concatenate([*hiding, own]), chance))
        total = self._counts(own)
        for rows in hiding:
            total += self._counts(rows)
        return total

    def _draw_others(self, chance: Chance, device: Device) -> Iterator[Rows]:
        """Yield other people's messages, in blocks."""
        for span in spans(self.senders.times * self.senders.people, _SPAN_MESSAGES):
            yield self.senders.draw_reports(self.records[0], span.stop - span.start, chance, device)

    def draw_runs(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:
        """Return the statistics of many runs.

        Return None if fakes or other people's messages hide the person's record, because the code
        then draws one run at a time.
        """
        if self.senders.messages > self.senders.times:
            return None
        u, v = self._ratios
        with np.errstate(invalid="ignore"):  # Infinity minus infinity: impossible in both worlds.
            ratio = np.where(u == v, 0.0, u - v)
        both, times = [], self.senders.times
        for record in self.records[1:]:
            rows = self.senders.draw_reports(record, runs * times, chance, device)
            both.append(ratio[self._keys(rows)].reshape(runs, times).sum(axis=1))
        return both[0], both[1]

    def draw_from_distribution(self, runs: int, draw: Binomials) -> tuple[Floats, Floats] | None:
        """Return the statistics of many runs whose counts are drawn from their distribution.

        Return None if no other messages hide the record, because ``draw_runs`` is then as fast.
        """
        if self.senders.messages == self.senders.times:
            return None
        others, fake, *own_pmfs = self._pmfs
        found, times = [], self.senders.times
        for own in own_pmfs:
            counts = draw.draw_multinomial(times * self.senders.people, others, runs)
            counts += self._draw_fake_counts(fake, runs, draw)
            counts += draw.draw_multinomial(times, own, runs)
            found.append(self._statistics(counts.astype(np.float64)))
        return found[0], found[1]

    def observe(self, rows: Rows, _: int = 0) -> float:
        """Return the statistic of all messages of a round, as a collector receives them."""
        seen = self._counts(select_positions(self.senders.part, rows, len(self.records[0])))
        with np.errstate(all="ignore"):
            found = float(self._statistics(seen[None])[0])
        return 0.0 if math.isnan(found) else found  # No message fits either record: no evidence.

    def _draw_fake_counts(self, fake: Floats, runs: int, draw: Binomials) -> Counts:
        """Return the number of fakes of each kind, shape (runs, kinds).

        ``fake`` is the distribution of a fake over the kinds.
        """
        return draw.draw_multinomial(self.senders.draw_fake_numbers(runs, draw), fake, runs)

    def _counts(self, rows: Rows) -> Floats:
        """Return the number of messages of each kind, shape (kinds,)."""
        return np.bincount(self._keys(rows), minlength=len(self._ratios[0])).astype(np.float64)

    @abstractmethod
    def _keys(self, rows: Rows) -> np.ndarray:
        """Return the kind of every message."""

    @property
    @abstractmethod
    def _pmfs(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The distributions over kinds of others' messages, fakes, and records u and v."""

    @property
    def _hiding(self) -> Floats:
        """The mean distribution over kinds of all hiding messages; without any, that of a fake."""
        others, fake, *_ = self._pmfs
        people, fakes = self.senders.people, self.senders.fakes
        return (people * others + fakes * fake) / (people + fakes) if people + fakes else fake

    @cached_property
    def _ratios(self) -> tuple[Floats, Floats]:
        """The logarithms of w for record u and for record v, each with one entry for every kind.

        They are minus infinity for a kind that no hiding message has.
        """
        u, v = np.full((2, len(self._hiding)), -np.inf)
        possible = self._hiding > 0.0
        with np.errstate(divide="ignore"):  # A kind may be impossible for one of the two records.
            for found, own in ((u, self._pmfs[2]), (v, self._pmfs[3])):
                found[possible] = np.log(own[possible] / self._hiding[possible])
        return u, v

    def _statistics(self, counts: Floats) -> Floats:
        """Return the statistic of every run; ``counts`` has shape (runs, kinds)."""
        u, v = (log_sum(ratio, counts, self.senders.times) for ratio in self._ratios)
        return np.asarray(u - v)


def flip_cost(width: int, messages: float) -> float:
    """Return the approximate nanoseconds to draw and count messages of ``width`` positions."""
    wide = row_bytes(width)
    return (15.0 if wide == 1 else 60.0 * wide) * messages


def log_sum(log_ratios: Floats, counts: Floats, times: int) -> Floats:
    """Return log e_k for k = ``times``, shape (runs,); see the top of this file.

    ``log_ratios[kind]`` is the logarithm of w, and ``counts[run, kind]`` the number of messages of
    this kind. Every run has at least ``times`` messages.
    """
    with np.errstate(divide="ignore"):
        terms = log_ratios + np.log(counts)
    first = np.logaddexp.reduce(terms, axis=1)
    return first if times == 1 else _coefficient(log_ratios, counts, times, first)


def _coefficient(log_ratios: Floats, counts: Floats, times: int, first: Floats) -> Floats:
    # The logarithm of t = k / e_1, which makes the mean of the sum about k.
    tilt = np.log(times) - first
    places = np.arange(times + 1)
    total = np.zeros((len(counts), times + 1))
    total[:, 0] = 1.0
    scale = -times * tilt
    for kind, log_ratio in enumerate(log_ratios):
        count = counts[:, kind]
        log_odds = (log_ratio + tilt)[:, None]
        some = np.minimum(places, count[:, None])
        combinations = gammaln(count + 1.0)[:, None] - gammaln(some + 1.0)
        combinations -= gammaln(count[:, None] - some + 1.0)
        log_both = np.logaddexp(0.0, log_odds)
        logs = combinations + some * log_odds - count[:, None] * log_both
        one = np.where(places <= count[:, None], np.exp(logs), 0.0)
        scale = scale + count * log_both[:, 0]
        joined = np.zeros_like(total)
        for place in places:
            joined[:, place:] += total[:, : times + 1 - place] * one[:, place, None]
        total = joined
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total[:, times]) + scale)
