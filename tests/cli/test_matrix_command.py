"""``mixtally check delta --matrix``: both ends of any randomizer in a file."""

import json

import pytest

import mixtally

BITS = ",a,b\nyes,3/4,1/4\nno,0.25,0.75\n"
THREE = ",x,y,z\none,11/15,2/15,2/15\ntwo,2/15,11/15,2/15\nthree,2/15,2/15,11/15\n"
CROWD = ("--users", 100, "--epsilon", 0.3)


@pytest.fixture
def check(cli, tmp_path):
    def run(text, *given, crowd=CROWD):
        path = tmp_path / "matrix.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return cli("check delta", "--matrix", path, *crowd, *given)

    return run


def test_the_text_names_pairs_and_crowds_by_label(check):
    lines = check(BITS).out.splitlines()
    assert lines[0].startswith("Protects: ")
    assert lines[1].startswith("epsilon = 0.3, delta <= 0.00")
    assert any(one.startswith("delta <= ") and "in any crowd" in one for one in lines)
    assert any(one.startswith("delta >= ") and "if the others hold" in one for one in lines)
    assert any(one.startswith("exact because two outputs") for one in lines)
    assert any("a hint for many people, no guarantee" in one for one in lines)
    assert lines[-1] == "if every mix colludes: a local epsilon of 1.09862 remains"


def test_json_is_what_python_computes(check):
    facts = json.loads(check(THREE, "--json").out)
    python = mixtally.delta(
        [["11/15", "2/15", "2/15"], ["2/15", "11/15", "2/15"], ["2/15", "2/15", "11/15"]],
        users=100, epsilon=0.3,
    )  # fmt: skip
    assert (facts["delta"], facts["delta_lower"]) == (python.upper, python.lower)
    assert set(facts["pair"]) <= {"one", "two", "three"}
    assert facts["exact"] is None
    assert "hides only the number of its messages" in facts["note"]
    assert len(facts["promise"]) == 3


def test_fakes_rounds_and_a_curve(check):
    plain = json.loads(check(BITS, "--json").out)
    more = json.loads(check(BITS, "--fakes", 50, "--fake-row", "uniform", "--json").out)
    rounds = json.loads(check(BITS, "--rounds", 2, "--json").out)
    assert more["delta"] < plain["delta"] < rounds["delta"]
    outcome = check(BITS, "--curve")
    assert "at delta 1e-06" in outcome.out
    curve = json.loads(check(BITS, "--curve", "--json").out)["curve"]
    deltas = [one["delta"] for one in curve]
    assert deltas == sorted(deltas, reverse=True)
    assert len(deltas) > 50


def test_normalizing_is_named_and_printed(check):
    text = ",a,b,c\nyes,0.333,0.333,0.333\nno,0.2,0.3,0.5\n"
    refused = check(text)
    assert refused.status == 2
    assert "add --normalize" in refused.err
    found = check(text, "--normalize")
    assert "normalized: 1 row did not sum to 1 exactly" in found.out


def test_rows_are_values_and_columns_are_messages(check):
    """Three values and two messages, whose columns do not sum to 1."""
    text = ",a,b\none,1/2,1/2\ntwo,1/4,3/4\nthree,1/8,7/8\n"
    facts = json.loads(check(text, "--json").out)
    rows = [["1/2", "1/2"], ["1/4", "3/4"], ["1/8", "7/8"]]
    assert facts["delta"] == mixtally.delta(rows, users=100, epsilon=0.3).upper
    assert set(facts["pair"]) == {"one", "three"}
    square = json.loads(check(",a,b\none,1/2,1/2\ntwo,1/2,1/2\n", "--json").out)
    assert square["delta"] == 0


REFUSED = {
    "an empty file": ("", "a first row with the outputs"),
    "one column": ("a\nb\n", "a first row with the outputs"),
    "semicolons": (";a;b\nyes;1;0\n", "Separate cells by commas"),
    "one row": (",a,b\nyes,1/2,1/2\n", "at least two rows"),
    "duplicate values": (",a,b\nyes,1/2,1/2\nyes,1/2,1/2\n", "'yes' twice"),
    "duplicate outputs": (",a,a\nyes,1/2,1/2\nno,1/2,1/2\n", "'a' twice"),
    "a missing cell": (",a,b\nyes,1/2,\nno,1/2,1/2\n", "row yes, output b: expected a probability"),
    "a short row": (",a,b\nyes,1\nno,1/2,1/2\n", "row no: expected 1 entry,"),
    "a negative cell": (",a,b\nyes,3/2,-1/2\nno,1/2,1/2\n", "output b: expected a probability"),
    "a transposed file": (",yes,no\na,1/2,1/4\nb,1/2,3/4\n", "Transpose it"),
    "no header": ("1/2,1/2\n1/4,3/4\n", "at least two rows"),
    "another encoding": (",ä,b\nyes,1,0\n".encode("latin-1"), "a CSV file in UTF-8"),
    "an open quote": (',a,b\n"yes,1,0\n', "a CSV file in UTF-8"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_no_matrix_is_refused(check, name):
    text, said = REFUSED[name]
    outcome = check(text)
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--protocol", "flip"), "expected --matrix without --protocol, got both"),
        (("--bins", 3), "expected a matrix with --users"),
        (("--fakes", 3), "or neither, got --fakes alone"),
        (("--fakes", 3, "--fake-row", "maybe"), "uniform, or a row: yes, no"),
        (("--rounds", 0), "rounds: expected an integer"),
    ],
)
def test_options_that_do_not_fit_are_refused(check, given, said):
    outcome = check(BITS, *given)
    assert outcome.status == 2
    assert said in outcome.err


def test_without_a_file_a_protocol_is_needed(cli, tmp_path):
    assert "expected --protocol NAME or --matrix FILE" in cli("check delta", "--epsilon", 1).err
    assert "--matrix with it" in cli("check delta", "--epsilon", 1, "--curve").err
    outcome = cli("check delta", "--epsilon", 1, "--matrix", tmp_path / "none.csv", "--users", 9)
    assert outcome.status == 2
    assert "none.csv: expected a CSV file of probabilities" in outcome.err


def test_an_attack_exits_with_one_if_a_claim_is_violated(cli, tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(BITS)
    given = ("--matrix", path, "--users", 30, "--drawn", 20_000, "--seed", 1, "--epsilon", 0.1)
    outcome = cli("check attack", *given, "--delta", 1e-6)
    assert outcome.status == 1
    assert "violated" in outcome.out
    assert cli("check attack", *given, "--delta", 0.1).status == 0
    both = cli("check attack", "plan.json", *given, "--delta", 0.1)
    assert "expected a plan without --matrix, got both" in both.err
    lone = cli("check attack", "--protocol", "flip", "--fake-row", "no")
    assert "--fake-row: expected --matrix with it, got none" in lone.err
