"""Long work shows on a terminal that it goes on, and leaves nothing behind; nowhere else."""

import io
import re
import sys
import time

from mixtally.cli.output import show_elapsed_time


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown_during(work, stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    with show_elapsed_time("planning"):
        work()
    return stream.getvalue()


def test_long_work_counts_its_seconds_and_clears_its_line(monkeypatch):
    stream, until = Terminal(), time.monotonic() + 60

    def work():
        while "planning" not in stream.getvalue() and time.monotonic() < until:
            time.sleep(0.05)

    text = shown_during(work, stream, monkeypatch)
    assert text.startswith("\rplanning: 1 s\r")
    assert text.endswith(" \r")
    assert re.search(r"planning: \d+ s\s+$", text)


def test_short_work_and_files_show_nothing(monkeypatch):
    """A machine that needs a second for no work shows it, as it has to."""
    began = time.monotonic()
    shown = shown_during(lambda: None, Terminal(), monkeypatch).strip("\r")
    assert shown == "" or time.monotonic() - began >= 1.0
    assert shown_during(lambda: time.sleep(1.2), io.StringIO(), monkeypatch) == ""
