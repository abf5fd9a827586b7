"""The exact distribution of a capped message, pattern by pattern, and tests against it."""

import numpy as np
from scipy import stats

from mixtally.model.layout import Form


def conditional(record, bins, q, cap):
    """P[message = pattern] for every pattern of ``bins`` bits, given at most ``cap`` ones."""
    patterns = np.arange(1 << bins)
    flips = np.bitwise_count(patterns ^ record)
    chances = q**flips * (1.0 - q) ** (bins - flips)
    chances[np.bitwise_count(patterns) > (bins if cap is None else cap)] = 0.0
    return chances / chances.sum()


def mixed(records, bins, q, cap):
    """The mean of several."""
    return np.mean([conditional(record, bins, q, cap) for record in records], axis=0)


def patterns(layout, rows):
    """Every message as an integer, bit j for bin j."""
    if layout.form is Form.INDEX:
        return 1 << layout.codes(rows)
    if layout.form is Form.BITS:
        wide = np.zeros((len(rows), 8), dtype=np.uint8)
        wide[:, : rows.shape[1]] = rows
        return wide.view("<i8").reshape(-1)
    many, named = layout.positions(layout.check_rows(rows))
    found = np.zeros(len(rows), dtype=np.int64)
    np.bitwise_or.at(found, np.repeat(np.arange(len(rows)), many), 1 << named)
    return found


def p_value(layout, rows, chances):
    """Chi-square p-value of messages against ``chances``; 0 where one came that cannot."""
    seen = np.bincount(patterns(layout, rows), minlength=len(chances))
    if seen[chances == 0.0].any():
        return 0.0
    able = chances > 0.0
    return float(stats.chisquare(seen[able], chances[able] * len(rows)).pvalue)
