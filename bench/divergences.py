"""Every mechanism at 1e6 people and (1, 1e-6): a delta and a calibration, nothing remembered."""

from collections.abc import Callable

from bench.clock import seconds
from mixtally.ground.fixed import MOST_THRESHOLD
from mixtally.planner import Planner, PlanRequest, choose, pareto_front
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.calibrate import calibrate
from mixtally.records.guarantee import Guarantee, Observer
from mixtally.records.mechanism import Parameter
from mixtally.records.mechanism.named import (
    flip,
    flip_bits,
    flip_blank,
    flip_uniform,
    single_bit,
)
from mixtally.records.question import MOST_BINS, Question, with_attributes

MILLION = 10**6
ANY = {"threshold": MOST_THRESHOLD}
"""What a calibration does not read."""
RECORDS: dict[str, Record] = {
    "flip-blank, crowd counted": Record.of(
        flip_blank(bins=MOST_BINS, fakes=10**5, crowd=MILLION, **ANY)
    ),
    "flip-blank, 3 set bits": Record.of(
        flip_blank(bins=MOST_BINS, fakes=MILLION, max_set=3, **ANY)
    ),
    "single-bit, worst crowd": Record.of(single_bit(fakes=0, crowd=MILLION, **ANY)),
    "flip, one-hot": Record.of(flip(bins=MOST_BINS, crowd=MILLION, **ANY)),
    "flip, one-hot, sums": Record.of(flip(bins=MOST_BINS, crowd=MILLION, **ANY), Observer.SUMS),
    "flip, 5 bits": Record.of(flip_bits(bins=5, crowd=MILLION, **ANY)),
    "flip, 40 bits": Record.of(flip_bits(bins=40, crowd=10 * MILLION, **ANY)),
    "flip, 5 bits, split": Record.of(single_bit(fakes=0, crowd=MILLION, **ANY), pieces=5),
    "flip-uniform, 1000 bins": Record.of(flip_uniform(bins=1000, fakes=MILLION, **ANY)),
}
WISHES: dict[str, Question] = {
    "plan, 1000 bins": Question(name="q", bins=1000),
    "plan, 1e7 bins": Question(name="q", bins=10**7),
    "plan, attributes of 10, 20, 5": with_attributes("q", (10, 20, 5)),
}


def rows() -> list[tuple[str, str, str]]:
    """Benchmark lines: what, measured, ratio."""
    out = []
    for label, record in RECORDS.items():
        found = _least(record)
        one = _timed(lambda of=found: Accountant().delta(of, 1.0))
        all_ = _timed(lambda of=record: _least(of))
        out.append((f"{label}: delta, calibration", f"{_ms(one)}, {_ms(all_)}", ""))
    for label, question in WISHES.items():

        def plan(asked: Question = question) -> None:
            promised, planner = Guarantee(epsilon=1.0, delta=1e-6), Planner()
            wish = PlanRequest(
                question=asked, guarantee=promised, users=MILLION, messages_per_user=6.0
            )
            choose(wish, planner)
            pareto_front(wish, planner)

        out.append((f"{label}: answer and front", _ms(_timed(plan)), ""))
    return out


def _least(record: Record) -> Record:
    return calibrate(Accountant(), record, Parameter.FLIP, 1.0, 1e-6)


def _timed(work: Callable[[], object]) -> float:
    return seconds(work, 3)


def _ms(value: float) -> str:
    return f"{1e3 * value:.3g} ms"
