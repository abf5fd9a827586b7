"""Data that cannot be counted: one line, status 2, nothing written."""

import gzip

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

ASKED = ("--epsilon", 1, "--delta", "1e-6")


@pytest.fixture
def refuses(refused, tmp_path):
    """Refuses a file of these bytes (None: no file) and leaves the output folder empty."""

    def call(content, *more, name="data.csv", column="color"):
        path, out = tmp_path / name, tmp_path / "out"
        if content is not None:
            path.write_bytes(content)
        line = refused("simulate", path, "--column", column, *ASKED, "--out", out, *more)
        assert not out.exists()
        return line

    return call


def table(values, kind=None):
    """The bytes of a Parquet file with one column."""
    sink = arrow.BufferOutputStream()
    parquet.write_table(arrow.table({"color": arrow.array(values, type=kind)}), sink)
    return sink.getvalue().to_pybytes()


GOOD = b"id,color\n" + b"1,red\n2,blue\n" * 500


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"id,color\n1,red\n2,\n3,blue\n", "row 2: wanted a value in column 'color'"),
        (b"id,color\n1,red\n2\n3,blue\n", "row 2: wanted a value in column 'color'"),
        (b"", "an empty file"),
        (b"id,color\n", "at least two rows, got none"),
        (b"id,shade\n1,red\n", "wanted a column 'color', got the columns 'id', 'shade'"),
        (b"id,color\n1,red\n2,red\n", "two distinct values, got only 'red'"),
        (b"id,color\n1,r\xe9d\n2,red\n", "UTF-8"),
        (b"color,color\n1,red\n2,blue\n", "wanted one column 'color', got 2 of that name"),
        (b"id;color\n1;red\n2;blue\n", "put commas between cells instead of ';'"),
        (b"id\tcolor\n1\tred\n2\tblue\n", "put commas between cells instead of"),
        (b"\n\nid,color\n1,red\n", "wanted a header line, got a blank one"),
        (b"id,color\n1,red\n2,\x1b[2J\n", "labels without control characters, got '\\x1b[2J'"),
        (b"id,color\n1," + b"x" * 200_000 + b"\n2,red\n", "field limit"),
        (None, "no file there"),
    ],
    ids=[
        "empty cell", "ragged row", "empty file", "header only", "missing column",
        "one distinct value", "not UTF-8", "two columns of a name", "semicolons",
        "tabs", "blank header", "commands to a terminal", "huge cell", "missing file",
    ],
)  # fmt: skip
def test_csv_that_cannot_be_counted_is_refused(refuses, content, said):
    assert said in refuses(content)


@pytest.mark.parametrize("name", ["data.xlsx", "data", "data.gz", "data.csv.zip"])
def test_an_unknown_file_type_is_refused(refuses, name):
    assert "ending in .csv, .csv.gz or .parquet" in refuses(GOOD, name=name)


def test_a_truncated_packed_file_is_refused(refuses):
    assert "ended before" in refuses(gzip.compress(GOOD)[:-20], name="data.csv.gz")


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(refused, tmp_path, name):
    path = tmp_path / name
    with path.open("wb") as file:
        if name.endswith(".gz"):
            file.write(gzip.compress(bytes(1 << 25)))
        else:
            file.truncate(1 << 36)  # all zeros, none of them on the disk
    line = refused("simulate", path, "--column", "color", *ASKED)
    assert "wanted lines of less than 16,777,216 characters, got a longer one" in line


def test_a_damaged_packed_file_is_refused(refuses):
    data = bytearray(gzip.compress(GOOD))
    data[12:20] = bytes(byte ^ 0x55 for byte in data[12:20])
    refuses(bytes(data), name="data.csv.gz")


def test_a_packed_name_on_unpacked_data_is_refused(refuses):
    assert "gzip" in refuses(GOOD, name="data.csv.gz")


def test_an_open_quote_does_not_swallow_the_rest_of_the_crowd(refuses):
    refuses(GOOD + b'3,"teal\n' + GOOD[9:])


def test_a_null_in_parquet_is_refused(refuses):
    assert "row 2: wanted a value" in refuses(table(["red", None, "blue"]), name="data.parquet")


