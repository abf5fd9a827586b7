"""Sets in clear by enumeration, from the definition alone: fakes over cells, by the oracle."""

from fractions import Fraction
from itertools import combinations

import numpy as np

from helpers import contracts
from mixtally.accounting.divergence.set_in_clear import HiddenSet
from mixtally.device.client.draw import RandomWords, draw_record
from mixtally.device.contract.part import read_part
from oracle import Collection
from oracle import worst as largest


def cells_of(bins, size, members, drawn=draw_record):
    """The cells that a device names for a set, in the order of its messages."""
    part = read_part(contracts.builtins_of(contracts.uniform(bins, most_set=size, whole=1)), "part")
    sent = drawn(part, members, RandomWords(lambda count: bytes(8 * count)))
    return [int.from_bytes(message, "little") for message in sent]


def padded_alike(part, members, words):
    """Planted: all pads are one bin more."""
    sent = [one.to_bytes(1, "little") for one in members]
    return sent + [part.bins.to_bytes(1, "little")] * (part.record_messages - len(members))


def hidden(size, cells, fakes, people=0, coin=0.0):
    """A set of ``size`` among so many fakes and those of people's coins."""
    brought = [(many, chance) for many, chance in ((fakes, 1.0), (people, coin)) if many]
    return HiddenSet(size, cells, tuple(brought))


def every_record(bins, size, drawn=draw_record):
    """The cells of every set of at most ``size`` of so many bins."""
    sets = [chosen for many in range(size + 1) for chosen in combinations(range(bins), many)]
    return [cells_of(bins, size, chosen, drawn) for chosen in sets]


def among(records, laws):
    """Records that are sent whole among independent fakes, whose ``laws`` are of packed counts."""
    sights = [sum(1 << 8 * cell for cell in one) for one in records]
    columns = [*dict.fromkeys([*sights, *(seen for law in laws for seen in law)])]
    matrix = [[int(column == own) for column in columns] for own in sights]
    fakes = [[law.get(column, 0) for column in columns] for law in laws]
    return Collection(matrix, fakes=fakes, seen=columns)


def fake(cells, weights=None):
    """The law of a fake that is in each cell with the same chance, or with these."""
    chances = [Fraction(1, cells)] * cells if weights is None else weights
    return {1 << 8 * cell: chance for cell, chance in enumerate(chances)}


def divergences(u, v, cells, fakes, grow, weights=None):
    """Of two records' cells, either way."""
    of = among([u, v], [fake(cells, weights)] * fakes)
    return tuple(largest(of, [grow], pairs=[way])[0] for way in ((0, 1), (1, 0)))


def disjoint(size, cells, fakes, grow):
    """That of two records that share no cell."""
    return max(divergences(range(size), range(size, 2 * size), cells, fakes, grow))


def worst(bins, size, fakes, grow, drawn=draw_record):
    """The largest of all pairs of sets, both directions, as devices send them."""
    records = every_record(bins, size, drawn)
    return largest(among(records, [fake(bins + size)] * fakes), [grow])[0]


def two_of(fakes, cells, epsilon):
    """delta(epsilon) of disjoint sets of two, by sums over the counts of four cells; in floats."""
    logs = np.cumsum(np.log(np.arange(1, fakes + 1))) if fakes else np.zeros(0)
    logs = np.concatenate([[0.0], logs])
    a, b, c, d = np.ogrid[tuple(slice(0, fakes + 1) for _ in range(4))]
    rest = fakes - a - b - c - d
    inside = rest >= 0 if cells > 4 else rest == 0
    left = np.maximum(rest, 0)
    weight = logs[fakes] - logs[a] - logs[b] - logs[c] - logs[d] - logs[left]
    share = np.log(1.0 - 4.0 / cells) * left if cells > 4 else 0.0
    chance = np.where(inside, np.exp(weight - np.log(cells) * (fakes - left) + share), 0.0)
    # With u = {0, 1}: fakes (a, b, c, d) show (a + 1, b + 1, c, d); v shows that by (a + 1, b + 1,
    # c - 1, d - 1), whose chance is that of u times c d / ((a + 1)(b + 1)).
    lost = 1.0 - np.exp(epsilon) * c * d / ((a + 1.0) * (b + 1.0))
    return float((chance * np.maximum(lost, 0.0)).sum())
