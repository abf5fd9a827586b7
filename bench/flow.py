"""The flow: randomizing beside pure-ldp, and what comes after it."""

import numpy as np
from pure_ldp.frequency_oracles.unary_encoding import UEClient

from bench.clock import seconds
from mixtally.data.flights import flights
from mixtally.estimate.debias import estimate_counts
from mixtally.ground.chance import SecureChance
from mixtally.ground.fixed import MOST_THRESHOLD
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
