"""The attack ``selection``: suppress the bundles of devices whose coin gave a fake.

If devices toss a coin for one more fake, a certificate averages over the number of fakes. So the
certificate assumes that bundles arrive independently of the coins. Let U people take part, and let
the certificate rely on S of them. Each draws w certain fakes, and one more with probability phi. An
attacker who sees the coins and may suppress U - S bundles suppresses bundles with a coin's fake
first.
The number of fakes that arrive is then

    K = S w + max(0, Bin(U, phi) - (U - S))

instead of S w + Bin(S, phi). K is 0 if w = 0 and at most U - S coins gave a fake.

There are two such attackers.

The first one *sees lengths*, like an attacker who cuts connections. With the code of devices, this
module seals bundles with and without a coin's fake, and compares their lengths. Padding should make
the lengths equal. Then the attacker cannot distinguish the bundles, and suppresses any U - S of
them. If the lengths differ, the number of fakes that arrive is K. In both cases, the result is
compared with the guarantee.

The second one is a first mix that *opens* its layer of the envelopes and recognizes padding. The
certificate excludes this attacker: it assumes that the first honest mix receives people's messages
independently of their coins. So the result is compared with the remaining epsilon: the least
epsilon for which the fakes that almost surely arrive are enough. If no fake almost surely arrives,
nothing is guaranteed. With one mix there is no such attack, because the first mix is also the last;
``collusion`` measures that case.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil, log, sqrt
from typing import Any

import numpy as np
from msgspec import structs

from mixtally.device.wire.bundle import write_bundle
from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.suite import SUITES
from mixtally.lab.attacks.device import Device, bare_part
from mixtally.lab.attacks.game import quick_runs
from mixtally.lab.attacks.game_outcomes import attack_outcomes
from mixtally.lab.attacks.games import game_among
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.outcome import AttackLab, Hypothesis, Outcome
from mixtally.lab.attacks.outsiders import TEST
from mixtally.lab.attacks.remaining_epsilon import none_if_infinite, remaining_epsilon
from mixtally.lab.attacks.senders import SPAN_PEOPLE, Senders
from mixtally.lab.attacks.target import Target
from mixtally.model.contract import OwnFakes, Part
from mixtally.primitives.bits import Counts, Rows, spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.fixed_point import SCALE
from mixtally.server.node.wrapping import secret_bytes

NAME = "selection"
_RARE = 1e-3
"""The share of delta for the event that fewer fakes arrive than the remaining epsilon assumes."""
_COIN_COST = 20.0
"""The nanoseconds that a device's coin costs in a game by the code."""


@dataclass(frozen=True)
class SelectedSenders(Senders):
    """Senders after the attack: bundles with a coin's fake are suppressed first.

    ``honest`` people arrive, out of ``users`` who take part.
    """

    users: int = 0

    @property
    def kept_back(self) -> int:
        """The number of suppressed bundles."""
        return self.users - self.honest

    @property
    def fakes(self) -> int:
        """The number of fakes that arrive if the number of fakes from coins equals its mean."""
        whole, coin = self.own.whole, self.own.coin
        return self.honest * whole + max(0, ceil(self.users * coin / SCALE) - self.kept_back)

    def draw_fake_numbers(self, runs: int, draw: Binomials) -> Counts:
        """Return the number of fakes that arrive in each run, shape (runs,)."""
        tossed = draw(np.full(runs, self.users, dtype=np.int64), self.own.coin / SCALE)
        return self.honest * self.own.whole + np.maximum(0, tossed - self.kept_back)

    def draw_own_fakes(self, part: Part, chance: Chance, device: Device) -> Iterator[Rows]:
        """Yield the fakes that arrive in one run, without those of suppressed bundles."""
        own, tossed = self.own, self.kept_back
        certain = self.kept_back * own.whole
        for span in spans(self.users, SPAN_PEOPLE):
            people = span.stop - span.start
            rows, _ = device.fakes(part, people, chance)
            coins = min(tossed, max(0, len(rows) - people * own.whole))
            whole = min(certain, people * own.whole)
            tossed, certain = tossed - coins, certain - whole
            yield rows[: len(rows) - coins - whole]  # All fakes have the same distribution.

    @property
    def own(self) -> OwnFakes:
        """The fakes that each device adds; this attack needs devices that toss coins for fakes."""
        assert self.part.own is not None
        return self.part.own


