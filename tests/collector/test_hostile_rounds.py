"""Hostile exports, and honest ones of other machines and versions, which accuse nobody."""

import json
import math
import tracemalloc
from hashlib import sha256

import pytest

from helpers.exported_rounds import KeepingOffice, accused, check
from mixtally.device.wire.arrivals import ListFile
from mixtally.device.wire.manifest import read_receipt
from mixtally.server.collector import exporting
from mixtally.server.collector.export_index import INDEX, read_index
from mixtally.version import VERSION


@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, "{}", "null", "1e999", '{"overruled": ["stranger"]}', '{"overruled": 7}', ""],
)
def test_hostile_json_is_a_finding(office, folder, text):
    whole = (folder / "tally.json").read_bytes()
    office.sign_again(folder, tally_json=text.encode())
    assert accused(check(folder)) == {("collector", "tally.json")}
    office.sign_again(folder, tally_json=whole, result_json=text.encode())
    assert ("collector", "result.json") in accused(check(folder))


HUGE = b"[" + b"[]," * (1 << 20) + b"[]]"


@pytest.mark.parametrize("file", ["result.json", "pairs", "dropped"])
def test_hostile_json_uses_little_memory(office, folder, file):
    """Lists of lists would use 24 times their length, and small fields 12 times."""
    data = HUGE
    if file != "result.json":
        fields = b"{" + b",".join(b'"%x":1' % i for i in range(300_000)) + b"}"
        said = json.loads((folder / "tally.json").read_bytes())
        said["parts"][0][file] = "?"
        data = json.dumps(said).encode().replace(b'"?"', HUGE if file == "pairs" else fields)
    name = file if file == "result.json" else "tally.json"
    office.sign_again(folder, **{name.replace(".", "_"): data})
    tracemalloc.start()
    try:
        report = check(folder)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert ("collector", name) in accused(report)
    assert most < 6 * len(data)


def test_estimates_that_another_processor_rounds_accuse_nobody(office, folder):
    """Exponentials and logarithms differ in the last bit between processors and libraries."""
    data = (folder / "result.json").read_bytes()
    said = json.loads(data)
    for change, is_false in (
        (lambda one: math.nextafter(one, 1e9), False),
        (lambda one: one * (1 + 1e-7), True),
        (lambda one: one / 0.5, True),
    ):
        one = {**said["estimates"][0], "estimate": change(said["estimates"][0]["estimate"])}
        other = {**said, "estimates": [one, *said["estimates"][1:]]}
        written = json.dumps(other, indent=1).encode() + b"\n"
        assert written != data
        office.sign_again(folder, result_json=written)
        for name in ("receipt.json", "receipt.md"):
            text = (folder / name).read_bytes().replace(
                sha256(data).hexdigest().encode(), sha256(written).hexdigest().encode()
            )  # fmt: skip
            office.sign_again(folder, **{name.replace(".", "_"): text})
        assert accused(check(folder)) == ({("collector", "result.json")} if is_false else set())
        data = written


def test_a_result_of_an_earlier_version_accuses_nobody(tmp_path):
    """Its fields were others; the collector exports it with a later version."""
    office = KeepingOffice(tmp_path)
    office.begin()
    office.count()
    results, place = office.collector.results, office.row().folder
    said = json.loads(results.read_result(place))
    del said["rests_on"]
    results.publish(place, said)
    out = office.export()
    report = check(out)
    assert {one.file for one in report.findings} == {"result.json"}
    assert not accused(report)
    assert read_index((out / INDEX).read_bytes()).software == f"before {VERSION}"


def test_lists_that_were_removed_in_part_are_not_exported(tmp_path, plant):
    office = KeepingOffice(tmp_path)
    office.begin()
    office.count()
    lists = office.collector.node.lists
    (first,) = lists._folder.iterdir()
    note = office.collector.node.notes.of_round(office.fingerprint, 1, "receipt")[-1]
    (own,) = read_receipt(note).arrivals
    gone = ListFile("0" * 64, 1)
    plant(exporting, "read_receipt", lambda read, data: read(data)._replace(
        arrivals=((own[0], gone),)))  # fmt: skip
    assert lists.find(first.name) is not None
    out = office.export()
    assert not list(out.glob("list-*"))


def test_a_count_of_people_has_no_rounding(office, folder):
    data = (folder / "result.json").read_bytes()
    assert b'"contributors": 200,' in data
    office.sign_again(folder, result_json=data.replace(b'rs": 200,', b'rs": 200.0,'))
    assert ("collector", "result.json") in accused(check(folder))


@pytest.mark.parametrize("name", [f"list-{'a' * 64}", "messages-9-000001"])
def test_a_file_that_no_note_names_is_compared_with_the_index(office, folder, name):
    office.sign_again(folder, **{name.replace("-", "__"): b"one"})
    assert not check(folder).findings
    (folder / name).write_bytes(b"two")
    report = check(folder)
    assert [(one.role, one.file) for one in report.findings] == [(None, name)]
    assert not report.claims[-1].is_shown


@pytest.mark.parametrize(
    ("field", "value"),
    [("counts", [1] * 3), ("counts", [10**30] * 4), ("counts", [-1, 1, 1, 1]), ("pairs", [[1]]),
     ("codes", [1, 2, 3, 4, 5]), ("dropped", {"x": -5}), ("messages", 10**40)],
)  # fmt: skip
def test_a_hostile_tally_is_a_finding(office, folder, field, value):
    said = json.loads((folder / "tally.json").read_bytes())
    said["parts"][0][field] = value
    office.sign_again(folder, tally_json=json.dumps(said).encode())
    assert ("collector", "tally.json") in accused(check(folder))
