"""Whoever waits for a large file sees how much of it is read."""

import gzip

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from helpers.data_files import people
from mixtally.lab.data.reading import RecordType

ROWS = 300_000


@pytest.fixture(params=["crowd.csv", "crowd.csv.gz", "crowd.parquet"])
def crowd(request, tmp_path):
    path = tmp_path / request.param
    values = ["red", "blue"] * (ROWS // 2)
    text = "color\n" + "\n".join(values) + "\n"
    if path.suffix == ".parquet":
        parquet.write_table(arrow.table({"color": values}), path, row_group_size=ROWS // 4)
    else:
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def watched(into):
    return lambda step, done, total: into.append((step, done, total))


def test_a_file_is_told_until_all_of_it_is_read(crowd):
    told = []
    found = people(crowd, "color", progress=watched(told), block=1 << 16)
    assert found.users == ROWS
    assert {step for step, _, _ in told} == {"read"}
    (total,) = {total for _, _, total in told}
    done = [done for _, done, _ in told]
    assert done == sorted(done)
    assert done[-1] == total > 0
    assert len(done) >= 2


def test_every_kind_of_record_is_told(crowd):
    told = []
    people(crowd, "color", form=RecordType.SET, progress=watched(told))
    assert told
    assert told[-1][1] == told[-1][2]
