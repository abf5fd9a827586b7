"""``mixtally check noise`` and what ``mixtally check delta`` says of its answer, for every law."""

import json
import math

import pytest

PRICE = {"delta", "delta_lower", "observer", "status", "source", "assumption"}
NOISE = {"flip_probability", "flip_threshold", "fakes", "standard_error"}
GIVEN = {
    "blanks": ("flip-blank", "--fakes", "1e4"),
    "blanks, no fakes": ("flip-blank", "--fakes", 0, "--users", 50),
    "blanks and crowd": ("flip-blank", "--fakes", "1e4", "--users", "1e4", "--count-crowd"),
    "blanks, two-hot": ("flip-blank", "--fakes", "1e4", "--max-set", 2),
    "blanks, fakes sought": ("flip-blank", "--flip", 0.01),
    "clear": ("clear-uniform", "--bins", 20),
    "bit": ("single-bit", "--users", "1e4", "--fakes", 0),
    "bit, no ones": ("single-bit", "--users", "1e4", "--fakes", 0, "--ones", 0),
    "bit, repeated": ("single-bit", "--users", "1e4", "--fakes", 9, "--ones", 5, "--repeats", 3),
    "flips": ("flip", "--users", "1e5"),
    "flips, two bins": ("flip", "--users", "1e5", "--bins", 2),
    "flips, sums": ("flip", "--users", 100, "--bins", 9, "--observer", "sums"),
    "flips, bits": ("flip", "--users", "1e5", "--bits", 2),
    "bits among zeros": ("flip", "--users", "1e5", "--bits", 3, "--background", "zero"),
    "blanks, split in two, repeated": (
        "flip-blank",
        "--fakes",
        "1e4",
        "--max-set",
        2,
        "--split",
        "--repeats",
        2,
    ),
    "bits, split": ("flip", "--users", "1e3", "--bits", 3, "--split"),
    "shaped, two attributes": ("clear-shaped", "--max-set", 2, "--split"),
    "memory": ("memory", "--p", 0.5, "--q", 0.7, "--hashes", 1, "--reports", 3),
    "uniform": ("flip-uniform", "--users", "1e4", "--fakes", "1e4", "--bins", 1000),
}
PROMISE = ("--epsilon", 1, "--delta", "1e-4")


def of(name, *given):
    return ("--protocol", name, *given)


