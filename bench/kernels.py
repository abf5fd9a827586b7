"""Compiled and NumPy kernels, relative to the memory bandwidth and keystream of the machine."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.clock import choose_size
from bench.row import BenchmarkRow
from mixtally.model.layout import Form, Layout
from mixtally.primitives import compiled
from mixtally.primitives.bit_slicing import coin_words
from mixtally.primitives.chance import Chance, SecureChance
from mixtally.primitives.counting import column_counts
from mixtally.primitives.draw import draw_below
from mixtally.primitives.flips import flip
from mixtally.primitives.memo import Memo
from mixtally.primitives.rare_flips import draw_coin_positions
from mixtally.protocol.tally.fold import tally_messages

Works = dict[str, Callable[[], Any]]

TARGETS: dict[str, tuple[float, float]] = {
    "columns": (0.15, 0.25),
    "columns, compiled": (0.4, 0.6),
    # The targets are 0.45 / k and 0.7 / k for k digits. With the early stop, 8.45 of 64 are drawn.
    "dense": (0.45 / 8.45, 0.7 / 8.45),
    "sparse": (15, 20),
    "positions": (0.5, 0.8),
}
"""Target ratios, at least and hoped."""

_WORDS, _SPAN = choose_size(1 << 19, 1 << 14), 1 << 13
_COINS = 64 * _WORDS
_BATCH_BYTES = choose_size(1 << 26, 1 << 20)
_MESSAGES, _BINS, _CAP = choose_size(200_000, 2000), 1000, 20
_RUNS = choose_size(5, 1)


def rows() -> list[BenchmarkRow]:
    """Return the rows of the benchmark table, with compiled kernels if numba is installed."""
    chance, memo = SecureChance(), Memo(1 << 22)
    out = [*_columns(""), *_dense(chance, ""), *_sparse(chance, memo)]
    out += _positions(chance, "")
    if compiled.load_kernels(float("inf")):
        how = ", compiled"
        out += [*_columns(how), *_dense(chance, how), *_positions(chance, how)]
    return out


def cpu_seconds(works: Works) -> dict[str, float]:
    """Return the median CPU seconds of each function.

    The functions run alternately, so that other load on the machine affects all of them.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    for run in range(_RUNS + 1):
        for name, work in works.items():
            start = time.process_time()
            work()
            if run:
                times[name].append(time.process_time() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def _line(what: str, measured: str, ratio: float, target: str) -> BenchmarkRow:
    return BenchmarkRow(what, measured, f"{ratio:.3g}", ratio, *TARGETS[target])


def _columns(how: str) -> list[BenchmarkRow]:
    flat = SecureChance().words(_BATCH_BYTES // 8)
    packed, out = flat.view(np.uint8), []
    for columns in (64, 105, 1024, 4096):
        width = -(-columns // 8)
        batch = packed[: len(packed) // width * width].reshape(-1, width)
        took = cpu_seconds(
            {
                "read": lambda: np.bitwise_or.reduce(flat),
                "count": lambda batch=batch, columns=columns: column_counts(batch, columns),
            }
        )
        speed = f"{_BATCH_BYTES / took['count'] / 1e9:.2f} GB/s"
        ratio = took["read"] / took["count"]
        what = f"count {columns:,} columns{how}, of reading"
        out.append(_line(what, speed, ratio, f"columns{how}"))
    return out


def _stream(chance: Chance) -> None:
    for _ in range(_WORDS // _SPAN):
        chance.words(_SPAN)


def _dense(chance: Chance, how: str) -> list[BenchmarkRow]:
    works: Works = {"stream": lambda: _stream(chance)}
    for q in (0.3, 0.02):
        works[f"{q:g}"] = lambda q=q: coin_words(chance, int(q * 2**64), _WORDS)
    took = cpu_seconds(works)
    stream = took.pop("stream")
    return [
        _line(f"dense flips, q = {q}{how}, of the keystream", _speed(seconds), stream / seconds,
              "dense")
        for q, seconds in took.items()
    ]  # fmt: skip


def _sparse(chance: Chance, memo: Memo) -> list[BenchmarkRow]:
    zeros = np.zeros((_COINS // 1024, 128), dtype=np.uint8)
    works: Works = {"sixteen digits": lambda: _sixteen_digits(chance)}
    for q in (1e-3, 1e-5):
        threshold = int(q * 2**64)
        works[f"positions of rare flips, q = {q:g}"] = lambda threshold=threshold: (
            draw_coin_positions(chance, threshold, _COINS, memo)
        )
        works[f"rare flips of packed rows, q = {q:g}"] = lambda threshold=threshold: flip(
            zeros, 1024, threshold, chance, memo
        )
    took = cpu_seconds(works)
    dense = took.pop("sixteen digits")
    return [
        _line(f"{what}, of 16 digits", _speed(seconds), dense / seconds, "sparse")
        for what, seconds in took.items()
    ]


def _sixteen_digits(chance: Chance) -> None:
    """Draw flips by the dense method: a threshold of sixteen digits, from the least digit on."""
    for _ in range(_WORDS // _SPAN):
        ones = chance.words(_SPAN)
        for digit in range(15):
            drawn = chance.words(_SPAN)
            (np.bitwise_or if digit % 3 == 0 else np.bitwise_and)(ones, drawn, ones)


def _positions(chance: Chance, how: str) -> list[BenchmarkRow]:
    layout = Layout(Form.POSITIONS, _BINS, cap=_CAP)
    drawn = np.sort(draw_below(chance, _BINS, _MESSAGES * _CAP // 2).reshape(_MESSAGES, -1), axis=1)
    new = np.ones(drawn.shape, dtype=bool)
    new[:, 1:] = drawn[:, 1:] != drawn[:, :-1]
    messages, named = np.nonzero(new)[0], drawn[new]
    batch = layout.write_positions(messages, named, _MESSAGES)
    took = cpu_seconds(
        {
            "alone": lambda: np.bincount(named, minlength=_BINS),
            "tally": lambda: tally_messages(layout, batch),
        }
    )
    speed = f"{len(named) / took['tally'] / 1e6:.0f} M ones/s"
    ratio = took["alone"] / took["tally"]
    return [_line(f"check and tally positions{how}, of np.bincount", speed, ratio, "positions")]


def _speed(seconds: float) -> str:
    return f"{_COINS / seconds / 1e9:.2f} Gbit/s"
