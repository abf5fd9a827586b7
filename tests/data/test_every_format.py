"""Whatever the format, the same values are the same population."""

import datetime
from decimal import Decimal
from functools import partial

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from helpers.data_files import in_every_format, in_parquet, json_lines, people, workbook
from mixtally.errors import DataError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.label_merging import check_fractions, check_spaces, normalize_nfc, value_text
from mixtally.lab.data.readers import read_population
from mixtally.lab.data.reading import Reading, RecordType
from mixtally.protocol.encode.numbers import Points

TABLE = {
    "who": ["ada", "bob", "cleo", "dan", "eve"],
    "color": ["red", "blue", "Grün", "red", 'say "x", y'],
    "age": [31, 7, 100, 31, 0],
    "height": [1.5, 2.25, 0.1, 1.5, -3.75],
    "likes": ["tea;milk", "milk", "tea", "milk; tea", "rum"],
    "smokes": ["yes", "no", "no", "yes", "no"],
    "drives": [1, 0, 0, 1, 1],
    "marks": ["010", "111", "000", "010", "001"],
}
FORMATS = in_every_format(TABLE)


def facts(population):
    return population.question, population.records.tolist(), population.note


@pytest.mark.parametrize("name", FORMATS)
def test_a_column_says_whose_each_row_is(tmp_path, name):
    (tmp_path / name).write_bytes(FORMATS[name])
    assert people(tmp_path / name, "color", person="who").users == 5
    with pytest.raises(DataError, match=r"row 4: expected one row per person, got .* after row 1"):
        people(tmp_path / name, "color", person="age")


def test_a_column_of_text_is_what_was_written(tmp_path):
    """The twin of the comparison: formats that agree on nonsense would pass it."""
    path = tmp_path / "data"
    path.write_bytes(FORMATS["comma.csv"])
    found = people(path, "color")
    labels = [found.question.label(code) for code in found.codes.tolist()]
    assert labels == TABLE["color"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_name_does_not_matter(tmp_path, name):
    path = tmp_path / "data"
    path.write_bytes(FORMATS[name])
    assert people(path, "color").users == 5


@pytest.mark.parametrize("name", FORMATS)
def test_the_standard_input_is_read_like_a_file(tmp_path, name, piped):
    path = tmp_path / name
    path.write_bytes(FORMATS[name])
    piped(FORMATS[name])
    found = read_population(DataFile(path), Reading(columns=("age",)))
    assert facts(people("-", "age")) == facts(found)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=5)


@given(st.lists(WORDS.filter(str.strip).map(str.strip), min_size=2, max_size=8, unique=True))
@example(["0", "1.0", "01", "1e3"])
@example(["NA", "null", "nan", "None"])
@example(["{", "[", "a{"])
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=30,
)
def test_any_text_is_the_same_in_every_format(tmp_path, texts):
    """Texts that only spaces inside tell apart are refused, in every format alike."""
    texts = [normalize_nfc(text) for text in texts]
    try:
        check_spaces("texts", texts)
        check_fractions("texts", texts)
    except DataError:
        return
    if len(set(texts)) < max(2, len(texts)):
        return
    for name, data in in_every_format({"no": list(range(len(texts))), "color": texts}).items():
        path = tmp_path / name
        path.write_bytes(data)
        found = people(path, "color")
        assert [found.question.label(code) for code in found.codes.tolist()] == texts


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([1.0, 2.5, 3.0], ("1", "2.5", "3")),
        ([True, False, True], ("False", "True")),
        ([2**53 + 1, 2**60, -(2**62)], tuple(map(str, (-(2**62), 2**53 + 1, 2**60)))),
        ([-1, 0, 4000], ("-1", "0", "4000")),
    ],
)
def test_typed_formats_write_a_value_in_one_way(tmp_path, values, labels):
    written_in = {"a.parquet": in_parquet({"c": values}), "a.jsonl": json_lines({"c": values})}
    if max(values) < 2**53:  # a workbook holds no larger whole numbers
        written_in["a.xlsx"] = workbook({"c": values})
    for name, data in written_in.items():
        path = tmp_path / name
        path.write_bytes(data)
        assert people(path, "c").question.labels == labels


def test_parquet_types_are_written_as_people_would(tmp_path):
    day, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 5)
    columns = {
        "float32": (arrow.array([0.1, 2.0], arrow.float32()), ("0.1", "2")),
        "decimal": (arrow.array([Decimal("1.50"), Decimal("2.00")]), ("1.5", "2")),
        "date": (arrow.array([day, datetime.date(2024, 3, 1)]), ("2024-02-29", "2024-03-01")),
        "moment": (
            arrow.array([moment, datetime.datetime(2024, 3, 1)], arrow.timestamp("ns")),
            ("2024-02-29 13:05:00", "2024-03-01"),
        ),
        "large": (arrow.array(["b", "a"], arrow.large_string()), ("a", "b")),
        "bytes": (arrow.array([b"b", b"a"]), ("a", "b")),
        "codes": (arrow.array(["b", "a"]).dictionary_encode(), ("b", "a")),
        "numbered": (arrow.array([7, 300]).dictionary_encode(), ("7", "300")),
    }
    path = tmp_path / "types.parquet"
    parquet.write_table(arrow.table({name: column for name, (column, _) in columns.items()}), path)
    for name, (_, labels) in columns.items():
        assert people(path, name).question.labels == labels, name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2"), (-0.0, "0"), (2.5, "2.5"), (1e300, "1e+300"), (float("nan"), None),
        (None, None), ("", ""), (True, "True"), (2**70, str(2**70)),
        (datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), "2024-01-01 00:00:00+00:00"),
    ],
)  # fmt: skip
def test_a_value_has_one_text(value, text):
    assert value_text(value) == text


def many(rows):
    numbers = np.arange(rows)
    return {
        "color": [f"shade {n % 97}" for n in numbers.tolist()],
        "height": (numbers / 7).tolist(),
        "drives": (numbers % 3 == 0).astype(int).tolist(),
        "marks": [f"{n % 32:05b}" for n in numbers.tolist()],
        "likes": [f"a{n % 5};b{n % 7}" for n in numbers.tolist()],
    }


@pytest.mark.parametrize("name", ["comma.csv", "lines.jsonl", "table.parquet"])
def test_batches_join_to_the_whole(tmp_path, name):
    """Many small batches are the one large batch, whose records follow from the table itself."""
    table = many(3000)
    path = tmp_path / name
    path.write_bytes(in_every_format(table)[name])
    small = partial(people, path, block=256)
    color = small("color")
    assert [color.question.label(code) for code in color.codes.tolist()] == table["color"]
    numbers = small("height", form=RecordType.NUMBER, scale=Points(0, 500))
    assert np.allclose(numbers.values, table["height"], rtol=1e-14)
    marks = small("marks", form=RecordType.BITS)
    digits = np.unpackbits(marks.records, axis=1, count=5, bitorder="little")
    assert ["".join(map(str, row)) for row in digits.tolist()] == table["marks"]
    likes = small("likes", form=RecordType.SET)
    sets = np.unpackbits(likes.records, axis=1, count=12, bitorder="little")
    labels = [[likes.question.label(i) for i in np.flatnonzero(row)] for row in sets]
    assert labels == [text.split(";") for text in table["likes"]]
