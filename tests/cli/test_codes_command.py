"""``mixtally collector codes`` and ``mix codes``: codes for people, and their hashes for mix 1."""

import stat

import pytest

from helpers.roles_in_folders import Village
from mixtally.device.wire.codes import hash_code, read_code, read_codes
from mixtally.server.mix.admission import codes_path
from mixtally.server.mix.jobs import take_job


@pytest.fixture
def village(tmp_path, monkeypatch):
    return begun(tmp_path, monkeypatch, admission="codes")


def begun(tmp_path, monkeypatch, **changes):
    """Roles whose first mix has signed; the commands run in a folder of their own."""
    monkeypatch.setenv("MASTER", "5c" * 32)
    made = Village(tmp_path / "roles", hops=2, users=2, **changes)
    node = made.node(1, sign=False)
    take_job(node, made.jobs[0], made.text)
    node.close()
    (tmp_path / "contract.json").write_bytes(made.text)
    monkeypatch.chdir(tmp_path)
    return made


def words(village, *more, role=-1):
    return ("collector", "codes", village.folders[role].path, "contract.json", *more)


def test_links_end_in_a_code_and_mix_1_learns_hashes(cli, village, tmp_path):
    outcome = cli(*words(village, "--number", 5, "--link", "https://example.org/poll"))
    assert outcome.status == 0, outcome.err
    lines = outcome.out.splitlines()
    start = f"https://example.org/poll#{village.fingerprint}."
    codes = [line.removeprefix(start) for line in lines]
    assert [read_code(code) for code in codes] == codes
    assert len(set(codes)) == 5
    note = (tmp_path / "codes.note").read_bytes()
    hashes = read_codes(note, village.fingerprint, 100)
    assert hashes == {hash_code(code.encode()) for code in codes}
    assert not any(code.encode() in note for code in codes)
    outcome = cli("mix", "codes", village.folders[0].path, "codes.note")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == ("home-page, serial 1, takes one bundle a round for each of 5 codes\n")
    assert codes_path(village.folders[0].path, village.fingerprint).read_bytes() == note
    held = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not any(code.encode() in held for code in codes)


def test_a_file_of_codes_is_for_its_owner_only(cli, refused, village, tmp_path):
    line = words(village, "--number", 3, "--out", "codes.txt")
    outcome = cli(*line)
    assert (outcome.status, outcome.out) == (0, "")
    for name in ("codes.txt", "codes.note"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    before = (tmp_path / "codes.txt").read_bytes()
    assert len(before.split()) == 3
    assert "a file that exists" in refused(*line)
    assert "a file that exists" in refused(*line, "--hashes", "other.note")
    assert (tmp_path / "codes.txt").read_bytes() == before
    assert not (tmp_path / "other.note").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--number", 0), "1 to 200"),
        (("--number", 201), "as the contract accepts no more bundles in a round"),
        (("--number", 3, "--link", "http://example.org"), "the address of a page"),
        (("--number", 3, "--link", "https://example.org/#x"), "the address of a page"),
        (("--number", 3, "--link", "https://a b"), "the address of a page"),
        (("--number", 3, "--out", "no/codes.txt"), "no/codes.txt"),
        (("--number", 3, "--hashes", "no/codes.note"), "no/codes.note"),
    ],
)
def test_nothing_is_written_for_a_bad_option(refused, village, tmp_path, more, said):
    before = {path.name for path in tmp_path.iterdir()}
    assert said in refused(*words(village, *more))
    assert {path.name for path in tmp_path.iterdir()} == before


def test_only_the_collector_of_a_contract_with_codes_makes_them(
    refused, village, tmp_path, monkeypatch
):
    assert "with this collector" in refused(*words(village, "--number", 3, role=0))
    other = tmp_path / "other"
    other.mkdir()
    open_one = begun(other, monkeypatch)
    assert 'got admission "open"' in refused(*words(open_one, "--number", 3))


def test_mix_1_refuses_another_file(refused, village, tmp_path):
    (tmp_path / "codes.note").write_text("codes\n")
    line = refused("mix", "codes", village.folders[0].path, "codes.note")
    assert "codes.note: expected a list of codes that the collector of a contract" in line
    assert "a list of codes" in refused("mix", "codes", village.folders[0].path, "none.note")
