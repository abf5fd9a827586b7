"""A job is what ``sign`` wrote: whoever can write files and has no master key makes none."""

import json

import pytest

from helpers.mixes import Town
from mixtally.errors import DataError
from mixtally.server.mix.jobs import Jobs, job_path, take_job


@pytest.fixture
def town(tmp_path):
    return Town(tmp_path, hops=2)


@pytest.fixture
def node(town):
    node = town.node(1, sign=False, cleared=False)
    take_job(node, town.jobs[0], town.text)
    yield node
    node.close()


def look(node):
    jobs = Jobs(node)
    jobs.load_new()
    return jobs


def altered(node, job, change):
    path = job_path(node, job)
    plain = json.loads(path.read_text())
    change(plain)
    path.write_text(json.dumps(plain))


def test_what_sign_wrote_is_taken_up(town, node):
    assert look(node).by_contract[town.fingerprint] == town.jobs[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda job: job["streams"][0].update(recipe={"type": "none"}),
        lambda job: job.update(minimum_crowd=1),
        lambda job: job.update(place=2),
    ],
)
def test_a_job_that_was_altered_is_not_served(town, node, change):
    altered(node, town.jobs[0], change)
    with pytest.raises(DataError, match="the job that `mix sign` wrote, bound by"):
        look(node)
    take_job(node, town.jobs[0], town.text)  # whoever signs again mends it
    assert look(node).by_contract[town.fingerprint] == town.jobs[0]


def test_a_job_under_another_name(town, node):
    """Its own tag comes with it."""
    path = job_path(node, town.jobs[0])
    for ending in (".json", ".tag"):
        path.with_name(f"other-2{ending}").write_bytes(path.with_suffix(ending).read_bytes())
    with pytest.raises(DataError, match=r"other-2\.json"):
        look(node)


def test_a_job_without_its_tag(town, node):
    job_path(node, town.jobs[0]).with_suffix(".tag").unlink()
    with pytest.raises(DataError, match="one that was changed"):
        look(node)
