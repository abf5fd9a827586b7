"""An honest round passes; every altered, missing or swapped file is found; no one else is accused.

The planted cheats are signed: by the mix that cheats, or by the collector, which signs its index.
"""

import json
import shutil
from hashlib import sha256

import numpy as np
import pytest

from helpers.contracts import contract_of
from helpers.exported_rounds import VALUES, KeepingOffice, accused, check, plan
from mixtally.accounting.plans import terms
from mixtally.device.wire.arrivals import ListFile
from mixtally.device.wire.manifest import (
    Receipt,
    read_manifest,
    read_receipt,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.note import sign_note
from mixtally.model.contract import write_contract
from mixtally.protocol.estimate.received_fakes import RARE, bound_fake_count, declared_limits
from mixtally.server.collector import collector, round_check, round_notes
from mixtally.server.collector.export_index import INDEX

FILES = (
    *(INDEX, "contract.note", "sheet.note", "rotations.json"),
    *(f"manifest-{hop}.note" for hop in (1, 2, 3)),
    *("receipt-4.note", "tally.json", "result.json", "receipt.json", "receipt.md"),
    *("messages-1-000001", "piece", "list"),
)
SAME = ("contract.note", "rotations.json", "piece", "list")
"""Files that two rounds share, or whose names are their hashes."""


def name_of(folder, file):
    return next(path.name for path in folder.glob(f"{file}*"))


def further(office, change):
    """A further round, in which somebody cheats."""
    return office.export(office.count(change))


def test_an_honest_round_passes(folder):
    report = check(folder)
    assert not report.findings
    assert all(claim.is_shown for claim in report.claims)
    assert len(report.claims) == 14
    assert report.false_alarm == pytest.approx(3 * RARE)
    assert len({path.name for path in folder.iterdir()}) == len(FILES)


def test_an_export_concludes_its_round_once(office, watch):
    """The receipt and the version of the software both need the conclusion."""
    concluded = watch(collector, "conclude_round")
    office.export(served=True)
    assert len(concluded) == 1


def test_a_round_without_messages_says_so(office, folder):
    piece = name_of(folder, "piece")
    index = {"messages__1__000001": None, piece.replace("-", "__"): None}
    office.sign_again(folder, **index)
    report = check(folder)
    assert not report.findings
    assert len(report.claims) == 12
    assert any("not kept them" in text for text in report.unshown)
    assert not any("fits the pieces" in claim.text for claim in report.claims)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("how", ["altered", "missing", "swapped"])
def test_a_file_that_is_not_as_exported_is_found(rounds, folder, file, how):
    name = name_of(folder, file)
    path = folder / name
    data = path.read_bytes()
    if how == "altered":
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    elif how == "missing":
        path.unlink()
    elif file in SAME:
        pytest.skip("two rounds share it")
    else:
        shutil.copy(rounds[2] / name, path)
    report = check(folder)
    assert name in {one.file for one in report.findings}
    assert not accused(report)


@pytest.mark.parametrize("file", [INDEX, "sheet.note", "tally.json", "messages-1-000001", "piece"])
@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"\n"])
def test_a_file_of_another_length_is_found(folder, file, change):
    path = folder / name_of(folder, file)
    path.write_bytes(change(path.read_bytes()))
    report = check(folder)
    assert path.name in {one.file for one in report.findings}
    assert not accused(report)


@pytest.mark.parametrize("file", ["sheet.note", "manifest-2.note", "receipt-4.note", "result.json"])
def test_without_an_index_nobody_is_accused_either(rounds, folder, file):
    (folder / INDEX).unlink()
    shutil.copy(rounds[2] / file, folder / file)
    report = check(folder)
    assert len(report.findings) > 1
    assert not accused(report)


def test_files_of_another_round_are_not_mixed_with_an_index(rounds, folder):
    for file in FILES[2:7]:
        shutil.copy(rounds[2] / file, folder / file)
    report = check(folder)
    assert {one.file for one in report.findings} >= {INDEX}
    assert not accused(report)


def test_another_contract(office, folder):
    other = contract_of(
        plan(), hops=office.contract.hops, collector=office.contract.collector, name="other"
    )
    signers = [folder.signer for folder in office.folders]
    (folder / "contract.note").write_bytes(sign_note(write_contract(other), *signers))
    report = check(folder)
    assert {one.file for one in report.findings} == {"contract.note"}
    assert not accused(report)


# What a mix can do.


def manifests(change):
    """The usual round with manifests that ``change`` alters."""

    def made(office):
        found, pieces = office.usual(VALUES)
        return change(found), pieces

    return made


def test_a_mix_that_declares_too_few_fakes(office):
    mean, few = plan().parts[0].mean_added, declared_limits(plan().parts[0])[0] - 1

    def lazy(office):
        messages = [bytes([value]) for value in VALUES] + office.fakes * 3
        envelopes = office.sealed(messages[: few - mean])
        return office.chain(len(VALUES), envelopes, parts={2: {"added": few}})

    out = further(office, lazy)
    assert accused(check(out)) == {("mix-2", "manifest-2.note")}


