"""Prices of every law at 1e6 people and (1, 1e-6): a delta and a calibration, caches left cold."""

from collections.abc import Callable
from itertools import count

from bench.clock import seconds
from mixtally.planner import Wish, choose, front
from mixtally.privacy import laws
from mixtally.privacy.laws import Ask
from mixtally.records.guarantee import Guarantee, Observer
from mixtally.records.question import Question, with_attributes

MILLION = 10**6
LAWS: dict[str, tuple[str, Ask]] = {
    "flip-blank, crowd counted": (
        "flip-blank", Ask(fakes=10**5, users=MILLION, count_crowd=True),
    ),
    "flip-blank, 3 set bits": ("flip-blank", Ask(fakes=MILLION, max_set=3)),
    "single-bit, worst crowd": ("single-bit", Ask(users=MILLION, fakes=0)),
    "flip, one-hot": ("flip", Ask(users=MILLION)),
    "flip, one-hot, sums": ("flip", Ask(users=MILLION, observer=Observer.SUMS)),
    "flip, 5 bits": ("flip", Ask(users=MILLION, bits=5)),
    "flip, 40 bits": ("flip", Ask(users=10 * MILLION, bits=40)),
    "flip, 5 bits, split": ("flip", Ask(users=MILLION, bits=5, split=True)),
    "flip-uniform, 1000 bins": ("flip-uniform", Ask(users=MILLION, fakes=MILLION, bins=1000)),
}  # fmt: skip
WISHES: dict[str, Question] = {
    "plan, 1000 bins": Question(name="q", bins=1000),
    "plan, 1e7 bins": Question(name="q", bins=10**7),
    "plan, attributes of 10, 20, 5": with_attributes("q", (10, 20, 5)),
}


def rows() -> list[tuple[str, str, str]]:
    """Benchmark lines: what, measured, ratio."""
    out = []
    fresh = count(1)

    def epsilon() -> float:
        """Never twice the same, so that nothing is remembered."""
        return 1.0 + 1e-9 * next(fresh)

    for label, (name, ask) in LAWS.items():
        found = laws.calibrate(name, ask, epsilon(), 1e-6)
        one = _timed(lambda n=name, a=found: laws.price(n, a, epsilon()))
        all_ = _timed(lambda n=name, a=ask: laws.calibrate(n, a, epsilon(), 1e-6))
        out.append((f"{label}: delta, calibration", f"{_ms(one)}, {_ms(all_)}", ""))
    for label, question in WISHES.items():

        def plan(asked: Question = question) -> None:
            promised = Guarantee(epsilon=epsilon(), delta=1e-6)
            wish = Wish(question=asked, guarantee=promised, users=MILLION, messages_per_user=6.0)
            choose(wish)
            front(wish)

        out.append((f"{label}: answer and front", _ms(_timed(plan)), ""))
    return out


def _timed(work: Callable[[], object]) -> float:
    return seconds(work, 3)


def _ms(value: float) -> str:
    return f"{1e3 * value:.3g} ms"
