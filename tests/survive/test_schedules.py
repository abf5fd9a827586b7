"""Random schedules of a collection: kills, old copies, lost and doubled requests, silence, clocks.

Every acknowledged message is counted once, or its round is declared to be destroyed or expired.
"""

import shutil
from random import Random

import pytest

from helpers.role_processes import Fault
from helpers.sampled import exhaustive
from helpers.whole_collection import INTAKE, Stage, check

STEPS = [
    *("tables", "sign contract", "sign sheet", "sign receipt", "sign manifest", "errand", "merge"),
    *("remember receipt", "remember manifest", "intake", "state open", "state closed"),
    *("state mixed", "state delivered", "state shredded", "state received", "state counted"),
]
STEPS = [f"{when} {step}" for step in STEPS for when in ("before", "after")]
STEPS += ["after key", "after drawn", "after opened", "after piece in", "after piece out", "chunk"]
STEPS += ["after charge", "after tally", "after result", "after key destroyed", "after shred"]
DEVICE_STEPS = ["made", "checked", "sealed", "written", "entered", "begun", "answered", "ended"]
TROUBLE = 0.04
"""The chance of each trouble of a request."""


class Schedule(Stage):
    """A collection of two rounds that follows from a seed.

    where
      kills   that are left
      old     role -> an early copy of its folder, which is put in its place once
    """

    def __init__(self, place, seed):
        self.chance = chance = Random(seed)
        self.calmed, self.kills, self.old, self.refused = False, 12, {}, []
        few = chance.random() < 0.1
        super().__init__(
            place, hops=chance.choice([2, 3]), rounds=2, people=5, answering=1 if few else 5
        )
        self.clocks = {name: chance.randint(-3, 3) for name in self.specs}
        self.silent = dict.fromkeys(self.specs, 0)
        self.late = chance.choice([None, None, None, *self.specs])
        self.restored = chance.choice([None, *self.addresses.values()])

    # -- troubles -------------------------------------------------------------------------------

    def wake(self):
        """Some begin again later, or from an old copy, which ends by itself."""
        for name, process in self.processes.items():
            if process.why is not None and "OldStateError" in process.why:
                process.why = None
                self.refused.append(name)
                self._swap(name)
            if not process.alive and not self.silent[name] and not self.calmed:
                self.silent[name] = self.chance.choice([0, 0, 3])
        super().wake()

    def _begin(self, name, spec):
        if self.silent[name] and name in self.processes:
            self.ended.pop()
            return
        if self.kills and self.chance.random() < 0.6 and not self.calmed:
            self.kills -= 1
            steps = DEVICE_STEPS if name == "devices" else STEPS
            fault = Fault(self.chance.choice(steps), self.chance.choice([1, 1, 2, 5]))
            self.faults[name] = [fault]
        super()._begin(name, spec)

    def hand(self, sender, name, method, path, body):
        """Lost on its way there or back, or twice."""
        trouble = 1.0 if self.calmed else self.chance.random()
        if self.silent[name] or trouble < TROUBLE:
            return None
        now, self.now = self.now, self.now + self.clocks[name]
        try:
            answer = super().hand(sender, name, method, path, body)
            if trouble < 2 * TROUBLE:
                answer = super().hand(sender, name, method, path, body)
        finally:
            self.now = now
        return None if 2 * TROUBLE <= trouble < 3 * TROUBLE else answer

    def tick(self):
        """Some are slow, and clocks go astray."""
        self.wake()
        names = list(self.specs)
        self.chance.shuffle(names)
        for name in names:
            if self.silent[name]:
                self.silent[name] -= 1
            elif self.calmed or self.chance.random() < 0.8:
                self.processes[name].tell("tick", self.now + self.clocks[name])
            if not self.calmed and self.chance.random() < 0.01:
                self.silent[name] = self.chance.randint(1, 8)
                self.clocks[name] += self.chance.randint(-5, 5)
        self.now += self.chance.randint(1, 4)

    def calm(self):
        """All is well in the end."""
        self.calmed = True
        self.silent = dict.fromkeys(self.specs, 0)

    # -- the story ------------------------------------------------------------------------------

    def signed(self):
        """When all have signed the contract, a copy is made of somebody's folder."""
        done = super().signed()
        if done and self.restored and self.restored not in self.old:
            self._stop(self.restored)
            place = self.specs[self.restored].path
            self.old[self.restored] = place.with_name(f"{place.name}-old")
            shutil.copytree(place, self.old[self.restored])
        return done

    def before_end(self, row):
        """The old copy is put in its folder's place; somebody is late for a round."""
        if row["round"] == 1 and self.restored:
            self._stop(self.restored)
            self._swap(self.restored)
            self.until(lambda: self.restored in self.refused, "an old copy that is refused")
        if row["round"] == 2 and self.late:
            self._stop(self.late)
            self.silent[self.late] = 1_000_000
            for _ in range(self.chance.randint(1, 20)):
                self.tick()
            self.now = row["expires"] + 10
            for _ in range(10):
                self.tick()
            self.silent[self.late] = 0

    def _stop(self, name):
        """As an operator would."""
        if self.processes[name].alive:
            self.processes[name].end()

    def _swap(self, name):
        """The old copy for the newest folder, or the newest again."""
        self._stop(INTAKE)
        place, old = self.specs[name].path, self.old[name]
        aside = place.with_name(f"{place.name}-aside")
        place.rename(aside)
        old.rename(place)
        aside.rename(old)


def soaked(place, seed):
    """A schedule that is played to its end."""
    stage = Schedule(place, seed)
    try:
        stage.play()
        check(stage)
    except BaseException as error:
        error.add_note(f"seed {seed}; ended: {stage.ended}")
        raise
    finally:
        stage.end()


@pytest.mark.seconds
def test_a_random_schedule(tmp_path):
    soaked(tmp_path / "one", 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed",
    [100, 110, 117, *exhaustive(n for n in range(100, 120) if n not in (100, 110, 117))],
)
def test_random_schedules(tmp_path, seed):
    soaked(tmp_path / "one", seed)
