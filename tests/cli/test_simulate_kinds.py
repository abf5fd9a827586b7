"""``mixtally simulate`` on sets, bits, attributes and numbers, whole and split."""

import csv
import json
import math

import pytest

SETS = ["red;blue", "blue", "red;green;blue", "green"]
GIVEN = ("--epsilon", 1, "--delta", "1e-6", "--seed", 1)


@pytest.fixture
def data(tmp_path):
    """Two thousand people with a record of every kind."""
    lines = ["likes,ill,a,b,v,city,age,income"]
    for i in range(2000):
        a, b = i % 2, i % 3 == 0
        lines.append(
            f"{SETS[i % 4]},{['no', 'yes'][i % 5 == 0]},{a},{int(b)},{a}{int(b)}{i % 7 % 2},"
            f"{'xyz'[i % 3]},{['old', 'young'][a]},{i % 100}"
        )
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def played(cli, data):
    """Plays the data and returns the facts."""

    def call(*more):
        outcome = cli("simulate", data, *more, "--json")
        assert (outcome.status, outcome.err.strip()) == (0, "")
        return json.loads(outcome.out)

    return call


READ = {
    "sets": ("--column", "likes", "--set", ";"),
    "bit": ("--column", "ill", "--as", "bits"),
    "bits": ("--columns", "a,b", "--as", "bits", "--messages-per-user", 5),
    "attributes": ("--columns", "city,age", "--as", "attributes", "--mix-fakes"),
    "number": ("--column", "income", "--number", "0,80", "--points", 9, "--mix-fakes"),
}


@pytest.mark.seconds
@pytest.mark.parametrize("kind", READ)
def test_every_kind_is_counted(played, kind):
    """False alarm below 10^-6: each estimate within six standard errors."""
    (release,) = played(*READ[kind], *GIVEN)["releases"]
    assert release["delta"] <= 1e-6
    for row in release["estimates"]:
        assert abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"]
        assert (
            row["lower_simultaneous"] <= row["lower"] <= row["upper"] <= row["upper_simultaneous"]
        )


@pytest.mark.seconds
def test_a_split_record_shows_the_certificate_of_the_whole(cli, data, played):
    (release,) = played(*READ["attributes"], *GIVEN)["releases"]
    assert release["messages_of_a_record"] == len(release["bytes_per_message"]) == 2
    assert (release["epsilon"], release["bins"]) == (1.0, 5)
    labels = [row["label"] for row in release["estimates"]]
    assert labels == ["city=x", "city=y", "city=z", "age=old", "age=young"]
    outcome = cli("simulate", data, *READ["attributes"], *GIVEN, "--out", data.parent / "out")
    page = (data.parent / "out" / "simulation" / "report.html").read_text()
    assert "epsilon = 1, delta &lt;=" in page
    assert "clear-shaped, split" in outcome.out


def test_numbers_tell_mean_quantiles_and_the_clipping(cli, data, played):
    facts = played(*READ["number"], *GIVEN)
    assert "400 of 2,000 were clipped" not in facts["source"]  # 80 itself is inside
    assert "380 of 2,000 were clipped" in facts["source"]
    names = [row["label"] for row in facts["releases"][0]["numbers"]]
    assert names[:4] == ["mean", "sum", "second moment", "variance"]
    assert "50 % quantile" in names
    for row in facts["releases"][0]["numbers"]:
        slack = 2 * (row["upper"] - row["lower"])  # false alarm below 10^-6 a row
        assert row["lower"] - slack <= row["truth"] <= row["upper"] + slack
    assert "mean and quantiles" in cli("simulate", data, *READ["number"], *GIVEN).out


def test_counts_are_compared_in_pairs(played):
    """False alarm below 10^-8 a row: within six standard errors."""
    given = ("--columns", "city,age", "--as", "attributes", "--mix-fakes")
    named = [part for label in ("city=x", "age=old", "age=young") for part in ("--compare", label)]
    (release,) = played(*given, *named, *GIVEN)["releases"]
    counts = {row["label"]: row for row in release["estimates"]}
    for row in release["differences"]:
        one, other = (counts[label] for label in row["label"].split(" - "))
        assert row["estimate"] == pytest.approx(one["estimate"] - other["estimate"])
        assert row["truth"] == one["truth"] - other["truth"]
        assert abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"]
        apart = math.hypot(one["standard_error"], other["standard_error"])
        if row["label"] == "age=old - age=young":
            apart /= math.sqrt(1 - 1 / 2)  # counts that add up to the people err in opposite ways
        assert row["standard_error"] == pytest.approx(apart)
        assert row["lower_simultaneous"] < row["lower"] < row["upper"] < row["upper_simultaneous"]


