"""What is installed is enough for what it is installed for, and no larger than was said."""

import re

import pytest

from client.net.test_bare_net import BUNDLE_BYTES, PROGRAM
from helpers.devices import NOW, World
from mixtally.app.page_files import generic_files
from mixtally.cli.main import LAB

DEVICE_MEGABYTES, LAB_MEGABYTES = 30, 260

pytestmark = pytest.mark.seconds


def test_a_device_takes_part_with_the_base_alone(installed, tmp_path):
    world, device = World(), installed()
    (tmp_path / "contract.note").write_bytes(world.note)
    (tmp_path / "sheet.note").write_bytes(world.sheet())
    done = device.run(PROGRAM, tmp_path, NOW, world.fingerprint, where=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"taken {BUNDLE_BYTES} ")


def test_it_has_nothing_of_the_lab(installed, tmp_path):
    """What makes the test above able to fail."""
    device = installed()
    for name in LAB:
        done = device.run(f"import {name}", where=tmp_path)
        assert "ModuleNotFoundError" in done.stderr, name
    assert device.run("import cryptography.hazmat", where=tmp_path).returncode == 0


@pytest.mark.parametrize("arguments", [["--help"], ["plan"], ["client", "log"], []])
def test_the_command_line_says_in_one_line_what_to_install(installed, tmp_path, arguments):
    done = installed().command(*arguments, where=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "mixtally: the command line: expected the packages of mixtally[lab], got no typer, as "
        "mixtally without extras contains the device only. pip install 'mixtally[lab]'\n"
    )


def test_a_single_missing_package_is_named(installed, tmp_path):
    partly = installed("lab", without=("numpy",))
    done = partly.command("check", "delta", "--protocol", "flip-blank", "--epsilon", "1",
                          "--fakes", "1e6", "--flip", "1e-4", where=tmp_path)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "got no numpy" in done.stderr


def test_what_is_missing_elsewhere_stays_a_traceback(installed, tmp_path):
    """A module of ours that is gone is a broken installation: nothing that an extra mends."""
    lab = installed("lab")
    (lab.folder / "mixtally" / "cli" / "app.py").unlink()
    done = lab.command("--help", where=tmp_path)
    assert "ModuleNotFoundError: No module named 'mixtally.cli.app'" in done.stderr


def test_the_lab_alone_says_what_reads_files(installed, tmp_path):
    lab = installed("lab")
    assert lab.command("example", "survey.csv", where=tmp_path).returncode == 0
    done = lab.command("simulate", "survey.csv", "--column", "fruit", "--epsilon", "1", "--delta",
                       "1e-6", where=tmp_path)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "pip install 'mixtally[data]'" in done.stderr


def test_the_lab_plays_the_example(installed, tmp_path):
    lab = installed("lab", "data")
    assert lab.command("example", "survey.csv", where=tmp_path).returncode == 0
    done = lab.command("simulate", "survey.csv", "--column", "fruit", "--epsilon", "1", "--delta",
                       "1e-6", "--json", where=tmp_path)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert {"apple", "quince"} <= set(re.findall(r'"(\w+)"', done.stdout))


def test_sizes_are_what_was_said(installed):
    device, lab = installed(), installed("lab")
    assert 5 < device.megabytes() < DEVICE_MEGABYTES  # cryptography alone has more than 5
    assert 50 < lab.megabytes() < LAB_MEGABYTES


def test_the_page_is_installed_with_the_lab(installed, tmp_path):
    lab = installed("lab")
    done = lab.command("page", "build", "--out", "page", where=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    page = tmp_path / "page"
    written = {path.relative_to(page).as_posix() for path in page.rglob("*") if path.is_file()}
    assert written == {*generic_files()}
    assert all((page / name).read_bytes() == data for name, data in generic_files().items())
