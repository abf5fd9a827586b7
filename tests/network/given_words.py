"""One plan played from given words by one process, from shards, and by a network over loopback.

Given are the words of every device, which tests of wires have too, and those of every mix's fakes.
"""

import shutil
from typing import NamedTuple

import numpy as np

from helpers import contracts
from mixtally.lab.simulation.play import play
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.grid import Grid
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.model.received import PartReceived, Received
from mixtally.protocol.encode.hashed import look_up_words
from mixtally.protocol.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.mixing import draw_recipe_messages, shuffle
from mixtally.protocol.tally.fold import tally_messages
from mixtally.protocol.tally.sift import sift
from mixtally.report.texts import whole_facts
from mixtally.server.collector.concluding import Conclusion
from mixtally.server.collector.results import round_document
from mixtally.server.collector.stored import Results
from mixtally.server.engine.engine import Engine
from mixtally.server.engine.shards import shard
from mixtally.server.engine.shards.fold import fold
from mixtally.server.mix.mix import Options
from network.conftest import folder
from network.onwires import OnWires, Words, call
from reference.answer import answer
from reference.person import person_messages

HOPS, PEOPLE = 3, 5
OWN = OwnFakes(FakeRecord.BLANK, 1, 1 << 63)
RANDOM = OwnFakes(FakeRecord.UNIFORM, 1, 1 << 63)


def planned(question, *parts, **changes):
    return contracts.plan_of(
        question, parts, hops=HOPS, users=PEOPLE, minimum_crowd=2, collections=3, **changes
    )


class Scene(NamedTuple):
    """A plan, and what people answer."""

    plan: object
    values: list


