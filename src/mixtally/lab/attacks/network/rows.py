"""The attacks of hostile hops: one row of the report for each attack and hop.

Each row is played until its share of the time is over. In one round, V people (*victims*) are
attacked. Victim i holds bin 2i in world u and bin 2i + 1 in world v, and all others hold the last
bin. The attacker knows the answers of all others, and records the messages that the collector
receives. If every mix draws shaped fakes, bins are independent, so a round is V independent runs of
the game. Otherwise V is 1.

The attacker has two statistics. One is the likelihood ratio of all messages, as in the games of
``lab.attacks.games``. The other is the likelihood ratio of the single message that arrives in the
position in which the victim's message was sent. The second statistic proves something only if an
honest mix does not shuffle. Each statistic uses half of the row's false-alarm probability.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import numpy as np

from mixtally.errors import ParameterError, not_one_of
from mixtally.lab.attacks.clear_games import ShapedGame
from mixtally.lab.attacks.counted_game import CountedGame
from mixtally.lab.attacks.epsilon_proof import prove
from mixtally.lab.attacks.game import draw_pilot
from mixtally.lab.attacks.games import game_among
from mixtally.lab.attacks.network.adversary import ATTACKS, Attack, role_name
from mixtally.lab.attacks.network.arena import Arena
from mixtally.lab.attacks.outcome import AttackLab, Hypothesis, Outcome, Verdict, conclude_game
from mixtally.lab.attacks.target import HidingPeople, Target
from mixtally.lab.attacks.worlds import Worlds
from mixtally.model.contract import Plan
from mixtally.model.question import Kind

_MOST_VICTIMS, _CROWD = 16, 24
"""The most victims of a round, and the number of people in a round if mixes draw the fakes."""
_LEAST_RUNS, _MOST_ROUNDS = 200, 950
"""The fewest runs of a row in each world, and the most rounds, which all have one contract.

The fewest runs are enough to refute a broken guarantee of epsilon 2.
"""
_Statistics = tuple[float, float]
"""The statistic of all messages, and that of the message in the victim's position."""
_TEST = "likelihood ratio of all messages, or of the one in the person's place"