def test_bits_of_their_own_are_compared(played):
    """A message a bit: the noise of either is its own."""
    given = ("--columns", "a,b", "--as", "bits", "--messages-per-user", 5)
    (release,) = played(*given, "--compare", "a", "--compare", "b", *GIVEN)["releases"]
    (row,) = release["differences"]
    apart = math.hypot(*(one["standard_error"] for one in release["estimates"]))
    assert row["standard_error"] == pytest.approx(apart)


def test_pairs_are_counted_where_records_travel_whole(cli, data, played):
    given = ("--columns", "a,b", "--as", "bits", "--pairs")
    (release,) = played(*given, *GIVEN)["releases"]
    assert release["protocol"] == "flip"
    (row,) = release["pairs"]
    (phi,), cells = release["correlations"], release["tables"]
    assert phi["lower"] < phi["truth"] < phi["upper"]
    assert [cell["label"] for cell in cells] == [
        "a & b",
        "a & not b",
        "not a & b",
        "neither a nor b",
    ]
    assert sum(cell["estimate"] for cell in cells) == pytest.approx(2000)
    assert sum(cell["truth"] for cell in cells) == 2000
    assert row["label"] == "a & b"
    assert row["truth"] == 333
    assert abs(row["estimate"] - 333) < 6 * row["standard_error"]
    assert "how many people have both" in cli("simulate", data, *given, *GIVEN).out


def test_vectors_are_sent_as_often_as_asked(played):
    given = ("--column", "v", "--as", "bits", "--repeats", 3)
    (release,) = played(*given, *GIVEN)["releases"]
    assert (release["repeats"], release["messages"]) == (3, 6000)
    assert release["messages_per_user"] == 3.0


def test_an_observer_of_sums_is_told_beside_the_plan(cli, data, played):
    given = ("--columns", "a,b", "--as", "bits", "--protocol", "flip", "--observer", "sums")
    (release,) = played(*given, *GIVEN)["releases"]
    assert release["observer"] == "messages"
    assert release["observer_of_sums"]["observer"] == "sums"
    assert release["observer_of_sums"]["upper"] < release["delta"]
    assert "Someone who sees only the sums" in cli("simulate", data, *given, *GIVEN).out


PLANNED = {
    "sets": (["--bins", 3, "--max-set", 3], READ["sets"]),
    "bit": (["--bits", 1], READ["bit"]),
    "bits": (["--bits", 2, "--protocol", "flip"], READ["bits"][:4]),
    "attributes": (
        ["--attributes", "3,2", "--protocol", "flip-blank", "--messages-per-user", 2],
        READ["attributes"][:4],
    ),
    "number": (["--number", "0,80"], READ["number"][:2]),
}


@pytest.fixture
def planned(cli, tmp_path):
    """A plan for two thousand users, written by the command."""

    def call(*more):
        path = tmp_path / "plan.json"
        given = ("--epsilon", 1, "--delta", "1e-6", "--users", 2000)
        assert cli("plan", *given, *more, "--out", path).status == 0
        assert [*tmp_path.glob("plan*")] == [path]
        return path

    return call


@pytest.fixture
def numbered(data):
    """The data with numbered labels, as a plan without labels has them."""
    text = data.read_text()
    for old, new in (("red", "0"), ("blue", "1"), ("green", "2"), ("old", "0"), ("young", "1")):
        text = text.replace(old, new)
    for number, letter in enumerate("xyz"):
        text = text.replace(f",{letter},", f",{number},")
    path = data.with_name("numbered.csv")
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", PLANNED)
def test_a_plan_of_every_kind_is_played(cli, numbered, planned, kind):
    made, read = PLANNED[kind]
    outcome = cli("simulate", numbered, *read, "--plan", planned(*made), "--seed", 1, "--json")
    assert (outcome.status, outcome.err.strip()) == (0, "")
    (release,) = json.loads(outcome.out)["releases"]
    for row in release["estimates"]:
        assert abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"]


@pytest.mark.seconds
def test_all_messages_of_a_split_record_are_played(cli, numbered, planned):
    path = planned("--attributes", "3,2", "--messages-per-user", 5)
    given = ("simulate", numbered, *READ["attributes"][:4], "--seed", 1, "--json")
    outcome = cli(*given, "--plan", path)
    assert (outcome.status, outcome.err.strip()) == (0, "")
    (release,) = json.loads(outcome.out)["releases"]
    assert (release["messages_of_a_record"], release["epsilon"]) == (2, 1.0)
    assert release["delta"] == json.loads(path.read_bytes())["certificate"]["upper"] <= 1e-6