def test_a_not_a_number_in_parquet_is_a_missing_value(refuses):
    refuses(table([1.0, float("nan"), 2.0] * 400), name="data.parquet")


def test_parquet_without_rows_is_refused(refuses):
    assert "got none" in refuses(table([], arrow.string()), name="data.parquet")


def test_parquet_without_the_column_is_refused(refuses):
    line = refuses(table(["red", "blue"]), name="data.parquet", column="shade")
    assert "wanted a column 'shade', got the columns 'color'" in line


@pytest.mark.parametrize("cut", [0, 3, 100, -20], ids=["empty", "tiny", "half", "no footer"])
def test_truncated_parquet_is_refused(refuses, cut):
    refuses(table(["red", "blue"] * 500)[:cut], name="data.parquet")


def test_a_folder_is_no_data_file(refused, tmp_path):
    refused("simulate", tmp_path, "--column", "color", *ASKED)


def test_a_value_without_a_label_is_refused_by_row(refuses, tmp_path):
    labels = tmp_path / "labels"
    labels.write_text("red\nteal\n")
    assert "row 2: wanted one of the 2 labels" in refuses(GOOD, "--labels", labels)


@pytest.mark.parametrize("text", ["red\nblue\nred\n", "red\n\nblue\n", ""])
@pytest.mark.parametrize("command", ["simulate", "vote", "memory", "epochs"])
def test_labels_are_distinct_text(refused, tmp_path, command, text):
    labels, path = tmp_path / "labels", tmp_path / "data.csv"
    labels.write_text(text)
    path.write_bytes(GOOD)
    more = {"memory": (), "epochs": (*ASKED, "--synthetic", 3)}.get(command, ASKED)
    line = refused(command, path, "--column", "color", "--labels", labels, *more)
    assert f"{labels}: wanted distinct labels" in line


@pytest.mark.parametrize("most", [0, -1, 17])
def test_the_most_labels_of_a_set_are_at_least_one(refuses, most):
    line = refuses(GOOD, "--set", ";", "--max-set", most)
    assert "max set: wanted an integer in [1, 16]" in line


@pytest.mark.parametrize("cell", [b"inf", b"-Infinity", b"1e400", b"2024-01-01", b'"1,000"'])
def test_what_is_no_finite_number_is_refused(refuses, cell):
    content = b"color\n" + b"1\n2\n" * 500 + cell + b"\n"
    assert "row 1001: wanted a finite number" in refuses(content, "--number", "0,9")


@pytest.mark.parametrize("level", [0, 1, -1, 2, "nan"])
def test_a_confidence_level_outside_0_to_1_is_refused(refuses, level):
    assert "confidence level: wanted" in refuses(GOOD, "--level", level)


def test_an_unknown_projection_is_refused(refuses):
    assert "projection: wanted one of simplex, got 'cube'" in refuses(GOOD, "--project", "cube")


@pytest.mark.parametrize("bad", [("--level", 0), ("--project", "cube")])
def test_a_bad_option_is_refused_before_the_collection_is_played(refuses, monkeypatch, bad):
    def play(*_, **__):
        pytest.fail("a whole collection was played in vain")

    monkeypatch.setattr("mixtally.simulate.run.play", play)
    refuses(GOOD, *bad)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--protocol", "nope"), "protocol: wanted"),
        (("--honest-fraction", 0), "honest fraction: wanted"),
        (("--fakes-per-user", 1, "--messages-per-user", 2), "budget: wanted"),
        (("--fakes-per-user", -1), "fakes per user: wanted a number of at least 0, got -1"),
        (("--fakes-per-user", "nan"), "fakes per user: wanted a number of at least 0, got nan"),
        (("--epsilon", 0), "epsilon: wanted"),
        (("--delta", 0.2), "delta: wanted"),
        (("--protocol", "clear-uniform", "--messages-per-user", 1), "clear-uniform needs"),
    ],
)
def test_a_bad_wish_is_refused(refuses, more, said):
    assert said in refuses(GOOD, *more)


@pytest.mark.parametrize("given", [(), ("--epsilon", 1), ("--delta", "1e-6")])
def test_half_a_guarantee_is_refused(refused, crowd, given):
    line = refused("simulate", crowd / "crowd.csv", "--column", "color", *given)
    assert "wanted --epsilon and --delta, or --plan" in line
