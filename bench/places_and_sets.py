"""Places on a map and sets of two items, compared with optimized unary encoding of pure-ldp."""

import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

from mixtally.lab.data.flights import flights
from mixtally.lab.data.places import build_grid
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.baskets import count_pairs, find_sets, group_rows
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.run import simulate_release
from mixtally.model.guarantee import Guarantee
from mixtally.planning import PlanRequest, choose
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.draw import draw_below

sys.path.append(str(Path(__file__).parents[1] / "examples"))
from map import LOWER_48, located

_USERS, _TOP, _EPSILON, _DELTA = 20_000, 20, 1.0, 1e-6


def rows() -> list[tuple[str, str, str]]:
    """Return the benchmark rows: name, measurement, ratio."""
    return [*_places(), *_pairs()]


def _places() -> list[tuple[str, str, str]]:
    place = build_grid(LOWER_48, 2)
    whole = located(flights(), place)
    codes = whole.codes[_some(len(whole.codes))]
    truth = np.bincount(codes, minlength=whole.question.bins)
    crowd = Population(question=whole.question, records=codes)
    start, chance = time.perf_counter(), SecureChance()
    promised = Guarantee(epsilon=_EPSILON, delta=_DELTA)
    plan = choose(PlanRequest(question=crowd.question, guarantee=promised, users=_USERS)).plan
    ours = _error(simulate_release(plan, crowd, Lab(chance)).result.estimate.counts - truth)
    took = time.perf_counter() - start
    found, seconds = _peer(codes.tolist(), crowd.question.bins)
    theirs = _error(found - truth)
    return [
        (f"{len(truth):,} hexagons, {_USERS:,} people, epsilon {_EPSILON:g}",
         f"error {ours:,.1f} counts", f"{took:.1f} s"),
        ("  pure-ldp OUE, no mixes", f"error {theirs:,.1f} counts",
         f"{theirs / ours:,.0f} times the error, {seconds / took:,.0f} times as long"),
    ]  # fmt: skip


def _pairs() -> list[tuple[str, str, str]]:
    whole = group_rows(flights(), 2)
    boards = Population(question=whole.question, records=whole.records[_some(whole.users)])
    both = np.triu(count_pairs(boards), 1)
    first = np.argsort(-both, axis=None, kind="stable")[:_TOP]
    most = {(int(i), int(j)) for i, j in zip(*np.unravel_index(first, both.shape), strict=True)}
    start = time.perf_counter()
    wish = PlanRequest(
        question=boards.question,
        guarantee=Guarantee(epsilon=_EPSILON, delta=_DELTA),
        users=_USERS,
        protocol="flip-blank",
    )
    found_ones = find_sets(choose(wish).plan, boards, Lab(SecureChance()))
    named = {one.items for one in found_ones.sets[2][:_TOP]}
    took = time.perf_counter() - start
    # The peer has no sets, so a board is one value out of all pairs of airports.
    pairs = list(combinations(range(-1, boards.question.bins), 2))
    number: dict[tuple[int, ...], int] = {pair: i for i, pair in enumerate(pairs)}
    packed = np.asarray(boards.records, dtype=np.uint8)
    held = np.unpackbits(packed, axis=1, count=boards.question.bins, bitorder="little")
    codes = [number[(*[-1] * (2 - sum(row)), *np.flatnonzero(row).tolist())] for row in held]
    found, seconds = _peer(codes, len(pairs))
    ranked = [pairs[i] for i in np.argsort(-found).tolist() if pairs[i][0] >= 0]
    return [
        (f"pairs of {boards.question.bins} airports on {_USERS:,} boards, epsilon {_EPSILON:g}",
         _describe_results(named, most), f"{took:.1f} s"),
        ("  pure-ldp OUE over all pairs, no mixes", _describe_results(set(ranked[:_TOP]), most),
         f"peer takes {seconds / took:,.0f} times as long"),
    ]  # fmt: skip


def _peer(codes: list[int], bins: int) -> tuple[np.ndarray, float]:
    """Return the estimates of every bin, and the seconds."""
    start = time.perf_counter()
    client = UEClient(_EPSILON, bins, use_oue=True, index_mapper=lambda x: x)
    server = UEServer(_EPSILON, bins, use_oue=True, index_mapper=lambda x: x)
    for code in codes:
        server.aggregate(client.privatise(code))
    found = np.array([server.estimate(i, suppress_warnings=True) for i in range(bins)])
    return found, time.perf_counter() - start


def _some(users: int) -> np.ndarray:
    """Return a random selection of people."""
    return draw_below(SecureChance(), users, _USERS).astype(np.int64)


def _describe_results(named: set, most: set) -> str:
    return f"{len(named & most)} of the first {_TOP}"


def _error(differences: np.ndarray) -> float:
    return float(np.sqrt(np.mean(differences**2)))


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ")
