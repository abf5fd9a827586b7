"""The flow: randomizing beside pure-ldp, kernels beside what the machine can do."""

import numpy as np
from pure_ldp.frequency_oracles.unary_encoding import UEClient

from bench.clock import seconds
from mixtally.data.flights import flights
from mixtally.estimate.debias import estimate_counts
from mixtally.ground.bits import column_counts, spans
from mixtally.ground.chance import SecureChance
from mixtally.ground.fixed import MOST_THRESHOLD
from mixtally.ground.skipping import coin_positions
from mixtally.ground.slicing import coin_words
from mixtally.mixing import shuffle
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.calibrate import calibrate
from mixtally.randomize import fakes, reports
from mixtally.records.mechanism import Parameter
from mixtally.records.mechanism.named import flip_blank
from mixtally.simulation.simulate import play
from mixtally.tally.fold import tally_messages

_PEER_REPORTS = 3000


def rows() -> list[tuple[str, str, str]]:
    """Benchmark lines: what, measured, ratio."""
    return [*_flights(), *_kernels()]


def _flights() -> list[tuple[str, str, str]]:
    population, chance = flights(), SecureChance()
    codes, bins = population.codes, population.question.bins
    users = len(codes)
    blank = Record.of(flip_blank(bins=bins, fakes=users, threshold=MOST_THRESHOLD))
    mechanism = calibrate(Accountant(), blank, Parameter.FLIP, 1.0, 1e-6).message.mechanism
    ours = seconds(lambda: reports(mechanism, codes, chance)) / users
    both = seconds(lambda: (reports(mechanism, codes, chance), fakes(mechanism, users, chance)))
    client = UEClient(epsilon=1.0, d=bins, use_oue=True, index_mapper=lambda x: x)
    some = codes[:_PEER_REPORTS].tolist()
    theirs = seconds(lambda: [client.privatise(c) for c in some], 3) / len(some)
    rows = np.concatenate([reports(mechanism, codes, chance), fakes(mechanism, users, chance)])
    mixing = seconds(lambda: shuffle(rows, chance))
    counting = seconds(lambda: tally_messages(mechanism.layout, rows))
    seen = tally_messages(mechanism.layout, rows)
    whole = seconds(lambda: play(mechanism, codes, chance), 3)
    intervals = seconds(lambda: estimate_counts(mechanism, seen, users))
    return [
        ("randomize a flight (flip-blank)", f"{1e9 * ours:.1f} ns", ""),
        ("  pure-ldp OUE, same flight", f"{1e9 * theirs:,.0f} ns", _times(theirs / ours)),
        (
            "  ours with one fake each",
            f"{1e9 * both / users:.1f} ns",
            _times(theirs * users / both),
        ),
        ("shuffle 673,552 messages", f"{1e3 * mixing:.1f} ms", ""),
        ("tally them", f"{1e3 * counting:.1f} ms", f"{rows.nbytes / counting / 1e9:.2f} GB/s"),
        ("estimate with intervals", f"{1e3 * intervals:.1f} ms", ""),
        ("the whole collection", f"{1e3 * whole:.0f} ms", f"{users / whole / 1e6:.2f} M users/s"),
    ]


def _times(ratio: float) -> str:
    return f"peer takes {ratio:,.0f} times as long"


def _kernels() -> list[tuple[str, str, str]]:
    chance, words = SecureChance(), 1 << 20
    stream = seconds(lambda: [chance.words(1 << 13) for _ in range(128)])
    big = np.zeros((1 << 19, 128), dtype=np.uint8)
    flat = big.view(np.uint64).ravel()
    reading = seconds(lambda: np.bitwise_or.reduce(flat))
    counting = seconds(lambda: [column_counts(big[s], 1024) for s in spans(len(big), 8192)])
    out = [
        ("keystream", f"{8 * words / stream / 1e9:.1f} GB/s", ""),
        ("count columns of packed bits", f"{big.nbytes / counting / 1e9:.2f} GB/s",
         f"{100 * reading / counting:.0f} % of reading them"),
    ]  # fmt: skip
    out += [_coins(chance, q, words) for q in (0.3, 0.02, 1e-3, 1e-5)]
    return out


def _coins(chance: SecureChance, q: float, words: int) -> tuple[str, str, str]:
    threshold = int(q * 2**64)
    plain = seconds(lambda: np.packbits(chance.words(words) < np.uint64(threshold)), 3) / words
    if q >= 0.01:
        name, fast = "bit-slicing", seconds(lambda: coin_words(chance, threshold, words), 3)
    else:
        name, fast = "skipping", seconds(lambda: coin_positions(chance, threshold, 64 * words), 3)
    each = fast / (64 * words)
    ratio = f"{plain / each:,.0f} times a compared word a bit"
    return f"{name}, q = {q:g}", f"{1e-9 / each:,.1f} Gbit/s", ratio
