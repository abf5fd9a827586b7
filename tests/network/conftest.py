"""Roles in memory: a round syncs some hundred times, which no test here is about."""

import shutil
import tempfile
from pathlib import Path

import pytest

SHARED = Path("/dev/shm")


def folder():
    """A new one, on a disk without a head where there is one."""
    return Path(tempfile.mkdtemp(prefix="mixtally-", dir=SHARED if SHARED.is_dir() else None))


@pytest.fixture
def place():
    made = folder()
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def shared_place():
    made = folder()
    yield made
    shutil.rmtree(made)
