"""A published formula held against the exact law: whether its noise keeps its promise."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from mixtally.errors import ParameterError
from mixtally.ground.fixed import LEAST_THRESHOLD, SCALE
from mixtally.literature.formulas.catalogue import FAKES, Formula
from mixtally.literature.formulas.truth import LAWS, Price, Setting, threshold
from mixtally.literature.least_noise import least_uniform_fakes
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.records.guarantee import Guarantee

HOLDS, FALSE, UNDECIDED = "holds", "false", "undecided"
_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True)
class Seen:
    """What one observer can tell, and what that makes of the promise.

    where
      truth           read literally: flips above 1/2 are what exchanging all bits makes of the rest
      word            holds: truth.upper <= promise; false: truth.lower > promise; else undecided
      least           the least noise that keeps the promise by the exact law; only when it holds
      noise_factor    asked / least: how many times too much noise
      error_factor    standard error with the noise asked / with the least
      privacy_factor  truth.lower / promise: how many times too little privacy; only when false
    """

    observer: str
    truth: Bracket
    word: str
    least: float | None = None
    noise_factor: float | None = None
    error_factor: float | None = None
    privacy_factor: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A formula, what it was asked, what it answered, and every observer's truth about it."""

    formula: Formula
    setting: Setting
    delta: float
    noise: float
    seen: tuple[Seen, ...]

    @property
    def epsilon(self) -> float:
        """The promise's epsilon."""
        return self.setting.epsilon

    @property
    def word(self) -> str:
        """The verdict for the observer who sees most."""
        return self.seen[0].word

    def by(self, observer: str) -> Seen:
        """What ``observer`` sees; raises KeyError when nobody of that name looks."""
        return {one.observer: one for one in self.seen}[observer]


def audit(
    formula: Formula,
    epsilon: float,
    delta: float,
    users: int | None = None,
    fakes: int | None = None,
    bins: int | None = None,
    bits: int | None = None,
    repeats: int | None = None,
) -> Verdict:
    """The noise that ``formula`` asks for (epsilon, delta), and what it costs by the exact law.

    ``fakes`` is 0 when left out. A formula that knows no delta is held to the one given. Raises
    ParameterError for a parameter that is missing, not taken, or outside the formula's range.
    """
    Guarantee(epsilon=epsilon, delta=delta)
    came = {"users": users, "fakes": fakes, "bins": bins, "bits": bits, "repeats": repeats}
    given = _needed(formula, came)
    noise = _asked(formula, epsilon, delta, given, said=fakes is not None)
    if formula.asks == FAKES:
        noise = float(math.ceil(noise))
    elif not 0.0 < noise < 1.0:
        raise ParameterError(
            formula.name, wanted="a collection for which it asks a flip probability below 1",
            got=f"{noise:.4g}", do="more users or fakes, or a weaker promise",
        )  # fmt: skip
    setting = Setting(epsilon=epsilon, **given)
    return Verdict(
        formula=formula,
        setting=setting,
        delta=delta,
        noise=noise,
        seen=tuple(
            _seen(formula, observer, law, setting, delta, noise)
            for observer, law in LAWS[formula.protocol].items()
        ),
    )


def _needed(formula: Formula, came: dict[str, int | None]) -> dict[str, int]:
    """What the formula takes of what ``came``; the number of people is never too much."""
    given = {name: value for name, value in came.items() if value is not None}
    if "fakes" in formula.needs:
        given.setdefault("fakes", 0)
    extra = [n for n in given if n not in formula.needs and n != "users" and given[n]]
    missing = [n for n in formula.needs if n not in given]
    if extra or missing:
        raise ParameterError(
            formula.name,
            wanted=" and ".join(formula.needs) or "nothing but epsilon and delta",
            got=" and ".join(given) or "neither",
            do="give exactly these parameters",
        )
    return {name: given[name] for name in formula.needs}


def _asked(
    formula: Formula, epsilon: float, delta: float, given: dict[str, int], *, said: bool
) -> float:
    """What the formula asks for; fakes that were not ``said`` are not told to be too few."""
    try:
        return formula.compute(epsilon=epsilon, delta=delta, **given)
    except ParameterError as error:
        if error.subject != "fakes" or said:
            raise
        raise ParameterError(
            formula.name, wanted="the number of fakes", got="none", do="add --fakes N"
        ) from None


def _seen(
    formula: Formula, observer: str, law: Price, setting: Setting, delta: float, noise: float
) -> Seen:
    truth = law(setting, noise)
    if truth.lower > delta:
        return Seen(observer, truth, FALSE, privacy_factor=truth.lower / delta)
    if truth.upper > delta:
        return Seen(observer, truth, UNDECIDED)
    if formula.asks == FAKES:
        least = float(least_uniform_fakes(setting.bins, setting.epsilon, delta))
        return Seen(
            observer, truth, HOLDS, least,
            noise_factor=noise / least, error_factor=math.sqrt(noise / least),
        )  # fmt: skip
    least = _least_flip(lambda flip: law(setting, flip).upper <= delta, noise)
    spread = _spread(noise)
    return Seen(
        observer, truth, HOLDS, least,
        noise_factor=noise / least,
        error_factor=spread / _spread(least) if math.isfinite(spread) else None,
    )  # fmt: skip


def _least_flip(meets: Callable[[float], bool], known: float) -> float:
    """The least flip probability that meets the promise, given that ``known`` does.

    It has itself been tried; the exact one lies below it by at most one part in 10^5.
    """
    high = threshold(known)
    low = max(LEAST_THRESHOLD, high // 4)
    while low > LEAST_THRESHOLD and meets(low / SCALE):
        low, high = max(LEAST_THRESHOLD, low // 4), low
    while high - low > max(1, math.floor(_TOLERANCE * high)):
        middle = min(max(math.isqrt(low * high), low + 1), high - 1)
        low, high = (low, middle) if meets(middle / SCALE) else (middle, high)
    return high / SCALE


def _spread(flip: float) -> float:
    """sqrt(p q) / |p - q|: the standard error of a count, up to the number of messages."""
    gain = abs(1.0 - 2.0 * flip)
    return math.sqrt(flip * (1.0 - flip)) / gain if gain else math.inf
