"""Draw the pictures of the README and of docs/, except the map.

    .venv/bin/python scripts/make_picture.py

The program writes docs/demo.svg (the demo with seed 2013), docs/roc.svg and docs/averaging.svg.
roc.svg shows the power to distinguish two answers from all messages, with the noise of Notes (5.16)
and with a plan for the same guarantee. averaging.svg shows how often the better guess of a bit is
wrong. A test compares the pictures with those that this program draws.
"""

from math import exp
from pathlib import Path

from mixtally.accounting.parameters import Parameters
from mixtally.lab.attacks import AttackLab, Target, run_attacks
from mixtally.lab.attacks.claim import build_target
from mixtally.lab.attacks.target import target_of_plan
from mixtally.lab.formulas import notes
from mixtally.lab.simulation.demo import simulate_demo
from mixtally.lab.simulation.lab import Lab as PlayLab
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.study_document import build_counts_view
from mixtally.model.guarantee import Guarantee
from mixtally.model.mechanism.memoized import make_memoized
from mixtally.model.question import Question
from mixtally.planning import PlanRequest, choose
from mixtally.protocol.estimate.memoized import recovery, recovery_redrawn
from mixtally.report import curves
from mixtally.report.curves import Chart, Curve, Point
from mixtally.report.document import Picture
from mixtally.report.style import standalone_picture

DOCS = Path(__file__).parents[1] / "docs"
SEED = 2013
USERS, BINS, RUNS = 100_000, 10, 200_000
PROMISE = Guarantee(epsilon=1.0, delta=1e-6)
REPORTS = (1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 200, 300)


def busiest() -> Picture:
    """Return the picture of the largest bins of the demo, with intervals and errors."""
    return build_counts_view(simulate_demo(PROMISE, PlayLab(SeededChance(SEED)), seed=SEED)).chart(
        14
    )


def roc() -> Picture:
    """Return the picture of the power by false-alarm rate, with noise from the distribution."""
    flip = notes.flip(PROMISE.epsilon, PROMISE.delta, USERS)
    given = {"users": USERS, "bins": BINS, "flip": flip}
    claimed = build_target("flip", Parameters(**given), PROMISE.epsilon, PROMISE.delta)
    assert isinstance(claimed, Target)
    question = Question(name="answer", bins=BINS)
    planned = choose(
        PlanRequest(question=question, guarantee=PROMISE, users=USERS, protocol="flip-blank")
    )
    rates = [10.0 ** (-k / 4) for k in range(21)]
    grow = exp(PROMISE.epsilon)
    most = ((r, min(grow * r + PROMISE.delta, 1 - (1 - PROMISE.delta - r) / grow)) for r in rates)
    return curves.draw(Chart(
        "attack", "Distinguishing two answers of one person from all shuffled messages", "",
        "rate of false alarms", "power",
        (
            Curve("noise of (5.16), no fakes", _power(claimed)),
            Curve("a plan, flip-blank", _power(target_of_plan(planned.plan))),
            Curve("guessing", tuple((r, r) for r in rates)),
            Curve("most that (1, 1e-6) allows", tuple(most)),
        ),
        log_x=True, log_y=True,
    ))  # fmt: skip


def _power(target: Target) -> tuple[Point, ...]:
    lab = AttackLab(SeededChance(SEED), 1e-4, runs=100, drawn=RUNS)
    _, drawn = run_attacks(target, lab, "tell-apart")
    return drawn.charts[0].curves[0].points


def averaging() -> Picture:
    """Return the picture of exact errors by the number of reports (f = 0.5, p = 0.5, q = 0.75)."""
    mechanism = make_memoized(2, 0.5, 0.5, 0.75)
    guesses = {
        "memoized, the true bit": lambda count: recovery(mechanism, count).true,
        "drawn once, repeated": lambda _: recovery_redrawn(mechanism, 1),
        "fresh noise every time": lambda count: recovery_redrawn(mechanism, count),
        "memoized, the memoized bit": lambda count: recovery(mechanism, count).memoized,
    }
    return curves.draw(Chart(
        "memory", "Chance of a wrong guess by the number of reports", "", "reports",
        "chance that the better guess of a bit is wrong",
        tuple(
            Curve(name, tuple((float(count), wrong(count)) for count in REPORTS))
            for name, wrong in guesses.items()
        ),
        log_x=True,
    ))  # fmt: skip


PICTURES = {
    "demo.svg": lambda: standalone_picture(busiest()) + "\n",
    "roc.svg": lambda: standalone_picture(roc()) + "\n",
    "averaging.svg": lambda: standalone_picture(averaging()) + "\n",
}


def main() -> None:
    """Draw all pictures and write them to docs/."""
    for name, draw in PICTURES.items():
        (DOCS / name).write_text(draw())


if __name__ == "__main__":
    main()
