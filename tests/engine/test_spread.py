"""Tasks of a cluster have alike much to do."""

from itertools import accumulate

import pytest

from engine.sealed import at_a_mix, cluster_of
from mixtally.primitives.chance import SecureChance
from mixtally.server.engine.spark.work import ClusterPart, Export, parallelize_evenly


class Begun:
    """What is given to tasks, in place of a Spark that gives it."""

    def __init__(self):
        self.sparkContext = self

    def parallelize(self, each, tasks):
        assert len(each) == tasks
        self.each = each
        return self

    def flatMap(self, made):  # noqa: N802
        return [made(some) for some in self.each]


@pytest.mark.parametrize(("many", "most"), [(1, 16), (16, 16), (17, 16), (47, 16), (31, 2)])
def test_tasks_differ_by_one_at_most(many, most):
    tasks = parallelize_evenly(Begun(), range(many), most)
    assert [one for some in tasks for one in some] == list(range(many))
    assert len(tasks) == min(many, most)
    assert {len(some) for some in tasks} <= {many // len(tasks), many // len(tasks) + 1}


@pytest.mark.parametrize(
    ("rows", "size", "slices", "longest"),
    [
        (1, 50, 1, 50),
        (5000, 50, 1, 250_000),
        (5300, 50, 2, 5243 * 50),
        (100_000, 50, 16, 6250 * 50),
        (1040, 1 << 16, 16 + 4, 1 << 22),
        (3, 5_000_000, 3, 5_000_000),
    ],
)
def test_a_batch_is_cut_into_slices_however_large_it_is(tmp_path, rows, size, slices, longest):
    secrets = at_a_mix(0, fakes=0).secrets
    part = ClusterPart(cluster_of(tmp_path), secrets, b"", SecureChance(), "round", 0, size, 1)
    export = Export(part)
    assert export.write_envelopes(bytes(size) for _ in range(rows)) == rows
    lengths, positions = zip(*((one[2], one[5]) for one in export.table()), strict=True)
    assert [place * size for place in positions] == [0, *accumulate(lengths)][:-1]
    assert sum(lengths) == rows * size == export.bytes
    assert all(length % size == 0 for length in lengths)
    assert (len(lengths), max(lengths)) == (slices, longest)
