"""``mixtally check sufficient``: ends rounded to their own sides, nothing that overflows."""

import json
import re

GIVEN = ("check sufficient", "--users", 5000, "--bits", 5, "--epsilon", 2, "--sigmas", 3)


def test_what_is_printed_is_rounded_to_the_safe_side(cli):
    exact, text = json.loads(cli(*GIVEN, "--json").out), cli(*GIVEN).out
    for name in ("eta", "delta"):
        lower, upper = map(float, re.search(rf"{name}.* in \[(\S+), (\S+)\]", text).groups())
        assert lower <= exact[name + "_lower"] <= exact[name] <= upper
    (flip,) = re.findall("flip probability (.*)", text)
    assert float(flip) >= exact["flip_probability"]


def test_a_ratio_beyond_all_numbers_is_refused(refused):
    given = ("--users", 5000, "--bits", 64, "--epsilon", 2, "--flip", "1e-9")
    assert "below 10^308" in refused("check sufficient", *given)