def has_coins(target: Target) -> bool:
    """Return whether people's devices toss coins in this target."""
    return any(part.own is not None and part.own.coin for part in target.parts)


def run(target: Target, lab: AttackLab) -> list[Outcome]:
    """Run the attack that sees lengths, and the attack by a first mix that opens its layer."""
    lab = replace(lab, error=lab.error / (1 + (target.hops > 1)))
    found = _attack_by_length(target, lab)
    return found if target.hops == 1 else [*found, *_attack_by_first_mix(target, lab)]


def _attack_by_length(target: Target, lab: AttackLab) -> list[Outcome]:
    lengths = {part: measure_bundle_lengths(part, lab) for part in target.distinct_parts().values()}
    shown = {part for part, own in lengths.items() if len(set(own)) > 1}
    case = "keeps back long bundles" if shown else "sees lengths, which are all equal"
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
    promise: Hypothesis,
    sender_counts: Mapping[Senders, int],
    target: Target,
    lab: AttackLab,
    **more: Any,
) -> list[Outcome]:
    game, users = game_among(sender_counts, target.epsilon), target.expected.fakes
    # The cost of a game counts only messages that arrive, but every device tosses a coin.
    if lab.runs is None:
        cost = _COIN_COST * users * sum(sender_counts.values())
        lab = replace(lab, runs=quick_runs(game.setting.cost + cost))
    kept_back = users - target.certain.fakes
    more |= {"users": users, "kept_back": kept_back}
    return [
        replace(
            one,
            numbers=one.numbers | more,
            played=f"{one.played}; {kept_back:,} of {users:,} bundles may be kept back",
        )
        for one in attack_outcomes(promise, game, lab)
    ]


def measure_bundle_lengths(part: Part, lab: AttackLab) -> tuple[int, ...]:
    """Return the length of a bundle of this part without a coin's fake, and with one.

    The code of devices seals both bundles, for one hop and the collector.
    """
    suite, bare = SUITES[1], bare_part(part)
    keys = [suite.configuration(secret_bytes(lab.chance, suite.private_bytes)) for _ in range(2)]
    sealer = Sealer(suite, keys, bytes(32))
    message = bytes(part.layout.message_bytes)
    return tuple(
        len(write_bundle([lab.device.sealed(sealer, 0, bare, [message] * count)]))
        for count in range(part.least, part.most + 1)
    )


def epsilon_of_certain_fakes(
    sender_counts: Mapping[Senders, int], delta: float, lab: AttackLab
) -> float:
    """Return an upper bound of epsilon at ``delta`` from the fakes that almost surely arrive.

    For each message, let r be the probability that fewer than k fakes arrive. Adding fakes is
    post-processing. So delta(epsilon) is at most the delta(epsilon) with exactly k fakes, plus r.
    The numbers k are selected so that the r of all messages add up to at most ``_RARE`` times
    delta. The result may be infinite.
    """
    rare = _RARE * delta / sum(sender_counts.values())
    certain = {_certain_senders(who, rare): times for who, times in sender_counts.items()}
    return remaining_epsilon(certain, delta * (1.0 - _RARE), lab.accountant)


def _certain_senders(senders: Senders, rare: float) -> Senders:
    """Return the senders with only as many fakes as arrive except with probability ``rare``."""
    if not isinstance(senders, SelectedSenders):
        return senders
    own = senders.own
    coins = max(0, _least_coins(senders.users, own, rare) - senders.kept_back)
    one_fake_each = structs.replace(senders.part, own=OwnFakes(own.record, 1, 0))
    return Senders(one_fake_each, senders.people, senders.honest * own.whole + coins, senders.mixes)


def _select_senders(senders: Senders, users: int) -> Senders:
    """Return the senders after the attack; unchanged if no coin is tossed."""
    if senders.part.own is None or not senders.part.own.coin:
        return senders
    return SelectedSenders(senders.part, senders.people, senders.honest, senders.mixes, users)


def _least_coins(users: int, own_fakes: OwnFakes, rare: float) -> int:
    """Return a lower bound of the number of fakes from coins, by Bernstein's inequality.

    The bound is wrong with probability at most ``rare``.
    """
    nats, mean = log(1.0 / rare), users * own_fakes.coin / SCALE
    spread = 2.0 * nats * mean * (1.0 - own_fakes.coin / SCALE)
    # Rounded down, which is the safe direction.
    return max(0, int(mean - nats / 3.0 - sqrt(nats * nats / 9.0 + spread)))
