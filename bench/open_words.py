"""Listed words of an open domain, counted by planes, compared with the sketch of pure-ldp."""

import sys
import time
from pathlib import Path

import numpy as np
from pure_ldp.core import FreqOracleServer
from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer

from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.open_words import count_true_words, hash_words
from mixtally.lab.simulation.run import simulate_release
from mixtally.model.guarantee import Guarantee
from mixtally.model.hashing import draw_seed
from mixtally.model.question import make_open_question
from mixtally.planning import PlanRequest, choose
from mixtally.primitives.chance import SecureChance
from mixtally.protocol.encode.hashed import look_up_words
from mixtally.protocol.estimate.analysis import Analysis

sys.path.append(str(Path(__file__).parents[1] / "examples"))
from english import english

_USERS, _WORDS, _LISTED = 20_000, 5_000, 50
_SKETCH = {"k": 16, "m": 1024}


def rows() -> list[tuple[str, str, str]]:
    """Return the benchmark rows: name, measurement, ratio."""
    crowd = english(_USERS, _WORDS, SecureChance())
    ours, took = _ours(crowd)
    theirs, seconds = _peer(crowd)
    return [
        (f"{_LISTED} listed words of {_USERS:,} people, epsilon 1", _describe_error(ours),
            f"{took:.1f} s"),
        ("  pure-ldp count-mean sketch, no mixes", _describe_error(theirs),
         f"{theirs / ours:,.0f} times the error, {seconds / took:,.0f} times as long"),
    ]  # fmt: skip


def _describe_error(error: float) -> str:
    return f"error {error:,.1f} counts"


def _ours(crowd: Population) -> tuple[float, float]:
    start, chance = time.perf_counter(), SecureChance()

    promised = Guarantee(epsilon=1.0, delta=1e-6)
    question = make_open_question("word", draw_seed(chance))
    plan = choose(PlanRequest(question=question, guarantee=promised, users=_USERS)).plan
    listed = look_up_words(plan.question, (crowd.question.labels or ())[:_LISTED])
    played = simulate_release(
        plan, hash_words(crowd, plan.question), Lab(chance), Analysis(listed=listed)
    )
    errors = played.result.estimate.counts - count_true_words(crowd, listed).counts
    return _error(errors), time.perf_counter() - start


def _peer(crowd: Population) -> tuple[float, float]:
    start, labels = time.perf_counter(), crowd.question.labels or ()
    server = _Sketch(1.0)
    client = CMSClient(1.0, server.get_hash_funcs(), _SKETCH["m"])
    for code in crowd.codes.tolist():
        server.aggregate(client.privatise(labels[code]))
    found = np.array([server.estimate(word, suppress_warnings=True) for word in labels[:_LISTED]])
    return _error(found - crowd.truth[:_LISTED]), time.perf_counter() - start


class _Sketch(CMSServer):
    """The count-mean sketch of pure-ldp, without its first table of size zero.

    Current versions of NumPy refuse such a table.
    """

    def __init__(self, epsilon: float) -> None:
        FreqOracleServer.__init__(self, epsilon, 1)
        self.is_hadamard = False
        self.update_params(epsilon=epsilon, **_SKETCH)
        self.ones = np.ones(_SKETCH["m"])


def _error(differences: np.ndarray) -> float:
    return float(np.sqrt(np.mean(differences**2)))


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ")
