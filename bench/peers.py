"""Randomizing, tallying and estimating, compared with pure-ldp, multi-freq-ldpy and plain NumPy."""

import os
import sys
from collections.abc import Callable, Iterator

import numpy as np
from msgspec.structs import replace
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

from bench.clock import both, choose_size
from bench.row import BenchmarkRow, build_row
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.device.client.draw import RandomWords, draw_message
from mixtally.device.contract.part import ContractPart, Layout, Recipe
from mixtally.model import contract
from mixtally.model.mechanism import Parameter, Shuffled
from mixtally.model.mechanism.presets import flip_blank
from mixtally.planning.layouts import plain_part
from mixtally.primitives import compiled
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.fixed_point import MOST_THRESHOLD, SCALE
from mixtally.primitives.memo import Memo
from mixtally.protocol.estimate.debias import estimate_counts
from mixtally.protocol.randomize import draw_part_fakes, randomize_records
from mixtally.protocol.tally.fold import tally_messages

PLANNED = {105: (1000, 2000), 1000: (300, 600)}
"""Target ratios, at least and hoped, by the number of bins or for the one case."""
DENSE = {100: (150, 300), 1000: (60, 100)}
BATCH = (5, 12)
COUNTED = (300, 500)
ONE = (2, 4)
_Q = 0.27
_USERS = choose_size(1_000_000, 2000)


def rows() -> list[BenchmarkRow]:
    """Return the rows of the benchmark table."""
    return [*_measure_planned(), *_dense(), _measure_counts(), _one(), *_counted_compiled()]


def _codes(users: int, bins: int) -> np.ndarray:
    return (np.arange(users, dtype=np.int64) * 2654435761 >> 7) % bins


def _calls(bins: int, some: int) -> tuple[UEClient, list[int]]:
    client = UEClient(epsilon=1.0, d=bins, use_oue=True, index_mapper=lambda x: x)
    return client, _codes(some, bins).tolist()


def _mechanism(bins: int) -> Shuffled:
    """Return the mechanism with the flips of a plan for (1, 1e-6), and one fake per person."""
    blank = flip_blank(bins=bins, fakes=_USERS, threshold=MOST_THRESHOLD)
    return calibrate(Accountant(), Record.of(blank), Parameter.FLIP, 1.0, 1e-6).message.mechanism


def _part(mechanism: Shuffled) -> contract.Part:
    """Return the part that sends dense bits, with one blank per person."""
    own = contract.OwnFakes(contract.FakeRecord.BLANK, 1, 0)
    return replace(plain_part(mechanism.bins, 1, mechanism.flip_threshold or 0), own=own)


def _measure_planned() -> Iterator[BenchmarkRow]:
    """Yield the rows at the flips of a plan."""
    chance = SecureChance()
    for bins, aims in PLANNED.items():
        part, memo = _part(_mechanism(bins)), Memo(1_000_000)
        users, some = _USERS, choose_size(1000, 50)
        codes, (client, few) = _codes(users, bins), _calls(bins, some)
        took = both(
            lambda p=part, c=codes, o=memo: randomize_records(p, c, chance, o),
            lambda c=client, f=few: [c.privatise(one) for one in f],
        )
        yield build_row(
            f"randomize at the plan's q, d = {bins:,}",
            f"{users / took.ours / 1e6:.1f} M reports/s",
            "times pure-ldp OUE",
            took.ratio * users / some,
            *aims,
        )


def _dense() -> Iterator[BenchmarkRow]:
    chance = SecureChance()
    for bins, aims in DENSE.items():
        part = plain_part(bins, 1, int(_Q * SCALE))
        users, some = choose_size(4_000_000, 10_000) // bins, choose_size(1000, 50)
        codes, (client, few) = _codes(users, bins), _calls(bins, some)
        ours = _work(part, codes, chance)
        took = both(ours, lambda c=client, f=few: [c.privatise(one) for one in f])
        yield build_row(
            f"randomize, q = {_Q}, d = {bins:,}",
            f"{users * bins / took.ours / 1e9:.2f} Gbit/s",
            "times pure-ldp OUE",
            took.ratio * users / some,
            *aims,
        )
        took = both(ours, lambda c=codes, b=bins: _batch(c, b))
        yield build_row("  relative to a batch in NumPy", "", "times", took.ratio, *BATCH)
        took = both(ours, lambda f=few, b=bins: [UE_Client(one, b, 1.0, True) for one in f])
        yield BenchmarkRow(
            "  relative to multi-freq-ldpy", "", f"{took.ratio * users / some:,.0f} times"
        )


def _work(part: contract.Part, codes: np.ndarray, chance: SecureChance) -> Callable[[], object]:
    return lambda: randomize_records(part, codes, chance)


_PLAIN = np.random.default_rng(0)  # noqa: TID251  (a peer: what people do)


def _batch(codes: np.ndarray, bins: int) -> np.ndarray:
    ones = np.zeros((len(codes), bins), dtype=bool)
    ones[np.arange(len(codes)), codes] = True
    return np.packbits(ones ^ (_PLAIN.random(ones.shape) < _Q), axis=1)


def _measure_counts(how: str = "") -> BenchmarkRow:
    """Return the row of a tally at the flips of a plan.

    Ours has twice as many messages, because people send fakes.
    """
    bins, users, some, chance = 100, _USERS, choose_size(2000, 100), SecureChance()
    mechanism = _mechanism(bins)
    part = _part(mechanism)
    sent = (
        randomize_records(part, _codes(users, bins), chance),
        draw_part_fakes(part, users, chance)[0],
    )
    messages = np.concatenate(sent)
    client, few = _calls(bins, some)
    theirs = [client.privatise(one) for one in few]

    def ours() -> object:
        return estimate_counts(mechanism, tally_messages(part.layout, messages), users)

    def peer() -> object:
        server = UEServer(epsilon=1.0, d=bins, use_oue=True, index_mapper=lambda x: x)
        server.aggregate_all(theirs)
        return server.estimate_all(range(bins), suppress_warnings=True)

    took = both(ours, peer)
    return build_row(
        f"tally and estimate at the plan's q, {users:,} x {bins}{how}",
        f"{users / took.ours / 1e6:.1f} M reports/s",
        "times pure-ldp",
        took.ratio * users / some,
        *COUNTED,
    )


def _counted_compiled() -> Iterator[BenchmarkRow]:
    """Yield the row with compiled kernels.

    It is the last row, because loaded kernels are used by all code.
    """
    if loaded := compiled.load_kernels(float("inf")):
        yield _measure_counts(", compiled")
        del sys.modules[loaded.__name__]


def _one() -> BenchmarkRow:
    """Return the row of one report of a device, without sealing."""
    bins, words = 100, RandomWords(lambda n: os.urandom(8 * n))  # noqa: TID251  (as a device has them)
    layout = Layout("bits", bins, None)
    part = ContractPart(bins, 1, int(_Q * SCALE), None, Recipe("none"), layout, 1)
    (client, _), calls = _calls(bins, 1), choose_size(2000, 20)
    took = both(
        lambda: [draw_message(part, [7], words) for _ in range(calls)],
        lambda: [client.privatise(7) for _ in range(calls)],
    )
    shown = f"{1e6 * took.ours / calls:.0f} us"
    return build_row(f"one report, d = {bins}", shown, "times pure-ldp's call", took.ratio, *ONE)
