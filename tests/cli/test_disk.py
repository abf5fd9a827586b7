"""A disk that fails: one line, status 2, and what was there before is still there."""

import errno
import os
from pathlib import Path

import pytest

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def fail_fsync(plant):
    def fsync(_honest, _):
        raise FULL

    plant(os, "fsync", fsync)


def fail_open(plant):
    def opened(honest, self, mode="r", *more, **named):
        if "w" in mode:
            raise FULL
        return honest(self, mode, *more, **named)

    plant(Path, "open", opened)


def fail_second_rename(plant):
    calls = []

    def replace(honest, self, target):
        calls.append(target)
        if len(calls) == 2:
            raise FULL
        return honest(self, target)

    plant(Path, "replace", replace)


def contents(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def simulate(crowd):
    given = ("simulate", crowd / "crowd.csv", "--column", "color", "--epsilon", 1)
    return (*given, "--delta", "1e-6", "--out", crowd / "out")


@pytest.mark.parametrize("fail", [fail_fsync, fail_open, fail_second_rename])
def test_earlier_reports_stay_as_they_were(cli, refused, simulate, crowd, plant, fail):
    assert cli(*simulate, "--seed", 1).status == 0
    before = contents(crowd / "out")
    fail(plant)
    assert "no space left on device" in refused(*simulate, "--seed", 2)
    assert contents(crowd / "out") == before


@pytest.mark.parametrize("fail", [fail_fsync, fail_open])
def test_a_new_folder_stays_empty(refused, simulate, crowd, plant, fail):
    fail(plant)
    refused(*simulate)
    assert contents(crowd / "out") == {}


@pytest.mark.parametrize("fail", [fail_fsync, fail_open])
def test_an_earlier_plan_stays_as_it_was(refused, plan_file, plant, fail):
    before = plan_file.read_bytes()
    fail(plant)
    given = ("--epsilon", 2, "--delta", "1e-6", "--users", 1000, "--bins", 5)
    refused("plan", *given, "--out", plan_file)
    assert plan_file.read_bytes() == before
    assert not list(plan_file.parent.glob(".*"))


def test_a_file_in_the_place_of_the_folder_is_kept(refused, simulate, crowd):
    (crowd / "out").write_text("mine")
    refused(*simulate)
    assert (crowd / "out").read_text() == "mine"


def test_a_folder_in_the_place_of_the_plan_is_kept(refused, tmp_path):
    (tmp_path / "plan").mkdir()
    given = ("--epsilon", 1, "--delta", "1e-6", "--users", 1000, "--bins", 5)
    refused("plan", *given, "--out", tmp_path / "plan")
    assert [path.name for path in tmp_path.iterdir()] == ["plan"]


def test_no_device_pipe_or_directory_is_replaced(refused, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    given = ("plan", "--epsilon", 1, "--delta", "1e-6", "--users", 1000, "--bins", 5, "--out")
    for name, what in (("pipe", "a device, pipe or socket"), ("folder", "a directory")):
        assert f"got {what}" in refused(*given, tmp_path / name)
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pipe"]


@pytest.mark.parametrize(
    "command",
    [
        ("simulate", "crowd.csv", "--column", "color", "--epsilon", 1, "--delta", "1e-6"),
        ("simulate epochs", "crowd.csv", "--column", "color", "--epsilon", 1, "--delta", "1e-6"),
        (
            "simulate",
            "crowd.csv",
            "--winner",
            "--column",
            "color",
            "--epsilon",
            1,
            "--delta",
            "1e-6",
        ),
        ("simulate memoized", "crowd.csv", "--column", "color"),
        ("simulate words", "crowd.csv", "--column", "color", "--epsilon", 1, "--delta", "1e-6"),
        ("check attack", "plan.json"),
        ("demo",),
    ],
    ids=lambda given: given[0] + " winner" * ("--winner" in given),
)
@pytest.mark.parametrize("out", ["there", "there/below"])
def test_a_file_where_a_folder_is_wanted_is_noticed_before_the_work(
    refused, crowd, monkeypatch, command, out
):
    monkeypatch.chdir(crowd)
    Path("there").write_text("mine")
    monkeypatch.setattr("mixtally.cli.output.publish", None)  # nothing gets so far
    assert "got the file there" in refused(*command, "--out", out)
    assert Path("there").read_text() == "mine"
