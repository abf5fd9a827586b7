"""Freed memory stays with the process; where the system's allocator is another, so be it."""

import platform
import subprocess
import sys

import pytest

from mixtally.accounting.messages import keep_freed

FAULTS = """
import resource
import numpy as np
from mixtally.accounting.messages import keep_freed
{keep}
kept = [np.ones(50_000) for _ in range(4)]  # three of which are freed, and taken, and freed
del kept
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(200):
    some = [np.ones(50_000) for _ in range(4)]
    del some
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(keep):
    asked = [sys.executable, "-c", FAULTS.format(keep=keep)]
    return int(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that gives back")
def test_arrays_that_come_and_go_take_no_new_pages():
    # With huge pages the allocator can do so by itself: then nothing is taken in either case.
    assert 100 * faults("keep_freed()") <= faults("")


def test_it_holds_nothing():
    assert keep_freed() is None
