"""One plan from given words comes to one result, byte for byte, whoever does the work.

Given are the words of every device and those of every mix's fakes. Keys, layers and the order in
which messages leave a mix are not, and change nothing. One process draws for each person by the
reference in numpy, mixes and counts in memory or from shards; in a network devices, three mixes and
a collector speak over loopback, and open, order and count by themselves, with other processes, or
on Spark. A simulation draws for all people at once, by other words: it is compared where people
draw nothing.
"""

import importlib.util
import shutil
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from engine.sealed import cluster_of
from helpers.scripted_chance import Scripted
from mixtally.lab.simulation.counts_only import draw_part
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.server.engine import folding
from mixtally.server.engine.engine import Engine
from mixtally.server.engine.shards import shard_tally
from mixtally.server.mix.closing import source
from network.given_words import (
    COINS,
    FLIPS,
    OTHERS,
    PEOPLE,
    SCENES,
    SHAPED,
    NoFakes,
    counted_by,
    in_memory,
    in_shards,
    network,
    simulated,
    written,
)
from network.onwires import NAMES
from network.wiretap import Taps

QUICK = [COINS, FLIPS, SHAPED, *(pytest.param(name, marks=pytest.mark.seconds) for name in OTHERS)]


@pytest.fixture(scope="module")
def taps():
    made = Taps(NAMES)
    yield made
    made.end()


@pytest.fixture(scope="module")
def played(taps):
    """The rounds of a network whose roles work by themselves, each played once."""
    known = {}

    def play(name):
        if name not in known:
            known[name] = network(taps, name)
        return known[name]

    return play


# -- the same bytes -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", QUICK)
def test_one_process_and_a_network(played, name, place):
    held, result = played(name)
    assert b'"released": true' in result
    assert written(held, counted_by(SCENES[name], in_memory), place) == result


@pytest.mark.parametrize("name", QUICK)
def test_messages_in_shards(played, name, place):
    held, result = played(name)
    assert written(held, counted_by(SCENES[name], in_shards(place)), place) == result


def test_a_simulation(played, place):
    held, result = played(SHAPED)
    assert written(held, simulated(SCENES[SHAPED]), place) == result


@pytest.mark.seconds
def test_a_mix_that_happens_to_draw_nothing(taps, place):
    """Nobody can tell it from one that does not draw: the promise rests on the others."""
    held, result = network(taps, SHAPED, of_mix=NoFakes)
    assert b'"rests_on": [\n  "mix-1",\n  "mix-3"\n ]' in result
    scene = SCENES[SHAPED]
    assert written(held, counted_by(scene, in_memory, NoFakes), place) == result
    assert written(held, simulated(scene, NoFakes), place) == result


def test_fakes_that_happen_to_be_none_are_declared_as_none():
    scene = SCENES[SHAPED]
    (came,) = simulated(scene, NoFakes).received.parts
    assert [many is None for many in came.declared] == [False, True, False]
    zeros = Scripted(*[0] * 12)  # four make a generator, then one a bin of each mix
    came, _ = draw_part(scene.plan.parts[0], np.array([1, 3, 1, 0]), PEOPLE, 2, zeros)
    assert (came.declared, zeros.left) == ((None, None), [])


@pytest.mark.seconds
@pytest.mark.parametrize("name", SCENES)
def test_worker_processes_that_count_shards(played, name, place):
    held, result = played(name)
    assert written(held, counted_by(SCENES[name], in_shards(place, 2)), place) == result


@pytest.mark.seconds
@pytest.mark.parametrize("name", SCENES)
def test_worker_processes_of_every_role(taps, name, place):
    held, result = network(taps, name, Engine(2))
    assert written(held, counted_by(SCENES[name], in_memory), place) == result


# -- on Spark -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A Spark for all roles and rounds here, and where its jobs lie."""
    from mixtally.server.engine.spark import session

    cluster = cluster_of(tmp_path_factory.mktemp("begun"))
    with session.open_session(cluster) as spark:
        yield spark, cluster


@pytest.mark.seconds
# Spark's own sockets to Java are left to the collector of garbage.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")
@pytest.mark.skipif(
    shutil.which("java") is None or importlib.util.find_spec("pyspark") is None,
    reason="no Java or no PySpark: Spark cannot be begun",
)
@pytest.mark.parametrize("name", SCENES)
def test_spark_at_every_role(taps, begun, monkeypatch, name, place):
    from mixtally.server.engine.spark import session

    spark, cluster = begun
    monkeypatch.setattr(session, "open_session", lambda _: nullcontext(spark))
    held, result = network(taps, name, Engine(0, cluster))
    assert written(held, counted_by(SCENES[name], in_memory), place) == result


# -- planted --------------------------------------------------------------------------------------


def test_a_mix_that_drops_a_message_is_found(taps, plant, place):
    """By no number of the round: as many might have come of other coins, and it is released."""

    def all_but_one(honest, *given):
        sent, said = honest(*given)
        sent[np.flatnonzero(sent)[0]] = False
        return source.Selection(sent, said._replace(received=said.received - 1))

    plant(source, "_select", all_but_one)
    held, result = network(taps, COINS)
    assert b'"released": true' in result
    assert written(held, counted_by(SCENES[COINS], in_memory), place) != result


def miscounted(honest, self):
    """One more in the first bin."""
    tally = honest(self)
    return replace(tally, counts=tally.counts + (np.arange(len(tally.counts)) == 0))


@pytest.mark.seconds
def test_a_collector_that_miscounts_by_one_is_found(taps, plant, place):
    plant(folding.SiftedTally, "tally", miscounted)
    held, result = network(taps, FLIPS)
    assert b'"released": true' in result
    assert written(held, counted_by(SCENES[FLIPS], in_memory), place) != result


def test_shards_that_are_miscounted_by_one_are_found(played, plant, place):
    held, result = played(FLIPS)
    plant(shard_tally.SiftedTally, "tally", miscounted)
    assert written(held, counted_by(SCENES[FLIPS], in_shards(place)), place) != result


@pytest.mark.seconds
def test_a_mix_that_draws_other_words_is_found(taps, place):
    held, result = network(taps, SHAPED, of_mix=lambda hop: SeededChance(200 + hop))
    assert b'"released": true' in result
    assert written(held, counted_by(SCENES[SHAPED], in_memory), place) != result
