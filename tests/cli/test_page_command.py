"""``mixtally page``: a folder for any static host, and a comparison of what a host serves."""

import json
import shutil
from hashlib import sha256
from types import SimpleNamespace

import pytest

from helpers.devices import World, by_mixes
from mixtally.app.contracts import read_client_files
from mixtally.app.page_check import compare_page
from mixtally.app.page_files import generic_files, headers_text, page_files
from mixtally.cli import page as command
from mixtally.errors import PlanError
from mixtally.model.contract import ClientFile, read_contract
from scripts.file_server import serve

OTHER = "f" * 64


@pytest.fixture(scope="module")
def world():
    return World(by_mixes(delta=1e-6))


@pytest.fixture
def note(world, tmp_path):
    path = tmp_path / "contract.note"
    path.write_bytes(world.note)
    return path


@pytest.fixture
def built(cli, note, tmp_path):
    assert cli("page", "build", note, "--out", tmp_path / "site").status == 0
    return tmp_path / "site"


@pytest.fixture
def host(built):
    """The address of a static host that serves the folder."""
    with serve(built) as address:
        yield address


def files_in(folder):
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_a_build_has_the_page_and_the_contract_and_says_so(cli, world, note, built):
    files = files_in(built)
    assert files["contract.json"] == world.note
    assert {*files} == {*generic_files(), "contract.json", "_headers"}
    outcome = cli("page", "build", note, "--out", built, "--json")
    told = json.loads(outcome.out)
    assert (told["fingerprint"], told["link"]) == (world.fingerprint, f"#{world.fingerprint}")
    listed = {one["path"]: (one["sha256"], one["bytes"]) for one in told["files"]}
    assert listed == {name: (sha256(data).hexdigest(), len(data)) for name, data in files.items()}
    assert 30_000 < told["compressed_bytes"] < 110_000  # a browser loads less
    shown = cli("page", "build", note, "--out", built)
    assert f"https://YOUR-HOST/#{world.fingerprint}" in shown.out
    assert all(name in shown.out and digest in shown.out for name, (digest, _) in listed.items())


def test_headers_name_the_roles_and_forbid_frames(world, built):
    policy = (built / "_headers").read_text().splitlines()[1]
    roles = "http://127.0.0.1:9 https://mix-2 https://collector"
    assert f"connect-src 'self' {roles};" in policy
    assert "default-src 'none'" in policy
    assert policy.endswith("frame-ancestors 'none'")


@pytest.mark.parametrize(
    "address", ["https://a;script-src-elem", "https://b'x'", "https://c@d", "http://[::1", "x:"]
)
def test_an_address_adds_nothing_to_the_policy(world, address):
    """The next address would be a host from which scripts are loaded."""
    contract = read_contract(world.text, "contract")
    evil = SimpleNamespace(name="mix-3", address=address)
    found = SimpleNamespace(hops=(*contract.hops, evil), collector=contract.collector)
    with pytest.raises(PlanError, match="address of mix-3"):
        headers_text(found, generic_files()["index.html"].decode())


@pytest.mark.parametrize("address", ["https://a-1.b_2:8443/x;y", "http://[::1]:7001", "https://A"])
def test_other_addresses_are_hosts(world, address):
    contract = SimpleNamespace(hops=(), collector=SimpleNamespace(name="c", address=address))
    text = headers_text(contract, generic_files()["index.html"].decode())
    assert f"connect-src 'self' {'/'.join(address.split('/')[:3])};" in text


@pytest.mark.parametrize("name", ["src/client.js", "src/gone.js"])
def test_a_build_follows_no_link_out_of_its_folder(refused, note, built, tmp_path, name):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / name.partition("/")[2]).write_text("dear")
    shutil.rmtree(built / "src")
    (built / "src").symlink_to(tmp_path / "home")
    sums = built / "SHA256SUMS"
    sums.write_text(sums.read_text() + f"{OTHER}  src/gone.js\n")
    assert "a folder with links" in refused("page", "build", note, "--out", built)
    assert set(files_in(tmp_path / "home").values()) == {b"dear"}


def test_a_build_may_be_named_by_a_link(cli, note, built, tmp_path):
    (tmp_path / "link").symlink_to(built)
    assert cli("page", "build", note, "--out", tmp_path / "link").status == 0


def test_a_later_build_replaces_an_earlier_one_and_keeps_other_files(cli, note, built):
    (built / "src/gone.js").write_text("")
    (built / "CNAME").write_text("survey.example")
    sums = built / "SHA256SUMS"
    sums.write_text(sums.read_text() + f"{OTHER}  src/gone.js\n{OTHER}  ../contract.note\n")
    assert cli("page", "build", note, "--out", built).status == 0
    assert {*files_in(built)} == {*generic_files(), "contract.json", "_headers", "CNAME"}
    assert note.exists()


