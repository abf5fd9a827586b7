"""selection: keep back the bundles of devices that drew a coin's fake, and let all others arrive.

Where a device tosses a coin for one more fake, a certificate averages over the number of fakes, and
so it counts on people who arrive whatever their coins are. Let U people take part, S of whom the
certificate counts on, each with w fakes for sure and one more with chance phi. Whoever sees the
coins and may lose U - S bundles keeps back those with a coin's fake first. What arrives is

    K = S w + max(0, Bin(U, phi) - (U - S))

fakes in place of S w + Bin(S, phi): none, where w is 0 and no more than U - S coins gave a fake.

Two attackers play it. One *sees lengths*, as whoever cuts connections does. The attack seals
bundles with and without a coin's fake by the code of devices and compares their lengths. If they
are equal, which is what padding is for, all bundles are alike to this attacker: any U - S of them
are kept back, and the promise is held against that. If they differ, K is as above.

The other is a first mix that *opens* its layer and finds the padding. The certificate does not
speak of this one: it assumes that the first honest mix receives people's messages whatever they
drew. So its game is held against what is left: the least epsilon at which the fakes that come
almost surely are enough, and no promise where none come. A plan with one mix has no such row: its
first mix is also its last, and ``collusion`` shows what is left of that.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil, log, sqrt
from typing import Any

import msgspec
import numpy as np
from msgspec import structs

from mixtally.device.contract.part import read_part
from mixtally.device.wire.bundle import write_bundle
from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.suite import SUITES
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.game import quick_runs
from mixtally.lab.attacks.game_outcomes import attack_outcomes
from mixtally.lab.attacks.games import game_among
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.outcome import AttackLab, Hypothesis, Outcome
from mixtally.lab.attacks.outsiders import TEST
from mixtally.lab.attacks.remaining_epsilon import none_if_infinite, remaining_epsilon
from mixtally.lab.attacks.senders import Senders
from mixtally.lab.attacks.target import Target
from mixtally.model.contract import OwnFakes, Part
from mixtally.model.contract_json import stringify_large_integers
from mixtally.primitives.bits import Counts, Rows, spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.fixed_point import SCALE
from mixtally.server.node.wrapping import secret_bytes

NAME = "selection"
_RARE = 1e-3
"""Of delta: how often fewer fakes may come than what is left counts on."""
_COIN_COST = 20.0
"""Nanoseconds of a device's coin, in a game played by the code."""
_SPAN_PEOPLE = 1 << 18


@dataclass(frozen=True)
class SelectedSenders(Senders):
    """Senders of whom only those arrive whose coins gave no fake, as far as these are enough.

    where
      honest   people who arrive
      users    people who take part
    """

    users: int = 0

    @property
    def kept_back(self) -> int:
        """Return how many bundles do not arrive."""
        return self.users - self.honest

    @property
    def fakes(self) -> int:
        """Return how many fakes arrive, for as many coins with a fake as there are on average."""
        whole, coin = self._own.whole, self._own.coin
        return self.honest * whole + max(0, ceil(self.users * coin / SCALE) - self.kept_back)

    def draw_fake_numbers(self, runs: int, draw: Binomials) -> Counts:
        """Draw how many fakes arrive in each of ``runs`` runs, shape (runs,)."""
        tossed = draw(np.full(runs, self.users, dtype=np.int64), self._own.coin / SCALE)
        return self.honest * self._own.whole + np.maximum(0, tossed - self.kept_back)

    def draw_own_fakes(self, part: Part, chance: Chance, device: Device) -> Iterator[Rows]:
        """Yield the fakes that arrive in one run, those of bundles that are kept back left out."""
        own, tossed = self._own, self.kept_back
        certain = self.kept_back * own.whole
        for span in spans(self.users, _SPAN_PEOPLE):
            people = span.stop - span.start
            rows, _ = device.fakes(part, people, chance)
            coins = min(tossed, max(0, len(rows) - people * own.whole))
            whole = min(certain, people * own.whole)
            tossed, certain = tossed - coins, certain - whole
            yield rows[: len(rows) - coins - whole]  # all are drawn alike, in whatever order

    @property
    def _own(self) -> OwnFakes:
        assert self.part.own is not None
        return self.part.own


def has_coins(target: Target) -> bool:
    """Return whether people's devices toss coins in this target."""
    return any(part.own is not None and part.own.coin for part in target.parts)


def run(target: Target, lab: AttackLab) -> list[Outcome]:
    """Play the game of who sees lengths, and that of a first mix that opens its layer."""
    lab = replace(lab, error=lab.error / (1 + (target.hops > 1)))
    found = _attack_by_length(target, lab)
    return found if target.hops == 1 else [*found, *_attack_by_first_mix(target, lab)]


