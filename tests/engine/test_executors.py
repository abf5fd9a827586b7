"""Executors of a cluster that are killed: what leaves is the same."""

import shutil

import pytest

from engine import faults
from engine.sealed import cluster_of, mixed
from mixtally.server.engine.engine import Engine
from mixtally.server.engine.spark import mixing, work

pytestmark = [
    pytest.mark.seconds,
    # Spark's own sockets to Java are left to the collector of garbage.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java: Spark cannot be begun"),
]


@pytest.mark.parametrize("stage", ["open_slices", "write_partition"])
def test_an_executor_killed_in_a_stage(sealed, wanted, tmp_path, planted, stage):
    """In the second stage its rows of the first are lost with it, and opened again elsewhere."""
    where = work if stage == "open_slices" else mixing
    planted(where, stage, faults.killing, mark=str(tmp_path / "killed"), whole=True)
    cluster = cluster_of(tmp_path, "local-cluster[2,1,1024]")
    assert mixed(sealed, Engine(0, cluster), tmp_path) == wanted
    assert (tmp_path / "killed").exists()