@pytest.mark.seconds
@pytest.mark.parametrize("column", ["{}=", ""])
def test_a_split_record_keeps_the_order_of_its_labels(cli, data, planned, tmp_path, column):
    names = [("city", "z"), ("city", "y"), ("city", "x"), ("age", "young"), ("age", "old")]
    wanted = [column.format(of) + name for of, name in names]
    labels = tmp_path / "labels"
    labels.write_text("\n".join(wanted))
    given = ("--attributes", "3,2", "--labels", labels, "--messages-per-user", 5)
    read = ("--columns", "city,age", "--as", "attributes", "--plan", planned(*given))
    outcome = cli("simulate", data, *read, "--seed", 1, "--json")
    assert (outcome.status, outcome.err.strip()) == (0, "")
    rows = json.loads(outcome.out)["releases"][0]["estimates"]
    assert [row["label"] for row in rows] == wanted
    assert [row["truth"] for row in rows] == [666, 667, 667, 1000, 1000]
    assert all(abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"] for row in rows)


@pytest.mark.parametrize("kind", PLANNED)
@pytest.mark.parametrize("read", PLANNED)
def test_a_plan_of_another_kind_is_refused(refused, numbered, planned, kind, read):
    if {kind, read} in ({kind}, {"bit", "bits"}, {"sets"}):
        return
    line = refused("simulate", numbered, *PLANNED[read][1], "--plan", planned(*PLANNED[kind][0]))
    assert line.startswith("mixtally: plan: expected ")


def test_numbers_are_told_with_their_resolution_everywhere(cli, data, tmp_path):
    out = tmp_path / "out"
    given = ("simulate", data, *READ["number"], *GIVEN, "--out", out)
    told = json.loads(cli(*given, "--json").out)["releases"][0]["numbers"]
    with (out / "simulation" / "numbers.csv").open(newline="") as file:
        assert "holds raw counts" in next(file)
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == [row["label"] for row in told]
    assert [float(row["upper"]) for row in rows] == [row["upper"] for row in told]
    squares, steps = [10.0**2 / 8] * 2, [20.0] * 5  # nine points up to 80
    assert [row.get("resolution") for row in told] == [None, None, *squares, *steps, None, None]
    assert rows[4]["standard_error"] == ""  # a quantile has an interval only
    for place in (cli(*given).out, (out / "simulation" / "report.html").read_text()):
        assert "resolution" in place


REFUSED = [
    (("--column", "likes", "--set", ";", "--max-set", 2), "row 3: expected at most 2 labels"),
    (("--column", "v", "--as", "bits", "--pairs", "--as", "cube"), "--as: expected bits or attrib"),
    (("--column", "likes", "--as", "bits"), "expected 0 or 1"),
    (("--columns", "a,b"), "columns: expected one column for records"),
    ((), "columns: expected --column or --columns, got neither"),
    (("--column", "a", "--columns", "a,b"), "got both"),
    (("--column", "a", "--set", ";", "--number", "0,1"), "data: expected one way to read the data"),
    (("--column", "a", "--max-set", 3), "--max-set: expected --set with it"),
    (("--column", "a", "--bins", 3), "--bins: expected --number with it"),
    (("--column", "a", "--points", 3), "--points: expected --number with it"),
    (("--column", "a", "--number", "0,1", "--points", 1), "points of a number: expected "),
    (("--column", "a", "--number", "0,1", "--points", 9, "--bins", 9), "got both"),
    (("--column", "a", "--number", "1,1"), "LOW < HIGH"),
    (("--column", "a", "--number", "nan,1"), "LOW < HIGH"),
    (("--column", "a", "--number", "0,inf"), "LOW < HIGH"),
    (("--column", "a", "--number", "1"), "LOW,HIGH, got '1'"),
    (("--column", "a", "--number", "3,1"), "LOW < HIGH"),
    (("--column", "likes", "--number", "0,1"), "row 1: expected a finite number, got 'red;blue'"),
    (("--column", "city", "--pairs"), "pairs: expected records of several bits"),
    (("--column", "city", "--repeats", 2), "repeats: expected vectors of several bits"),
    (("--column", "likes", "--set", ";", "--protocol", "single-bit"), "it cannot hold sets"),
    (("--column", "city", "--observer", "all"), "observer: expected one of messages, sums"),
    (("--columns", "a,b", "--as", "bits", "--project", "simplex"), "projection: expected counts"),
]


@pytest.mark.seconds
@pytest.mark.parametrize(("given", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_cannot_be_played_is_refused(refused, data, given, said):
    assert said in refused("simulate", data, *given, *GIVEN)
