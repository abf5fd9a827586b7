"""A page of bundles that the disk has lost costs these bundles alone, and they are counted."""

import random

import pytest

from helpers.mixes import Town, manifests, run
from mixtally.primitives.chance import SecureChance
from mixtally.server.mix.intake import open_bodies, read_bodies
from mixtally.server.mix.salvage import count_lost, is_damaged, salvage_bodies
from mixtally.server.node.events import Log

SIZE, PAGE, ROWS = 300, 16384, 400
LAST = -1
CHANCE = SecureChance()


def store(folder, rows=ROWS, bundles=1):
    held = open_bodies(folder / "intake-0.db")
    held.execute("BEGIN")
    for _ in range(rows):
        body = CHANCE.words(SIZE * bundles // 4 + 1).tobytes()[: SIZE * bundles]
        held.execute("INSERT INTO bodies (body) VALUES (?)", (body,))
    held.execute("COMMIT")
    held.close()


def damage(path, page, kind):
    """Overwrite a page, or cut the file off in the middle of it."""
    pages = path.stat().st_size // PAGE
    with path.open("r+b") as file:
        start = file.seek(page % pages * PAGE)
        if kind == "cut":
            file.truncate(start + PAGE // 2)
        else:
            file.write(bytes(PAGE) if kind == "zeros" else random.Random(page).randbytes(PAGE))


def read(folder):
    return b"".join(read_bodies(folder))


@pytest.mark.parametrize("kind", ["zeros", "noise"])
@pytest.mark.parametrize(
    ("rows", "bundles", "page"),
    [(ROWS, 1, 3), (ROWS, 1, 5), (ROWS, 1, LAST), (20, 300, 3), (20, 300, 5)],
)
def test_what_can_be_read_is_kept_and_the_rest_is_counted(tmp_path, page, rows, bundles, kind):
    store(tmp_path, rows, bundles)
    before = read(tmp_path)
    damage(tmp_path / "intake-0.db", page, kind)
    with pytest.raises(Exception, match="malformed") as found:
        read(tmp_path)
    assert is_damaged(found.value)
    (tmp_path / "salvaged-0.part").write_bytes(b"of an attempt that was killed")
    salvage_bodies(tmp_path, SIZE)
    kept = read(tmp_path)
    lost = (len(before) - len(kept)) // SIZE
    assert 0 < lost < rows * bundles // 2
    assert count_lost(tmp_path) == lost  # known from the numbers of the rows
    at = 0
    for start in range(0, len(kept), SIZE):  # in order, and nothing else
        at = before.index(kept[start : start + SIZE], at) + SIZE
    salvage_bodies(tmp_path, SIZE)
    assert read(tmp_path) == kept
    assert not list(tmp_path.glob("*.part*"))


@pytest.mark.parametrize(("page", "kind"), [(0, "zeros"), (0, "noise"), (1, "zeros"), (3, "cut")])
def test_a_file_without_its_first_pages_is_lost_and_estimated(tmp_path, page, kind):
    store(tmp_path)
    damage(tmp_path / "intake-0.db", page, kind)
    salvage_bodies(tmp_path, SIZE)
    kept = len(read(tmp_path)) // SIZE
    lost = count_lost(tmp_path)
    assert kept < ROWS
    assert lost >= 1 if kind == "cut" else ROWS <= kept + lost <= 2 * ROWS


def test_other_files_are_left_as_they_are(tmp_path):
    store(tmp_path)
    (tmp_path / "intake-0.db").rename(tmp_path / "intake-7.db")
    store(tmp_path)
    damage(tmp_path / "intake-0.db", 3, "zeros")
    salvage_bodies(tmp_path, SIZE)
    assert [path.name for path in tmp_path.glob("salvaged-*")] == ["salvaged-0.db"]
    assert len(read(tmp_path)) == (2 * ROWS - count_lost(tmp_path)) * SIZE


def test_a_round_goes_on_with_what_is_readable(tmp_path):
    """The page is lost between the end of the window and the count."""
    town, lines = Town(tmp_path, hops=1), []

    def step(name):
        if name == "after window gone" and not damaged:
            (folder,) = town.folders[0].subfolder("rounds").iterdir()
            damage(folder / "intake-0.db", LAST, "zeros")
            damaged.append(folder)

    damaged = []
    town.all_awake(step=step)
    town.round()
    town.mixes[0].node.log = Log(lines.append)
    for place in range(7):
        body = b"".join(town.bundle([bytes([i % 4])]) for i in range(40))
        assert town.send(body).status == 201, place
    run(town)
    assert town.mixes[0].stopped == []
    counted = manifests(town)[0].bundles
    assert 0 < counted < 280
    assert len(town.opened()[0]) == counted + manifests(town)[0].parts[0].added
    told = [line.split("Z ")[1].split(" ", 2) for line in lines]
    assert ["bundles", "lost", f"contract=opinion round=1 about={280 - counted}"] in [
        [*one[:2], one[2].replace(town.contract.name, "opinion")] for one in told
    ]
    (mixed,) = [line for line in lines if "round mixed" in line]
    assert mixed.endswith(f"bundles={counted} lost={280 - counted}")
    town.receive()
    town.tick()
    assert not list(town.folders[0].subfolder("rounds").iterdir())
    town.end()
