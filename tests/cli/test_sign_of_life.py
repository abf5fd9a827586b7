"""Long work shows on a terminal that it goes on, and leaves nothing behind; nowhere else."""

import io
import re
import sys
import time

from mixtally.cli.output import show_elapsed_time


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown_during(seconds, stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    with show_elapsed_time("planning"):
        time.sleep(seconds)
    return stream.getvalue()


def test_long_work_counts_its_seconds_and_clears_its_line(monkeypatch):
    text = shown_during(1.3, Terminal(), monkeypatch)
    assert text.startswith("\rplanning: 1 s\r")
    assert text.endswith(" \r")
    assert re.search(r"planning: \d+ s\s+$", text)


def test_short_work_and_files_show_nothing(monkeypatch):
    assert shown_during(0.0, Terminal(), monkeypatch).strip("\r") == ""
    assert shown_during(1.2, io.StringIO(), monkeypatch) == ""