@pytest.mark.seconds
@pytest.mark.parametrize("case", GIVEN)
def test_what_was_calibrated_keeps_the_promise_when_priced_anew(cli, case):
    given = of(*GIVEN[case])
    outcome = cli("check noise", *PROMISE, *given, "--json")
    assert (outcome.status, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert set(found) >= PRICE | NOISE
    assert 0 <= found["delta_lower"] <= found["delta"] <= 1e-4
    assert (found["delta_target"], found["protocol"]) == (1e-4, GIVEN[case][0])
    assert found["standard_error"] > 0
    if found["flip_probability"] is None:
        assert found["flip_threshold"] is None
    else:
        assert found["flip_probability"] == found["flip_threshold"] / 2**64
    more = ()
    if "--flip" not in given and found["flip_probability"] is not None:
        more += ("--flip", repr(found["flip_probability"]))
    if "--fakes" not in given and found["fakes"] is not None:
        more += ("--fakes", found["fakes"])
    for flag in ("shape-decay", "shape-shift", "permanent"):
        if flag.replace("-", "_") in found and "--" + flag not in given:
            more += ("--" + flag, repr(found[flag.replace("-", "_")]))
    outcome = cli("check delta", "--epsilon", 1, *given, *more, "--json")
    assert (outcome.status, outcome.err) == (0, "")
    priced = json.loads(outcome.out)
    assert priced["delta"] <= 1e-4 * (1 + 1e-9)  # a probability has 53 bits, a threshold 64
    for key in ("observer", "status", "source", "assumption"):
        assert priced[key] == found[key]
    assert priced["status"] == "proved"
    linked = "linked" if "memory" in given else "messages"
    assert priced["observer"] == ("sums" if "sums" in given else linked)


@pytest.mark.parametrize("case", GIVEN)
def test_the_text_tells_the_noise_and_the_price(cli, case):
    outcome = cli("check noise", *PROMISE, *of(*GIVEN[case]))
    assert (outcome.status, outcome.err) == (0, "")
    assert "standard error " in outcome.out
    upper = outcome.out.split("delta <= ")[1].split()[0]
    assert 0 <= float(upper) <= 1e-4 * (1 + 1e-8)


def test_no_fakes_and_no_ones_are_told(cli):
    out = cli("check noise", *PROMISE, *of(*GIVEN["bit, no ones"]), "--json").out
    assert json.loads(out)["fakes"] == 0
    assert json.loads(out)["ones"] == 0
    known = ("--users", 100, "--fakes", 0, "--flip", 0.2)
    out = cli("check delta", "--epsilon", 1, *of("single-bit", *known, "--ones", 0), "--json").out
    assert json.loads(out)["fakes_counted"] == 0
    assert "0 of the others" in json.loads(out)["assumption"]
    worst = cli("check delta", "--epsilon", 1, *of("single-bit", *known), "--json").out
    assert json.loads(worst)["delta"] >= json.loads(out)["delta"]


def test_only_honest_fakes_are_counted(cli):
    half = cli(
        "check noise",
        *PROMISE,
        *of("flip-blank", "--fakes", 2001),
        "--honest-share",
        0.5,
        "--json",
    )
    whole = cli("check noise", *PROMISE, *of("flip-blank", "--fakes", 1000), "--json")
    assert json.loads(half.out)["flip_threshold"] == json.loads(whole.out)["flip_threshold"]


@pytest.mark.parametrize("protocol", ["flip-blank", "single-bit", "flip", "flip-uniform"])
def test_more_people_or_fakes_need_less_flipping(cli, protocol):
    def flip(many):
        given = {
            "flip-blank": ("--fakes", many),
            "single-bit": ("--users", many, "--fakes", 0, "--ones", 0),
            "flip": ("--users", many),
            "flip-uniform": ("--users", many, "--fakes", many, "--bins", 1000),
        }[protocol]
        return json.loads(cli("check noise", *PROMISE, *of(protocol, *given), "--json").out)

    few, more = flip(1_000), flip(4_000)
    assert more["flip_threshold"] < few["flip_threshold"]


@pytest.mark.parametrize(
    "given",
    [
        ("flip-blank",),
        ("flip-blank", "--fakes", 10, "--flip", 0.1),
        ("flip-blank", "--fakes", 10, "--bits", 3),
        ("flip-blank", "--fakes", 10, "--ones", 0),
        ("clear-uniform",),
        ("clear-uniform", "--bins", 9, "--fakes", 10),
        ("single-bit", "--users", 10),
        ("single-bit", "--fakes", 0),
        ("single-bit", "--users", 10, "--fakes", 0, "--bins", 2),
        ("flip",),
        ("flip", "--bins", 9),
        ("flip", "--users", 10, "--fakes", 0),
        ("flip", "--users", 10, "--shape-shift", 2),
        ("memory", "--p", 0.5, "--q", 0.7, "--hashes", 1),
        (
            "memory",
            "--p",
            0.5,
            "--q",
            0.7,
            "--hashes",
            1,
            "--reports",
            1,
            "--repeats",
            2,
        ),
        ("flip-uniform", "--users", 10, "--fakes", 10),
        ("flip-uniform", "--users", 10, "--bins", 10),
        ("flip-uniform", "--users", 10, "--fakes", 10, "--bins", 3, "--ones", 0),
    ],
)
def test_parameters_that_lack_or_that_no_law_takes_are_refused(refused, given):
    assert refused("check noise", *PROMISE, *of(*given)).startswith(f"mixtally: {given[0]}: ")


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        (of("clear-shaped", "--shape-decay", 1), "clear-shaped"),
        (of("nope", "--fakes", 3), "protocol"),
        (of("flip-blank", "--fakes", -1), "fakes"),
        (of("flip-blank", "--fakes", "1e14"), "fakes"),
        (of("flip-blank", "--flip", 0.7), "flip probability"),
        (of("flip-blank", "--flip", "nan"), "flip probability"),
        (of("flip-blank", "--fakes", 9, "--max-set", 0), "max set"),
        (of("flip-blank", "--fakes", 9, "--honest-share", 0), "honest share"),
        (of("clear-uniform", "--bins", 1), "bins"),
        (of("single-bit", "--users", 1, "--fakes", 0), "users"),
        (of("single-bit", "--users", 9, "--fakes", 0, "--ones", 9), "ones"),
        (of("single-bit", "--users", 9, "--fakes", 0, "--repeats", 0), "repeats"),
        (of("flip", "--users", 9, "--bits", 65), "bits"),
        (of("flip", "--users", 9, "--observer", "nobody"), "observer"),
        (of("flip", "--users", 9, "--bits", 2, "--background", "one"), "background"),
        (("--epsilon", 21, *of("flip", "--users", 9)), "epsilon"),
        (("--epsilon", "nan", *of("flip", "--users", 9)), "epsilon"),
        (("--delta", 0, *of("flip", "--users", 9)), "delta"),
        (("--delta", 0.2, *of("flip", "--users", 9)), "delta"),
        (("--delta", "nan", *of("flip", "--users", 9)), "delta"),
    ],
)
def test_numbers_outside_their_ranges_are_refused(refused, given, subject):
    assert refused("check noise", *PROMISE, *given).startswith(f"mixtally: {subject}: ")


def test_the_answer_is_a_number_that_json_knows(cli):
    out = cli("check noise", *PROMISE, *of("flip-blank", "--fakes", 0, "--users", 50), "--json").out
    assert "NaN" not in out
    assert "Infinity" not in out
    assert math.isfinite(json.loads(out)["standard_error"])