@dataclass(frozen=True)
class Row:
    """One row of the report: an attack on ``plan``, whose guarantee is in ``target``.

    ``hop`` is the number of the only hostile hop, or of the only honest one if the attack needs all
    other hops.
    """

    plan: Plan
    target: Target
    attack: Attack
    hop: int

    @property
    def hostile(self) -> frozenset[int]:
        """The places of the hostile hops."""
        every, only = frozenset(range(1, self.plan.hops + 1)), frozenset({self.hop})
        return every - only if self.attack.all_but_one else only

    @property
    def case(self) -> str:
        """A phrase that names the hostile hop or, if all others are hostile, the honest hop."""
        who = role_name(self.plan, self.hop)
        return f"only {who} is honest" if self.attack.all_but_one else f"{who} is hostile"

    @property
    def people(self) -> int:
        """The number of bundles in a round, including those that the attacker makes."""
        return _CROWD if self.target.by_mixes else self.plan.minimum_crowd

    @property
    def honest(self) -> int:
        """The number of people in a round who follow the protocol, victims included."""
        return _CROWD if self.target.by_mixes else self.plan.honest_people

    @property
    def victims(self) -> int:
        """The number of people who are attacked in one round."""
        part = self.plan.parts[0]
        single = not isinstance(self.game, ShapedGame) or part.bins < 5
        return 1 if single else min(_MOST_VICTIMS, (part.bins - 1) // 2)

    @property
    def rests_on(self) -> str | None:
        """The honest roles and people on whom the guarantee still relies, in words.

        None if the attack breaks the assumption of the guarantee.
        """
        if self.attack.own_sheet:
            return "the devices, which need every role's signature"
        if self.target.by_mixes:
            hops = (hop for hop in range(1, self.plan.hops + 1) if hop not in self.hostile)
            return " or ".join(role_name(self.plan, hop) for hop in hops) or None
        return f"mix-1 and {self.honest:,} people" if 1 not in self.hostile else None

    @cached_property
    def game(self) -> ShapedGame | CountedGame:
        """The game with the people and mixes that hide a victim in spite of the attack."""
        hidden = self.target.certain
        if not self.target.by_mixes and 1 in self.hostile:
            hidden = HidingPeople(1, 1)
        mixes = self.plan.hops - len(self.hostile)
        among = self.target.senders_among(hidden, mixes=mixes, collections=1)
        game, question = game_among(among, self.target.epsilon), self.plan.question
        simple = question.kind is Kind.ONE and question.hashed is None and question.bins > 2
        if simple and isinstance(game, ShapedGame | CountedGame):
            return game
        raise ParameterError(
            "plan",
            expected="one answer of at least 3, in one message, to attack with real roles",
            got=f"{self.plan.name} for {question.bins:,} bins",
            do="leave --network out, or attack another plan",
        )

    def play(self, arena: Arena, number: int) -> Iterator[tuple[int, _Statistics]]:
        """Play a round, and yield the world and the statistics of each victim."""
        worlds = [(number + victim) % 2 for victim in range(self.victims)]
        answers = [self._answer(victim, world) for victim, world in enumerate(worlds)]
        if self.attack.own_sheet:
            seen = placed = [arena.play_sheet(answer) for answer in answers]
        else:
            others = self._label(self.plan.question.bins - 1)
            received = arena.play(self.attack, answers, others)
            seen = [received] * self.victims
            placed = [received[victim : victim + 1] for victim in range(self.victims)]
        for victim, world in enumerate(worlds):
            yield (
                world,
                (self._observe(seen[victim], victim), self._observe(placed[victim], victim)),
            )

    def _answer(self, victim: int, world: int) -> int | str:
        if isinstance(self.game, ShapedGame):
            return self._label(2 * victim + world)
        return self._label(self.game.records[1 + world].index(1))

    def _label(self, code: int) -> int | str:
        labels = self.plan.question.labels
        return code if labels is None else labels[code]

    def _observe(self, messages: list[bytes], victim: int) -> float:
        size = self.plan.parts[0].layout.message_bytes
        data = np.frombuffer(b"".join(messages), dtype=np.uint8)
        return self.game.observe(data.reshape(-1, size), 2 * victim)


def rows_of(plan: Plan, target: Target, only: str | None = None) -> list[Row]:
    """Return one row for each attack and each hop that may play it.

    Raises
    ------
    ParameterError
        If ``only`` is not the name of an attack.
    """
    if only is not None and only not in ATTACKS:
        raise not_one_of("attack", only, list(ATTACKS))
    return [
        Row(plan, target, attack, hop)
        for name, attack in ATTACKS.items()
        for hop in range(1, plan.hops + 1)
        if only in (None, name)
    ]


def run_rows(
    plan: Plan,
    target: Target,
    lab: AttackLab,
    *,
    only: str | None = None,
    seconds: float,
) -> list[Outcome]:
    """Play every row of `rows_of`, and return the outcomes.

    The time and the false-alarm probability of the lab are divided equally among the rows. A row
    has at least 200 runs in each world, or ``lab.runs``.

    Raises
    ------
    ParameterError
        If ``only`` is no attack, or the plan cannot be played with real roles.
    """
    rows = rows_of(plan, target, only)
    lab = replace(lab, error=lab.error / len(rows))
    found = []
    for number, row in enumerate(rows, 1):
        # The roles sync their files very often, so a folder in memory is used if there is one.
        memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
        with TemporaryDirectory(prefix="mixtally-", dir=memory) as folder:
            arena = Arena(Path(folder), plan, row.hostile, row.honest, row.people)
            try:
                found.append(_run_row(row, arena, lab, seconds / len(rows)))
            finally:
                arena.end()
        lab.progress("network", number, len(rows))
    return found


def _run_row(row: Row, arena: Arena, lab: AttackLab, seconds: float) -> Outcome:
    """Play one row until its time is over, and return the outcome."""
    begun, rounds = monotonic(), 0
    statistics: tuple[list[_Statistics], list[_Statistics]] = ([], [])
    while rounds < _MOST_ROUNDS:
        for world, found in row.play(arena, rounds):
            statistics[world].append(found)
        rounds += 1
        runs = min(map(len, statistics))
        if runs >= (lab.runs or _LEAST_RUNS) and (lab.runs or monotonic() - begun >= seconds):
            break
    u, v = (np.array(one[:runs]) for one in statistics)
    target, rests, half = row.target, row.rests_on, replace(lab, error=lab.error / 2.0)
    promised = target.epsilon if rests else None
    outcome = conclude_game(
        Hypothesis(row.attack.name, row.case, promised, target.delta, _TEST),
        Worlds(u[:, 0], v[:, 0]),
        half,
        played=f"{rounds:,} rounds of real mixes in this process; {row.attack.text}",
        pilot=draw_pilot(row.game, runs, lab),
        hostile=[role_name(row.plan, hop) for hop in sorted(row.hostile)],
        rests_on=rests,
        rounds=rounds,
        seconds=monotonic() - begun,
        lengths=sorted(arena.adversary.lengths),
        refused=len(arena.refusals),
        refusal=arena.refusals[-1] if arena.refusals else None,
    )
    by_place = prove(Worlds(u[:, 1], v[:, 1]), target.delta, half.error).epsilon
    verdict = Verdict.OUTSIDE if promised is None else outcome.verdict
    if promised is not None and by_place > promised:
        verdict = Verdict.VIOLATED
    return replace(
        outcome,
        attacked=max(outcome.attacked, by_place),
        verdict=verdict,
        numbers={**outcome.numbers, "false_alarm_rate": lab.error, "proved_by_place": by_place},
    )