def test_a_folder_with_other_files_is_refused_and_stays(refused, note, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home/letter.txt").write_text("dear")
    said = refused("page", "build", note, "--out", tmp_path / "home")
    assert "expected a new or empty folder" in said
    assert files_in(tmp_path / "home") == {"letter.txt": b"dear"}


def test_a_full_disk_leaves_the_earlier_build(refused, note, built, plant):
    before = files_in(built)

    def full(honest, out, files):
        return honest(out, {**files, "page/page.js/below": b""})

    plant(command, "publish", full)
    assert "expected" in refused("page", "build", note, "--out", built)
    assert files_in(built) == before


def test_a_contract_that_people_could_not_answer_is_refused(refused, tmp_path):
    world = World(by_mixes(delta=1e-6))
    heavy = World(by_mixes(delta=1.01e-6))
    other = World(by_mixes(delta=1e-6), suite=2)
    cases = {
        "got none of mix-1, mix-2, collector. Give the address": world.text,
        "delta: at most 1e-06, as the page in a browser requires, got 1.01e-06": heavy.text,
        "suite 1, which the page in a browser can seal, got suite 2": other.text,
        "expected": b"{}",
    }
    for said, data in cases.items():
        path = tmp_path / "refused.note"
        path.write_bytes(data)
        assert said in refused("page", "build", path, "--out", tmp_path / "site")
        assert not (tmp_path / "site").exists()


def test_an_untouched_page_differs_in_nothing(cli, world, host):
    for link in (
        host,
        f"{host}/",
        f"{host}#{world.fingerprint}",
        f"{host}/#{world.fingerprint}.ABC",
    ):
        outcome = cli("page", "check", link, "--json")
        told = json.loads(outcome.out)
        assert (outcome.status, told["differences"]) == (0, [])
        assert told["fingerprint"] == world.fingerprint
        assert told["files_checked"] == len(generic_files()) + 2
    assert "0 differ" in cli("page", "check", host).out


def test_every_altered_file_is_named(cli, built, host):
    page = built / "page/page.js"
    page.write_bytes(page.read_bytes() + b"\n")
    (built / "index.html").write_text("<script src=evil.js>")
    (built / "src/draw.js").unlink()
    (built / "src/seal.js").write_text("new")  # no file of the page loads it
    (built / "page/texts.js").write_bytes(b" " * (1 << 21))
    outcome = cli("page", "check", host, "--json")
    found = {one["path"]: one["got"] for one in json.loads(outcome.out)["differences"]}
    assert outcome.status == 1
    assert {*found} == {"/", "index.html", "page/page.js", "page/texts.js", "src/draw.js"}
    assert (found["src/draw.js"], found["page/texts.js"]) == (
        "status 404", "more than 1,048,576 bytes",
    )  # fmt: skip
    assert "page/page.js" in cli("page", "check", host).out


def test_another_contract_and_none_are_named(cli, built, host):
    outcome = cli("page", "check", f"{host}#{OTHER}", "--json")
    (one,) = json.loads(outcome.out)["differences"]
    assert (outcome.status, one["path"], one["expected"]) == (1, "contract.json", OTHER)
    (built / "contract.json").write_text("{}")
    assert cli("page", "check", host).status == 1
    (built / "contract.json").unlink()
    (one,) = json.loads(cli("page", "check", host, "--json").out)["differences"]
    assert one["got"] == "status 404"


def test_the_files_that_a_contract_names_are_compared_too(world):
    ours = generic_files()
    named = {name: sha256(data).hexdigest() for name, data in ours.items()}
    named |= {"page/page.js": OTHER, "more.js": OTHER, "_headers": OTHER}
    listed = tuple(ClientFile(path=name, sha256=named[name]) for name in sorted(named))
    other = World(by_mixes(delta=1e-6), client_files=listed)
    files = page_files(other.contract, other.note) | {"": ours["index.html"]}
    found = compare_page(lambda path: files.get(path, "status 404"), other.fingerprint)
    assert found.named
    assert {(one.path, one.by, one.got) for one in found.differences} == {
        ("page/page.js", "contract", sha256(ours["page/page.js"]).hexdigest()),
        ("more.js", "contract", "status 404"),
        ("more.js", "package", "status 404"),
    }


def test_a_contract_can_name_the_files_before_it_exists(cli, note, tmp_path):
    """They are equal for all contracts, so nothing goes round in a circle."""
    shown = cli("page", "build", "--out", tmp_path / "files")
    assert "--client-files" in shown.out
    assert files_in(tmp_path / "files") == generic_files()
    named = read_client_files(tmp_path / "files")
    world = World(by_mixes(delta=1e-6), client_files=named)
    note.write_bytes(world.note)
    assert cli("page", "build", note, "--out", tmp_path / "files").status == 0
    files = files_in(tmp_path / "files")
    found = compare_page(
        lambda path: files.get(path or "index.html", "status 404"), world.fingerprint
    )
    assert (found.named, found.differences) == (True, ())


def test_a_host_that_is_silent_is_not_asked_for_ever(refused, world):
    asked = []

    def read(path):
        asked.append(path)
        return b"" if not path else "no answer (TimeoutError)"

    found = compare_page(read, None)
    assert len(asked) == 5
    assert len(found.differences) == len(generic_files()) + 2
    for unfit in (
        "http://127.0.0.1:9",
        "http://survey.example",
        "survey",
        f"http://127.0.0.1:9#{OTHER}0",
    ):
        assert "expected" in refused("page", "check", unfit)


@pytest.mark.parametrize(("seconds", "size"), [(39.0, 1), (0.0, 1 << 24)])
def test_all_files_of_a_host_together_have_limits(cli, plant, seconds, size):
    """A host that is just quick or short enough with each file would keep an auditor for hours."""
    asked, times = [], [0.0]

    def get(honest, address, path, most, timeout):
        asked.append(path)
        times[0] += min(seconds, 4 * timeout)
        return bytes(min(size, most))

    plant(command, "get", get)
    plant(command, "monotonic", lambda _: times[0])
    shown = cli("page", "check", "https://survey.example", "--json")
    found = [one["got"] for one in json.loads(shown.out)["differences"]]
    assert "more than 300 seconds, or 67,108,864 bytes, for all files" in found
    assert 4 < len(asked) < len(generic_files()) + 2
    assert times[0] <= 300