SCENES = {
    "in clear, coins of people": Scene(
        planned(Question(name="q", bins=4), contracts.uniform(4, whole=1, coin=1 << 63)),
        [0, 0, 3, 1, 0],
    ),
    "flipped among blanks of people": Scene(
        planned(Question(name="q", bins=9), contracts.flipped(9, own=OWN), count_flips=True),
        [8, 2, 2, 2, 0],
    ),
    "in clear, fakes of every mix": Scene(
        planned(Question(name="q", bins=4), contracts.shaped(4, shift=3)), [1, 1, 1, 2, 0]
    ),
    "flipped among blanks of every mix": Scene(
        planned(
            Question(name="q", bins=9, kind=Kind.SET, max_set=2),
            contracts.flipped(9, most_set=2, blanks=4, form=contracts.Form.POSITIONS, cap=5),
        ),
        [[0, 1], [], [8], [1], [1, 2]],
    ),
    "planes, coins of people": Scene(
        planned(Question(name="q", bins=40), contracts.over_planes(40, 5, whole=1)),
        [39, 7, 7, 0, 39],
    ),
    "planes of every mix": Scene(
        planned(Question(name="q", bins=9), contracts.over_planes(9, 2, drawn=6)), [8, 3, 3, 3, 0]
    ),
    "in clear, Gaussian fakes of every mix": Scene(
        planned(Question(name="q", bins=4), contracts.gaussian(4, variance=2, shift=5)),
        [1, 1, 1, 2, 0],
    ),
    "yes or no, paired fakes of every mix": Scene(
        planned(Question(name="q", bins=2), contracts.paired(shift=3)), [1, 1, 1, 0, 0]
    ),
    # One part: between two of them a mix takes words for the order of messages.
    "a bit in clear, paired fakes of every mix": Scene(
        planned(
            Question(name="q", bins=1, kind=Kind.BITS),
            contracts.paired_gaussian(variance=2, shift=4),
        ),
        [[0], [1], [0], [0], [1]],
    ),
    "replaced beside fakes of people": Scene(
        planned(Question(name="q", bins=4), contracts.replaced(4, own=RANDOM), count_flips=True),
        [3, 1, 1, 2, 1],
    ),
    "planes, replaced": Scene(
        planned(
            Question(name="q", bins=40),
            contracts.over_planes(40, 5, whole=1, share=0.25),
            count_flips=True,
        ),
        [39, 7, 7, 0, 39],
    ),
    "sets in clear, coins of people": Scene(
        planned(
            Question(name="q", bins=6, kind=Kind.SET, max_set=2),
            contracts.uniform(6, whole=1, most_set=2),
        ),
        [[0, 1], [], [5], [1], [1, 2]],
    ),
    "sets over planes, coins of people": Scene(
        planned(
            Question(name="q", bins=40, kind=Kind.SET, max_set=2),
            contracts.over_planes(40, 5, whole=1, most_set=2),
        ),
        [[0, 39], [], [39], [1], [1, 2]],
    ),
    "sets of texts, coins of people": Scene(
        planned(
            contracts.pairs_of_texts(5**26),
            contracts.over_planes(5**26, 5, whole=1, most_set=2),
        ),
        [["a", "cafe\u0301"], [], ["caf\u00e9"], ["b"], ["b", "a"]],
    ),
    "sets over planes of every mix": Scene(
        planned(
            Question(name="q", bins=40, kind=Kind.SET, max_set=2),
            contracts.over_planes(40, 5, drawn=6, most_set=2),
        ),
        [[0, 39], [], [39], [1], [1, 2]],
    ),
    "sets replaced, coins of people": Scene(
        planned(
            Question(name="q", bins=6, kind=Kind.SET, max_set=2),
            contracts.replaced(6, most_set=2, own=RANDOM),
            count_flips=True,
        ),
        [[0, 1], [], [5], [1], [1, 2]],
    ),
    "sets over planes, replaced": Scene(
        planned(
            Question(name="q", bins=40, kind=Kind.SET, max_set=2),
            contracts.over_planes(40, 5, coin=0, share=0.25, most_set=2),
            count_flips=True,
        ),
        [[0, 39], [], [39], [1], [1, 2]],
    ),
    "rounded numbers": Scene(
        planned(
            Question(name="q", bins=3),
            contracts.uniform(3, whole=1),
            grid=Grid(low=-1.0, high=1.0, points=3),
        ),
        [-1.0, 0.25, 0.9, 0.0, -0.4],
    ),
    "attributes, a part each": Scene(
        planned(
            make_attributes_question("q", (2, 3)),
            contracts.uniform(2, whole=1, coin=1 << 62),
            contracts.uniform(3, coin=1 << 63),
        ),
        [[0, 2], [1, 1], [1, 2], [0, 0], [1, 2]],
    ),
}
COINS, FLIPS, SHAPED, *OTHERS = SCENES
LISTED = ["a", "b", "caf\u00e9", "nobody"]
"""Words that are looked for where the question is open."""


def of_mix(hop):
    """The words of a mix's fakes."""
    return SeededChance(100 + hop)


class NoFakes:
    """Words by which the second mix draws no fake in any bin; the others draw as always."""

    def __init__(self, hop):
        self._chance, self._none = of_mix(hop), hop == 2

    def words(self, count):
        words, none = self._chance.words(count), self._none
        self._none = False
        return np.zeros_like(words) if none else words


class OfDevice:
    """The words of a device, as the reference takes them."""

    def __init__(self, person):
        self._words = Words(person)

    def words(self, count):
        return np.frombuffer(self._words(count), dtype="<u8").astype(np.uint64)


# -- who does the work ----------------------------------------------------------------------------


class Batch(NamedTuple):
    """What reaches whoever counts: a part's messages, and how many each mix says it added."""

    rows: list
    declared: list


def mixed(scene, of_mix=of_mix):
    """Devices, then mixes, in this process."""
    plan = scene.plan
    sent = []
    for person, value in enumerate(scene.values):

        def own(chance, value=value):
            return answer(plan, value, chance=chance)

        sent.append(person_messages(plan, own, OfDevice(person)))
    chances, batch = [of_mix(hop) for hop in range(1, HOPS + 1)], Batch([], [])
    for place, part in enumerate(plan.parts):
        rows = part.layout.parse_messages([message for person in sent for message in person[place]])
        declared = []
        for chance in chances:
            fakes = draw_recipe_messages(part.recipe, part.layout, chance)
            rows = shuffle(np.concatenate([rows, fakes]), chance)
            declared.append(len(fakes) or None)
        batch.rows.append(rows)
        batch.declared.append(tuple(declared))
    return batch