def _attack_by_length(target: Target, lab: AttackLab) -> list[Outcome]:
    lengths = {
        name: measure_bundle_lengths(part, lab) for name, part in target.distinct_parts().items()
    }
    shown = {part for name, part in target.distinct_parts().items() if len(set(lengths[name])) > 1}
    case = "keeps back long bundles" if shown else "sees lengths, which are all alike"
    behind = {
        _select_senders(who, target.expected.fakes) if who.part in shown else who: times
        for who, times in target.senders_among(target.certain).items()
    }
    promise = Hypothesis(NAME, case, target.epsilon, target.delta, TEST)
    return _play_selection(
        promise, behind, target, lab, bundle_bytes=sorted({*sum(lengths.values(), ())})
    )


def _attack_by_first_mix(target: Target, lab: AttackLab) -> list[Outcome]:
    behind = {
        _select_senders(who, target.expected.fakes): times
        for who, times in target.senders_among(target.certain).items()
    }
    promise = Hypothesis(
        NAME,
        "the first mix keeps back bundles without padding",
        none_if_infinite(epsilon_of_certain_fakes(behind, target.delta, lab)),
        target.delta,
        TEST,
    )
    return _play_selection(promise, behind, target, lab)


def _play_selection(
    promise: Hypothesis, behind: Mapping[Senders, int], target: Target, lab: AttackLab, **more: Any
) -> list[Outcome]:
    game = game_among(behind, target.epsilon)
    if lab.runs is None:  # a game counts what arrives, and everybody tosses a coin
        cost = _COIN_COST * target.expected.fakes * sum(behind.values())
        lab = replace(lab, runs=quick_runs(game.setting.cost + cost))
    more |= {"users": target.expected.fakes, "kept_back": _count_kept_back(target)}
    return [
        replace(
            one, numbers=one.numbers | more, played=f"{one.played}; {_describe_selection(target)}"
        )
        for one in attack_outcomes(promise, game, lab)
    ]


def _describe_selection(target: Target) -> str:
    return f"{_count_kept_back(target):,} of {target.expected.fakes:,} bundles may be kept back"


def _count_kept_back(target: Target) -> int:
    return target.expected.fakes - target.certain.fakes


def measure_bundle_lengths(part: Part, lab: AttackLab) -> tuple[int, ...]:
    """Return the lengths of bundles of this part without and with a coin's fake.

    The code of devices seals them, for one hop and the collector.
    """
    suite, bare = SUITES[1], read_part(stringify_large_integers(msgspec.to_builtins(part)), "part")
    keys = [suite.configuration(secret_bytes(lab.chance, suite.private_bytes)) for _ in range(2)]
    sealer = Sealer(suite, keys, bytes(32))
    message = bytes(part.layout.message_bytes)
    return tuple(
        len(write_bundle([lab.device.sealed(sealer, 0, bare, [message] * count)]))
        for count in range(part.least, part.most + 1)
    )


def epsilon_of_certain_fakes(behind: Mapping[Senders, int], delta: float, lab: AttackLab) -> float:
    """Return an epsilon that the fakes which almost surely arrive keep at ``delta``.

    Let k be a number of fakes that fewer than k come with chance r. Then delta(epsilon) is at most
    delta(epsilon beside k fakes) + r: fakes are a post-processing of fewer fakes. The r of all
    messages add up to at most ``_RARE`` of delta. The result may be infinite.
    """
    rare = _RARE * delta / sum(behind.values())
    certain = {_certain_senders(who, rare): times for who, times in behind.items()}
    return remaining_epsilon(certain, delta * (1.0 - _RARE), lab.accountant)


def _certain_senders(who: Senders, rare: float) -> Senders:
    """Return senders of a fixed number of fakes, fewer than which come with chance ``rare``."""
    if not isinstance(who, SelectedSenders):
        return who
    own = who.part.own
    assert own is not None
    fakes = who.honest * own.whole + max(0, _least_coins(who.users, own, rare) - who.kept_back)
    alike = structs.replace(who.part, own=OwnFakes(own.record, 1, 0))
    return Senders(alike, who.people, fakes, who.mixes)


def _select_senders(who: Senders, users: int) -> Senders:
    """Return the same senders after the selection; themselves where no coin is tossed."""
    if who.part.own is None or not who.part.own.coin:
        return who
    return SelectedSenders(who.part, who.people, who.honest, who.mixes, users)


def _least_coins(users: int, own: OwnFakes, rare: float) -> int:
    """Return how many coins give a fake but for a chance of ``rare``, by Bernstein's inequality."""
    nats, mean = log(1.0 / rare), users * own.coin / SCALE
    spread = 2.0 * nats * mean * (1.0 - own.coin / SCALE)
    return max(0, int(mean - nats / 3.0 - sqrt(nats * nats / 9.0 + spread)))
