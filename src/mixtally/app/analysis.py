"""What is wanted of a tally beside the counts of its bins: options, each declared once."""

from typing import Annotated

from mixtally.app.options import option

Groups = tuple[tuple[str, tuple[str, ...]], ...]
"""The name and the labels of every group whose counts are added up."""
Candidates = Annotated[
    tuple[str, ...] | None, option("--candidates", "Words to look for, one a line.", "FILE")
]
Compare = Annotated[
    list[str] | None,
    option("--compare", "Also how much this count differs from others; give two or more.", "LABEL"),
]
Total = Annotated[
    Groups | None,
    option("--total", "Also add up the counts of groups: a CSV with columns label,group.", "FILE"),
]
Shares = Annotated[
    bool, option("--shares", "Also show counts as shares of the people who took part.")
]
