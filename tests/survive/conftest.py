"""Folders in memory where there is some: a process that is killed leaves the same there."""

import shutil
import tempfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def shelf():
    """A folder for a module's tests."""
    memory = Path("/dev/shm")
    place = Path(tempfile.mkdtemp(prefix="mixtally-", dir=memory if memory.is_dir() else None))
    yield place
    shutil.rmtree(place)


@pytest.fixture
def tmp_path(shelf):
    """A folder for one test."""
    return Path(tempfile.mkdtemp(dir=shelf))
