"""Tables on terminals of every width: no number and no label is ever shortened."""

import io
import re

import pytest
from rich.console import Console

from mixtally.report.folding import FoldingTable

HEADS = ("bin", "estimate", "95 % interval", "all bins", "true count", "error")
ROWS = [
    ("www.host00012345.example", "1,234,585.2", "1,234,573 .. 1,234,597", "1 .. 9", "12", "+2.2"),
    ("mail.host7.example", "34.2", "22 .. 46", "17 .. 50", "42", "-7.8"),
]
LONG = "a mix that is trusted to draw the fakes, and a collector that nobody trusts"


def table_of(heads, rows):
    table = FoldingTable(title="Counts", title_justify="left")
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row)
    return table


def printed(table, width):
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert max(map(len, lines)) <= width
    assert "\N{HORIZONTAL ELLIPSIS}" not in out.getvalue()
    return lines


@pytest.mark.parametrize("width", [30, 40, 50, 64, 80, 100, 120, 200])
def test_every_number_and_label_is_whole_at_every_width(width):
    text = "\n".join(printed(table_of(HEADS, ROWS), width))
    for cell in (*ROWS[0], *ROWS[1]):
        assert cell in text


def test_a_table_that_fits_has_one_line_a_row():
    lines = printed(table_of(HEADS, ROWS), 120)
    assert len([line for line in lines if "host" in line]) == 2
    assert all(cell in lines[4] for cell in ROWS[0])


def test_a_row_that_does_not_fit_is_folded_to_two_lines():
    title, *heads, rule, first, second, third, fourth = printed(table_of(HEADS, ROWS), 80)
    assert title == "Counts"
    assert len(heads) == 2
    assert set(rule) == {"\N{BOX DRAWINGS LIGHT HORIZONTAL}"}
    assert re.split("  +", first) == list(ROWS[0][:4])
    assert second.split() == ["12", "+2.2"]
    assert third.startswith("mail.host7.example")
    assert fourth.split() == ["42", "-7.8"]


def test_the_numbers_of_a_folded_column_are_aligned_below_their_heading():
    _, head, more, _, first, second, third, fourth = printed(table_of(HEADS, ROWS), 80)
    for heading, name, *cells in (
        (head, "estimate", (first, "1,234,585.2"), (third, "34.2")),
        (more, "error", (second, "+2.2"), (fourth, "-7.8")),
    ):
        end = heading.index(name) + len(name)
        assert [line.index(cell) + len(cell) for line, cell in cells] == [end, end]


def test_a_long_text_wraps_between_words_before_rows_are_folded():
    lines = printed(table_of(("assumption", "error"), [(LONG, "1,234.5")]), 60)
    inside = " ".join(
        re.sub("[^a-z, ]", "", line.rpartition("1,234.5")[0] or line) for line in lines
    )
    assert LONG in re.sub(r"\s+", " ", inside)
    assert sum("1,234.5" in line for line in lines) == 1
    assert "\N{BOX DRAWINGS LIGHT VERTICAL}" in "".join(lines)


def test_a_word_longer_than_the_terminal_goes_on_in_the_next_line():
    word = "x" * 45
    lines = printed(table_of(("label", "count"), [(word, "7")]), 20)
    assert "".join(lines).count("x") == 45
    assert any(line.strip() == "7" for line in lines)


def test_the_same_table_is_printed_at_several_widths():
    table = table_of(HEADS, ROWS)
    wide = printed(table, 120)
    printed(table, 60)
    assert printed(table, 120) == wide


def test_a_table_without_rows_shows_its_headings():
    text = "\n".join(printed(table_of(HEADS, []), 50))
    assert all(head in text for head in HEADS)