def in_memory(plan, batch):
    """(tally, reason -> dropped) of each part."""
    for part, rows in zip(plan.parts, batch.rows, strict=True):
        sifted = sift(part.layout, rows)
        yield tally_messages(part.layout, sifted.rows), sifted.dropped


def in_shards(place, processes=0):
    """The same of messages that lie in three files a part, counted by so many processes."""

    def by(plan, batch):
        for number, (part, rows) in enumerate(zip(plan.parts, batch.rows, strict=True)):
            urls, size = [], part.layout.message_bytes
            for place_, some in enumerate(np.array_split(rows, 3)):
                path = place / f"{number}-{place_}.parquet"
                label = shard.ShardLabel(plan=plan.fingerprint, batch="b", number=place_)
                with path.open("wb") as file:
                    shard.write_shard(file, [some], size, label)
                urls.append(path.as_uri())
            made = fold(urls, part.layout, plan.fingerprint, processes=processes)
            assert (made.counted, made.lost) == (3, ())
            yield made.tally, made.dropped

    return by


class Came(NamedTuple):
    """What reached whoever concludes."""

    received: Received
    tallies: list


def counted_by(scene, by, of_mix=of_mix):
    """Devices, mixes and whoever counts, in this process."""
    batch, tallies, parts = mixed(scene, of_mix), [], []
    for (tally, dropped), declared in zip(by(scene.plan, batch), batch.declared, strict=True):
        tallies.append(tally)
        came = {"declared": declared, "received": tally.messages, "dropped": dropped}
        parts.append(PartReceived(**came))
    return Came(Received(contributors=len(scene.values), parts=tuple(parts)), tallies)


def analysis_of(plan):
    if plan.question.hashed is None:
        return COUNTS_ALONE
    return Analysis(listed=look_up_words(plan.question, LISTED))


def written(held, came, place):
    """The result of a round that was held, as a collector writes it."""
    plan = held.agreed.contract.plan
    result = conclude(plan, came.tallies, analysis_of(plan), received=came.received)
    return as_published(held, Conclusion(came.received, result, None), place)


def as_published(held, found, place):
    kept = Results(place)
    kept.publish("one", whole_facts(round_document(held, found, top=0)))
    return kept.read_result("one")


class Turns:
    """The words of a simulation in which people draw nothing: those of one mix after the other."""

    def __init__(self, of_mix):
        self._of_mix, self.words = of_mix, of_mix(1).words

    def progress(self, kind, done, whole):
        """The next mix has its turn."""
        if kind == "mix" and done < whole:
            self.words = self._of_mix(done + 1).words


def simulated(scene, of_mix=of_mix):
    """A round of ``mixtally simulate``."""
    turns = Turns(of_mix)
    played = play(scene.plan, [np.array(scene.values)], turns, turns.progress)
    return Came(played.received, played.tallies)


class Played(NamedTuple):
    """A round that was held, and its result as the collector serves it."""

    held: object
    result: bytes


def network(taps, name, engine=None, of_mix=of_mix):
    """People answer over loopback, mixes draw from given words, the collector publishes."""
    engine, scene, where = engine or Engine(), SCENES[name], folder()
    stage = OnWires(where, taps, plan=scene.plan)
    try:
        stage.all_awake(options=Options(engine=engine))
        try:
            stage.office._engine = engine
            stage.round()
            for person, value in enumerate(scene.values):
                assert stage.answer(value, person)
            for hop, mix in enumerate(stage.mixes, 1):
                mix.node.chance = of_mix(hop)
            stage.finish()
            address = stage.folders[-1].role.address
            result = call(address, "GET", stage.path("/result")).body
            held = stage.office.shown_round(stage.row())
            if scene.plan.question.hashed is not None:  # words are counted when they are listed
                found = stage.office.conclusion(stage.row(), analysis_of(scene.plan))
                result = as_published(held, found, where / "listed")
            return Played(held, result)
        finally:
            stage.end()
    finally:
        taps.take()
        shutil.rmtree(where)
