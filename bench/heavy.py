"""Frequent words: prefix extension through mixes, compared with PEM of pure-ldp without mixes.

For every report, the local hashing of pure-ldp visits every string of the domain, 387 million
strings here. PEM would not end in a useful time. So here the reports are stored, and only the
strings that PEM asks for are visited.
"""

import string
import sys
import time
import warnings
from pathlib import Path

import xxhash
from pure_ldp.frequency_oracles.local_hashing import LHServer
from pure_ldp.heavy_hitters.prefix_extending import PEMClient, PEMServer

from mixtally.lab.data.population import Population
from mixtally.lab.simulation.heavy import Search, design_search, find_words
from mixtally.lab.simulation.heavy.facts import Score, score_words
from mixtally.lab.simulation.lab import Lab
from mixtally.model.guarantee import Guarantee
from mixtally.primitives.chance import SecureChance
from mixtally.protocol.encode.spelling import Spelling

sys.path.append(str(Path(__file__).parents[1] / "examples"))
from english import english

_USERS, _WORDS, _TOP, _LONGEST = 20_000, 5_000, 5, 6
_END = "_"
_ALPHABET = string.ascii_lowercase + _END


def rows() -> list[tuple[str, str, str]]:
    """Return the benchmark rows: name, measurement, ratio."""
    crowd = english(_USERS, _WORDS, SecureChance())
    ours, took = _ours(crowd)
    out = [
        (
            f"{_TOP} frequent words of {_USERS:,} people, epsilon 1",
            _describe_quality(ours),
            f"{took:.1f} s",
        )
    ]
    for epsilon in (1.0, 4.0):
        theirs, seconds = _peer(crowd, epsilon)
        name = f"  pure-ldp PEM, no mixes, epsilon {epsilon:g}"
        out.append(
            (name, _describe_quality(theirs), f"peer takes {seconds / took:,.0f} times as long")
        )
    return out


def _describe_quality(quality: Score) -> str:
    return f"recall {quality.recall:.2f}, precision {quality.precision:.2f}"


def _ours(crowd: Population) -> tuple[Score, float]:
    start = time.perf_counter()
    search = Search(
        guarantee=Guarantee(epsilon=1.0, delta=1e-6), users=_USERS, top=_TOP, rounds=_LONGEST,
        spelling=Spelling(string.ascii_lowercase),
    )  # fmt: skip
    lab = Lab(SecureChance())
    found = find_words(design_search(search), crowd.question.labels or (), crowd.codes, lab)
    took = time.perf_counter() - start
    return _score_words([one.word for one in found.words], crowd), took


def _peer(crowd: Population, epsilon: float) -> tuple[Score, float]:
    """Return the score and the seconds of PEM on the same crowd.

    Words are padded with an end character of our own, because the padding of PEM hides their
    lengths.
    """
    labels = crowd.question.labels or ()
    known = ["".join(c if c in _ALPHABET else _END for c in word) for word in labels]
    filled = [word[:_LONGEST].ljust(_LONGEST, _END) for word in known]
    shape = {
        "start_length": 1, "max_string_length": _LONGEST, "fragment_length": 1,
        "alphabet": list(_ALPHABET), "index_mapper": _number,
    }  # fmt: skip
    client = PEMClient(epsilon, **shape)
    server = PEMServer(epsilon, **shape, fo_server=_OnDemand(epsilon))
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in crowd.codes.tolist():
            server.aggregate(client.privatise(filled[code]))
        found, _ = server.find_heavy_hitters(k=_TOP)
    took = time.perf_counter() - start
    return _score_words([word.rstrip(_END) for word in found], crowd), took


def _number(text: str) -> int:
    """Return a fragment as a number; a leading one distinguishes lengths."""
    number = 1
    for character in text:
        number = number * len(_ALPHABET) + _ALPHABET.index(character)
    return number


class _OnDemand(LHServer):
    """The estimate of pure-ldp by local hashing, computed only for the requested strings."""

    def __init__(self, epsilon: float) -> None:
        super().__init__(epsilon, 2, use_olh=True, index_mapper=_number)

    def update_params(self, epsilon=None, d=None, **more) -> None:  # noqa: ANN001, ANN003, ARG002
        super().update_params(epsilon=epsilon, d=2, **more)

    def reset(self) -> None:
        super().reset()
        self.reports: list[tuple[int, int]] = []

    def aggregate(self, priv_data: tuple[int, int]) -> None:
        self.reports.append(priv_data)
        self.n += 1

    def estimate(self, data: str, suppress_warnings: bool = False) -> float:  # noqa: ARG002
        text, g = str(self.index_mapper(data)), self.g
        held = sum(y == xxhash.xxh32(text, seed=s).intdigest() % g for y, s in self.reports)
        return (g * held - self.n) / (self.p * g - 1)


def _score_words(words: list[str], crowd: Population) -> Score:
    held = dict(zip(crowd.question.labels or (), crowd.truth.tolist(), strict=True))
    return score_words(words, held, _TOP)


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ")