def test_a_mix_at_the_limit_is_accused_of_nothing(office):
    mean, few = plan().parts[0].mean_added, declared_limits(plan().parts[0])[0]

    def lazy(office):
        messages = [bytes([value]) for value in VALUES] + office.fakes * 3
        return office.chain(
            len(VALUES), office.sealed(messages[: few - mean]), parts={2: {"added": few}}
        )

    out = further(office, lazy)
    assert not check(out).findings


def test_an_honest_mix_is_outside_the_limits_as_rarely_as_stated():
    """The limits of a check hold for the exact distribution of what an honest mix draws."""
    part = plan().parts[0]
    one = np.array([float(weight) for weight in part.recipe.weights])
    total = np.ones(1)
    for _ in range(part.layout.bins):
        total = np.convolve(total, one / one.sum())
    least, most = declared_limits(part)
    assert total[:least].sum() + total[most + 1 :].sum() <= RARE


def test_sums_that_do_not_add_up(office):
    def change(office):
        people = [bytes([value]) for value in VALUES]
        envelopes = office.sealed([*people, *people[:7], *office.fakes * 3])
        more = len(VALUES) + len(office.fakes) + 7
        return office.chain(len(VALUES), envelopes, parts={2: {"received": more}})

    out = further(office, change)
    assert accused(check(out)) == {("mix-2", "manifest-2.note")}


def test_another_number_of_people(office):
    def change(found):
        return [*found[:2], found[2]._replace(bundles=201)]

    out = further(office, manifests(change))
    assert accused(check(out)) == {("mix-3", "manifest-3.note")}


def test_a_manifest_after_another_batch(office):
    """Mix 2 may have signed two manifests: neither is accused before mix 3 has confirmed one."""

    def change(found):
        return [*found[:2], found[2]._replace(before="0" * 64)]

    out = further(office, manifests(change))
    report = check(out)
    assert "manifest-3.note" in {one.file for one in report.findings}
    assert not accused(report)
    digest = sha256(write_manifest(read_manifest((out / "manifest-2.note").read_bytes())))
    receipt = write_receipt(Receipt(digest.hexdigest(), 3))
    office.sign_again(out, receipt__3_note=sign_note(receipt, office.folders[2].signer))
    assert accused(check(out)) == {("mix-3", "manifest-3.note")}


def test_a_manifest_that_another_mix_signed(office, folder):
    text = write_manifest(read_manifest((folder / "manifest-2.note").read_bytes()))
    office.sign_again(folder, manifest__2_note=sign_note(text, office.folders[0].signer))
    assert accused(check(folder)) == {("mix-1", "manifest-2.note")}


def test_sums_within_a_manifest(office, folder):
    found = read_manifest((folder / "manifest-1.note").read_bytes())
    part = found.parts[0]._replace(received=999)
    note = sign_note(write_manifest(found._replace(parts=(part,))), office.folders[0].signer)
    office.sign_again(folder, manifest__1_note=note)
    assert ("mix-1", "manifest-1.note") in accused(check(folder))


# What a collector can do.


def test_a_collector_that_publishes_a_false_count(office, folder):
    said = json.loads((folder / "result.json").read_bytes())
    said["estimates"][0]["estimate"] += 1
    office.sign_again(folder, result_json=json.dumps(said, indent=1).encode() + b"\n")
    found = accused(check(folder))
    assert ("collector", "result.json") in found
    assert {role for role, _ in found} == {"collector"}


def test_a_false_tally(office, folder):
    said = json.loads((folder / "tally.json").read_bytes())
    said["parts"][0]["counts"][0] += 1
    said["parts"][0]["counts"][1] -= 1
    office.sign_again(folder, tally_json=json.dumps(said).encode())
    assert accused(check(folder)) >= {("collector", "tally.json"), ("collector", "result.json")}


def test_a_tally_of_fewer_messages(office, folder):
    said = json.loads((folder / "tally.json").read_bytes())
    said["parts"][0]["came"] -= 1
    office.sign_again(folder, tally_json=json.dumps(said).encode())
    assert ("collector", "tally.json") in accused(check(folder))


def test_other_messages(office, folder):
    data = (folder / "messages-1-000001").read_bytes()
    changed = bytes([(data[0] + 1) % 4]) + data[1:]
    office.sign_again(folder, messages__1__000001=changed)
    assert accused(check(folder)) == {("collector", "tally.json")}


def test_impossible_messages(office, folder):
    data = (folder / "messages-1-000001").read_bytes()
    office.sign_again(folder, messages__1__000001=data + b"\xff")
    assert accused(check(folder)) == {("collector", "tally.json")}


def test_another_piece(office, folder):
    name = name_of(folder, "piece")
    office.sign_again(folder, **{name.replace("-", "__"): b"other"})
    assert accused(check(folder)) == {("collector", name)}


