"""A gap longer than the table goes on: the unbounded digit starts again where the table ends."""

import pytest

from helpers.scripted_chance import Scripted
from mixtally.primitives import rare_flips


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_a_gap_past_the_table_starts_again(rounds):
    threshold = int(0.009 * 2**64)
    tables = rare_flips.build_gap_tables(threshold)
    (table,) = tables
    middle = int(table.tops[4]) // 2 + int(table.tops[5]) // 2  # between two boundaries: digit 5
    drawn = rare_flips.draw_gaps(Scripted(*[2**64 - 1] * rounds, middle), tables, 1)
    assert drawn.tolist() == [1024 * rounds + 5]