@pytest.mark.parametrize("how", ["unsorted", "another"])
def test_a_list_that_the_collector_did_not_make_of_its_pieces(office, folder, how):
    name = name_of(folder, "list")
    tags = np.frombuffer((folder / name).read_bytes(), dtype=">u8").copy()
    if how == "unsorted":
        tags[:2] = tags[1::-1]
    else:
        tags[7] += 1
    data, receipt = tags.tobytes(), read_receipt((folder / "receipt-4.note").read_bytes())
    digest = sha256(data).hexdigest()
    listed = receipt._replace(arrivals=((ListFile(digest, len(tags)),),))
    note = sign_note(write_receipt(listed), office.role.signer)
    (folder / f"list-{digest}").write_bytes(data)
    files = {name.replace("-", "__"): None, f"list__{digest}": data}
    office.sign_again(folder, receipt__4_note=note, **files)
    assert accused(check(folder)) == {("collector", f"list-{digest}")}


def test_a_list_that_is_shorter_than_its_receipt_says(office, folder):
    name, receipt = name_of(folder, "list"), read_receipt((folder / "receipt-4.note").read_bytes())
    data = (folder / name).read_bytes()[:-8]
    digest, ((file,),) = sha256(data).hexdigest(), receipt.arrivals
    listed = receipt._replace(arrivals=((file._replace(sha256=digest),),))
    note = sign_note(write_receipt(listed), office.role.signer)
    files = {name.replace("-", "__"): None, f"list__{digest}": data}
    office.sign_again(folder, receipt__4_note=note, **files)
    assert accused(check(folder)) == {("collector", f"list-{digest}")}


def test_of_many_envelopes_a_sample_is_looked_for(folder, monkeypatch):
    """Of 100 of 600 envelopes: a list without a third of them passes once in 10^17 checks."""
    monkeypatch.setattr(round_check, "_SAMPLE", 100)
    assert not check(folder).findings


def test_a_list_without_a_third_is_found_in_a_sample(office, folder, monkeypatch):
    monkeypatch.setattr(round_check, "_SAMPLE", 100)
    name = name_of(folder, "list")
    tags = np.frombuffer((folder / name).read_bytes(), dtype=">u8").copy()
    tags[: len(tags) // 3] = tags[0]
    data = tags.tobytes()
    digest = sha256(data).hexdigest()
    receipt = read_receipt((folder / "receipt-4.note").read_bytes())
    listed = receipt._replace(arrivals=((ListFile(digest, len(tags)),),))
    note = sign_note(write_receipt(listed), office.role.signer)
    files = {name.replace("-", "__"): None, f"list__{digest}": data}
    office.sign_again(folder, receipt__4_note=note, **files)
    assert accused(check(folder)) == {("collector", f"list-{digest}")}


def test_a_receipt_of_another_round(rounds, folder):
    office, _, second = rounds
    office.sign_again(folder, receipt__4_note=(second / "receipt-4.note").read_bytes())
    report = check(folder)
    assert {one.file for one in report.findings} == {"receipt-4.note"}
    assert not accused(report)


@pytest.mark.parametrize("name", ["receipt.json", "receipt.md"])
def test_a_release_receipt_that_promises_more(office, folder, name):
    delta = str(json.loads((folder / "receipt.json").read_bytes())["delta"])
    changed = (folder / name).read_text().replace(delta, "1e-09")
    assert "1e-09" in changed
    office.sign_again(folder, **{name.replace(".", "_"): changed.encode()})
    assert accused(check(folder)) == {("collector", name)}


def test_an_index_of_another_sheet(office, folder, plant):
    honest = check(folder)
    assert not honest.findings
    plant(round_notes, "read_index", lambda read, data: _with_sheet(read(data)))
    assert accused(check(folder)) == {("collector", INDEX)}


def _with_sheet(index):
    return type(index)(
        version=1,
        kind="export",
        contract=index.contract,
        sheet="0" * 64,
        software=index.software,
        files=index.files,
    )


def test_a_false_certificate(folder, plant):
    def low(verify, plan, accountant):
        raise terms.PlanError("certificate", expected="more", got="less", do="refuse it")

    plant(round_check, "verify", low)
    assert accused(check(folder)) == {("collector", "contract.note")}


def test_the_limits_are_those_of_the_recipe():
    """A mix that draws one number a bin: the mean and the deviations of the exact law."""
    (part,) = plan().parts
    few, many = bound_fake_count(part.mechanism(fakes=0).shaped_fakes, part.layout.bins)
    assert declared_limits(part) == (part.mean_added - few, part.mean_added + many)


def test_a_collector_that_keeps_nothing_exports_a_round_too(tmp_path):
    office = KeepingOffice(tmp_path)
    office.begin()
    office.collector._keep_messages = False
    office.count()
    report = check(office.export())
    assert not report.findings
    assert len(report.claims) == 12
