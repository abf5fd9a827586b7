"""The privacy of any local randomizer, described by a matrix of probabilities.

Each row of the matrix is the distribution of the message for one value, and each column is one
message (*output*). The command line and Python make a ``ShuffledRandomizer`` from the matrix. Then
they call ``price_matrix``, ``least_epsilon`` or ``trace_matrix``, and show the results.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.pld import Curve
from mixtally.accounting.curves import (
    MOST_ROUNDS,
    PrivacyCurve,
    find_epsilon,
    trace_randomizer,
)
from mixtally.accounting.divergence.matrix import Group, Randomizer
from mixtally.accounting.numerics.bracket import check_order
from mixtally.app import options as o
from mixtally.app.mechanism import PROTOCOLS, MechanismOptions, PricedOptions
from mixtally.errors import DataError, ParameterError, in_range, not_together, pluralize
from mixtally.model.certificate import Certificate, Status
from mixtally.model.guarantee import (
    MOST_EPSILON,
    MOST_USERS,
    Observer,
    check_fraction,
    count_arriving,
)
from mixtally.model.matrix import RandomizerMatrix, make_matrix
from mixtally.primitives.files import read_bytes
from mixtally.report.document import Promise
from mixtally.report.numbers import at_least, at_most
from mixtally.report.promise import error_line, protection_line

UNIFORM = "uniform"
_DECADES = 12
SOURCE = (
    "the privacy blanket of all rows (Balle et al. 2019, theorem 3.1), with public fakes and "
    "groups, or the exact distribution of two outputs if it is smaller (proved in "
    "accounting/divergence/matrix.py)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixOptions:
    """How a matrix is read, which fakes hide a message, and the number of rounds."""

    fake_row: Annotated[
        str | None,
        o.option(
            "--fake-row", "Row that fakes send, or uniform; it stays a possible value.", "ROW"
        ),
    ] = None
    rounds: Annotated[
        int, o.whole_option("--rounds", "Rounds with new randomness in each, composed.")
    ] = 1
    normalize: Annotated[
        bool, o.option("--normalize", "Divide every row of the matrix by its sum.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaOptions:
    """The protocol or the matrix whose delta is computed, and its parameters."""

    protocol: Annotated[
        str | None,
        o.option("--protocol", f"{', '.join(PROTOCOLS[:-1])} or {PROTOCOLS[-1]}.", "NAME"),
    ] = None
    matrix: Annotated[
        Path | None,
        o.option("--matrix", "CSV of a randomizer: outputs in the first row, values in column 1."),
    ] = None
    parameters: PricedOptions
    honest_share: o.HonestShare = 1.0
    reading: MatrixOptions

    def mechanism(self) -> MechanismOptions:
        """Return the parameters of the protocol; raise ParameterError if no protocol is named."""
        if self.protocol is None:
            raise ParameterError(
                "check delta",
                expected="--protocol NAME or --matrix FILE",
                got="neither",
                do="name a protocol, or write a CSV file of probabilities",
            )
        refuse_matrix_options(self.reading)
        return MechanismOptions(
            protocol=self.protocol, parameters=self.parameters, honest_share=self.honest_share
        )

    def shuffle(self, matrix: RandomizerMatrix) -> "ShuffledRandomizer":
        """Return the randomizer ``matrix`` among other people and fakes.

        Raises ParameterError if a protocol is named, too.
        """
        if self.protocol is not None:
            raise not_together("--matrix", "--matrix", ["--protocol"], "leave one out")
        return shuffle_matrix(
            matrix,
            self.parameters.given,
            self.honest_share,
            fake_row_of(matrix, self.reading.fake_row),
            self.reading.rounds,
        )


class ShuffledRandomizer(NamedTuple):
    """A randomizer whose messages are shuffled with those of other people and with fakes.

    Attributes
    ----------
    matrix : RandomizerMatrix
        The probabilities of the messages.
    randomizer : Randomizer
        The matrix with the honest people and fakes that hide a message, prepared to compute delta
        at many epsilons.
    others : int
        The number of people who use other matrices.
    rounds : int
        The number of rounds, each with new randomness.
    """

    matrix: RandomizerMatrix
    randomizer: Randomizer
    others: int
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomizerDelta:
    """A lower and an upper bound of the delta of a randomizer whose messages are shuffled.

    Only ``upper`` is a guarantee. The lower bound is the delta of one particular crowd.

    Parameters
    ----------
    epsilon : float
        The privacy loss in nats.
    lower, upper : float
        Bounds of delta at this epsilon; ``upper`` covers every crowd and both directions.
    users, others, fakes, rounds : int
        The numbers of people with this matrix, of people in other groups, of fakes and of rounds
        that the bounds assume.
    pair : tuple of str
        The two values of a person for which the upper bound is largest.
    lower_pair : tuple of str
        The two values of a person for which the lower bound was computed.
    crowd : str
        The values of all other people for which the lower bound was computed.
    exact : str
        The reason why both bounds are the true delta; empty if none is known.
    note : str
        The reason why both bounds approach each other for many people; empty if none is known.
    index : float
        The blanket index: the largest sum over outputs of (R_u - R_v)^2 / m for two values u and v,
        where R_u and R_v are their rows and m is the smallest entry in the column of the output. It
        is infinite if some outputs can be sent for some values only.
    mu : float
        An approximation, not a guarantee: for many people, delta is about that of Gaussian
        differential privacy with parameter mu. Without fakes, mu = sqrt(index / users).
    local_epsilon : float
        The privacy loss if all messages can be traced to their senders; may be infinite.
    normalized : int
        Number of rows that were divided by their sums.

    Examples
    --------
    >>> import mixtally
    >>> found = mixtally.delta([["3/4", "1/4"], ["1/4", "3/4"]], users=1_000, epsilon=0.1)
    >>> found.exact
    'two outputs: the worst crowd holds the two extreme values only'
    """

    epsilon: float
    lower: float
    upper: float
    users: int
    others: int
    fakes: int
    rounds: int
    pair: tuple[str, str]
    lower_pair: tuple[str, str]
    crowd: str
    exact: str
    note: str
    index: float
    mu: float
    local_epsilon: float
    normalized: int

    @property
    def source(self) -> str:
        """The proof of the upper bound."""
        more = f"; {self.rounds:,} rounds composed from the curve of the maximum over all pairs"
        return SOURCE + more * (self.rounds > 1)

    @property
    def assumption(self) -> str:
        """Who must be honest."""
        more = f", {self.others:,} people of other groups as theirs say" if self.others else ""
        more += f", {self.fakes:,} fakes arrive" if self.fakes else ""
        who = f"{self.users:,} honest people with the target send one message each"
        if self.users == 1:
            who = "1 honest person, the target, sends one message"
        return f"{who} as the matrix says{more}; one honest mix shuffles"

    @property
    def certificate(self) -> Certificate:
        """Both bounds of delta in the form of a mechanism's certificate."""
        return Certificate(
            epsilon=self.epsilon, lower=self.lower, upper=self.upper, observer=Observer.MESSAGES,
            status=Status.PROVED, source=self.source, assumption=self.assumption,
        )  # fmt: skip

    @property
    def facts(self) -> dict[str, Any]:
        """All values, with the keys of the JSON output."""
        own = {
            name: None if value == "" or value == math.inf else value
            for name, value in asdict(self).items()
        }
        ends = {"delta": own.pop("upper"), "delta_lower": own.pop("lower")}
        return {**ends, **own, **self.certificate.terms()}

    @property
    def promise(self) -> Promise:
        """The three lines with which every result begins."""
        kind = "exact" if self.exact else "proved upper bound"
        return (
            protection_line(Observer.MESSAGES),
            f"epsilon = {at_most(self.epsilon, 6)}, delta <= {at_most(self.upper, 6)} ({kind}). "
            f"Assumes: {self.assumption}.",
            error_line(None, note=": a matrix does not say how counts are estimated"),
        )

    @property
    def lines(self) -> list[str]:
        """The lines that state both bounds: the lower one rounded down, the upper one up."""
        at, local = at_most(self.epsilon, 9), "no protection"
        if math.isfinite(self.local_epsilon):
            local = f"a local epsilon of {at_most(self.local_epsilon, 6)}"
        hint = f"index {self.index:.6g}, mu {self.mu:.6g} (a hint for many people, no guarantee)"
        changed = pluralize(self.normalized, "row")
        every = {
            f"normalized: {changed} did not sum to 1 exactly": self.normalized,
            f"delta <= {at_most(self.upper, 9)} at epsilon {at}, for {self.pair[0]} against "
            f"{self.pair[1]} in any crowd": True,
            f"delta >= {at_least(self.lower, 9)}, for {self.lower_pair[0]} against "
            f"{self.lower_pair[1]} if the others hold {self.crowd}": True,
            f"exact because {self.exact}": self.exact,
            self.note: self.note,
            f"source: {self.source}": True,
            hint: math.isfinite(self.mu),
            f"if every mix colludes: {local} remains": True,
        }
        return [line for line, shown in every.items() if shown]

    def __repr__(self) -> str:
        return "\n".join([self.promise[1], *self.lines[:-2]])


def refuse_matrix_options(reading: MatrixOptions) -> None:
    """Raise ParameterError if an option is set that only a matrix has."""
    if used := o.list_used_flags(reading):
        raise ParameterError(
            used[0],
            expected="a matrix with it",
            got="a protocol",
            do="leave it out: a protocol has --fakes and --repeats",
        )


def shuffle_matrix(
    matrix: RandomizerMatrix,
    given: Mapping[str, Any],
    honest_share: float,
    fake_row: tuple[Fraction, ...],
    rounds: int = 1,
    groups: tuple[Group, ...] = (),
) -> ShuffledRandomizer:
    """Return a randomizer with the people and fakes that hide a message.

    The result has only the honest people and honest fakes.

    Parameters
    ----------
    matrix : RandomizerMatrix
        The probabilities of the messages for each value.
    given : mapping of str to object
        The number of users, the attacked person included, and the number of fakes, by name.
    honest_share : float
        The share of people and fakes that is honest, in [1e-12, 1].
    fake_row : tuple of Fraction
        The public distribution of a fake (a dummy message); empty without fakes.
    rounds : int
        The number of rounds.
    groups : tuple of Group
        Other people, who use other randomizers.

    Raises
    ------
    EffortError
        If the matrix has too many rows and outputs.
    ParameterError
        If ``given`` has other parameters or no users, if a number is out of range, or if there are
        fakes without a ``fake_row`` or the reverse.
    """
    others = [name for name in given if name not in ("users", "fakes")]
    if others or "users" not in given:
        flag = f"--{others[0].replace('_', '-')}" if others else "--users"
        raise ParameterError(
            flag,
            expected="a matrix with --users, and --fakes if there are any"
            if others
            else "the number of people who take part",
            got=f"{flag} as well" if others else "none",
            do="leave it out: the matrix says what is sent" if others else "add --users 1000",
        )
    share = check_fraction(honest_share)
    for place, group in enumerate(groups):
        in_range(f"groups[{place}]", group.people, 0, MOST_USERS, "count the people of the group")
    users, fakes = (count_arriving(given.get(name, 0), share) for name in ("users", "fakes"))
    users = max(users, min(given["users"], 1))  # the target always takes part
    law = fake_row if fakes or not given.get("fakes") else ()
    in_range("users", users, 1, MOST_USERS, "count the target too")
    in_range("fakes", fakes, 0, MOST_USERS, "0 for a crowd without fakes")
    in_range("rounds", rounds, 1, MOST_ROUNDS, "1 for a single round")
    if bool(fakes) != bool(law):
        raise ParameterError(
            "--fake-row",
            expected="both --fakes and --fake-row, or neither",
            got="--fakes alone" if fakes else "--fake-row alone",
            do="name the row that fakes send, or uniform"
            if fakes
            else "add the number of fakes, or leave --fake-row out",
        )
    groups = tuple(one._replace(people=count_arriving(one.people, share)) for one in groups)
    randomizer = Randomizer(matrix, users, fakes, law, groups)
    return ShuffledRandomizer(matrix, randomizer, sum(one.people for one in groups), rounds)


def read_matrix(path: Path, *, normalize: bool = False) -> RandomizerMatrix:
    """Return the matrix of a CSV file.

    Parameters
    ----------
    path : Path
        The file. Its first row has the names of the outputs, its first column the values that a
        person may hold. Entries are fractions such as 2/15, or decimals.
    normalize : bool
        Whether each row is divided by its sum.

    Raises
    ------
    DataError
        If the file cannot be read, or is not a matrix of probabilities.
    """
    data = read_bytes(path, "a CSV file of probabilities", "write one in any editor")
    try:
        text = data.decode("utf-8-sig")
        rows = [row for row in csv.reader(io.StringIO(text), strict=True) if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            str(path),
            expected="a CSV file in UTF-8",
            got=error,
            do="save it as CSV with commas",
        ) from error
    if not rows or len(rows[0]) < 2:
        raise DataError(
            str(path),
            expected="a first row with the outputs, after an empty cell",
            got=pluralize(len(rows), "row")
            + (f" that begin with {rows[0][0][:40]!r}" if rows else ""),
            do="separate cells by commas",
        )
    return make_matrix(
        [row[1:] for row in rows[1:]],
        [row[0].strip() for row in rows[1:]],
        [one.strip() for one in rows[0][1:]],
        normalize=normalize,
        subject=str(path),
    )


def fake_row_of(matrix: RandomizerMatrix, label: str | None) -> tuple[Fraction, ...]:
    """Return the public distribution of a fake: a row of the matrix, or the uniform distribution.

    The row remains a value that people may hold. If it were removed, the guarantee could be false
    for people who hold it.

    Parameters
    ----------
    matrix : RandomizerMatrix
        The probabilities of the randomizer's messages for each value.
    label : str or None
        The label of the row; None for the uniform distribution.
    """
    if label is None:
        return ()
    if label == UNIFORM and UNIFORM not in matrix.rows:
        return tuple(Fraction(1, len(matrix.outputs)) for _ in matrix.outputs)
    row = matrix.cells[matrix.row(label)]
    return tuple(Fraction(int(one), matrix.scale) for one in row)


def price_matrix(shuffled: ShuffledRandomizer, epsilon: float) -> RandomizerDelta:
    """Compute a lower and an upper bound of delta.

    Parameters
    ----------
    shuffled : ShuffledRandomizer
        The randomizer among other people and fakes.
    epsilon : float
        Privacy loss in nats, in [0, 20].

    Raises
    ------
    EffortError
        If the computation would take too long.
    ParameterError
        If epsilon is out of range.
    """
    in_range("epsilon", epsilon, 0.0, MOST_EPSILON, "1 is a common choice")
    return _price(shuffled, epsilon, _upper_of(shuffled))


def least_epsilon(shuffled: ShuffledRandomizer, delta: float) -> RandomizerDelta:
    """Compute both bounds at the least epsilon whose upper bound is at most ``delta``.

    Parameters
    ----------
    shuffled : ShuffledRandomizer
        The randomizer among other people and fakes.
    delta : float
        The delta of the guarantee, from 1e-50 to below 1.

    Raises
    ------
    ParameterError
        If delta is out of range, or if no epsilon up to 20 satisfies it.
    """
    upper, mu = _upper_of(shuffled), shuffled.randomizer.mu
    start = 4.0 * mu if 0.0 < mu < 1.0 else 1.0
    return _price(shuffled, search_epsilon(upper, delta, start), upper)


def search_epsilon(upper: Curve, delta: float, start: float = 1.0) -> float:
    """Return the least epsilon at which the upper bound of delta is at most ``delta``.

    Parameters
    ----------
    upper : callable
        A function from epsilon to an upper bound of delta.
    delta : float
        The delta of the guarantee, from 1e-50 to below 1.
    start : float
        The epsilon at which the search begins.

    Raises
    ------
    ParameterError
        If delta is out of range, or if no epsilon up to 20 satisfies it.
    """
    if not 1e-50 <= delta < 1.0:
        raise ParameterError(
            "delta", expected="a number from 1e-50 to below 1", got=delta, do="1e-6 is common"
        )
    epsilon = find_epsilon(upper, delta, MOST_EPSILON, start)
    if not math.isfinite(epsilon):
        raise ParameterError(
            "delta",
            expected=f"a delta that some epsilon up to {MOST_EPSILON:g} satisfies",
            got=delta,
            do="count on more people or fakes, or accept a larger delta",
        )
    return epsilon


def trace_matrix(
    shuffled: ShuffledRandomizer, epsilons: Sequence[float] | None = None
) -> PrivacyCurve:
    """Return an upper bound of delta as a curve over epsilon, for all values and any crowd.

    Parameters
    ----------
    shuffled : ShuffledRandomizer
        The randomizer among other people and fakes.
    epsilons : sequence of float, optional
        The epsilons at which delta is computed. The default has enough points to compose the curve
        with others.
    """
    matrix, one, _, rounds = shuffled
    if epsilons is None:
        curve = trace_randomizer(one, matrix.local_epsilon)
        return curve.compose(rounds) if rounds > 1 else curve
    upper = _upper_of(shuffled)
    points = tuple(sorted(set(epsilons)))
    for point in points:
        in_range("epsilon", point, 0.0, MOST_EPSILON, "give a list of privacy losses")
    lower = tuple(one.lower(point).value for point in points)
    most = tuple(check_order(*ends) for ends in zip(lower, map(upper, points), strict=True))
    return PrivacyCurve(points, most, lower)


def curve_rows(curve: PrivacyCurve) -> list[tuple[float, float]]:
    """Return pairs of epsilon and delta: the least epsilon for each power of ten of delta.

    Powers of ten that the curve does not reach are left out.
    """
    rows = [(curve.epsilon(10.0**-power), 10.0**-power) for power in range(1, _DECADES + 1)]
    return [(epsilon, delta) for epsilon, delta in rows if math.isfinite(epsilon)]


def _upper_of(shuffled: ShuffledRandomizer) -> Curve:
    """Return the function from epsilon to an upper bound of delta, for all rounds together."""
    matrix, one, _, rounds = shuffled
    if rounds == 1:
        return lambda epsilon: one.upper(epsilon).value
    curve = trace_randomizer(one, matrix.local_epsilon)
    return LossSum([(curve.losses(), rounds)]).delta


def _price(shuffled: ShuffledRandomizer, epsilon: float, upper: Curve) -> RandomizerDelta:
    """Return both bounds of delta; for several rounds, ``upper`` computes the upper bound."""
    matrix, one, others, rounds = shuffled
    ends, single = one.ends(epsilon), rounds == 1
    return RandomizerDelta(
        epsilon=epsilon,
        lower=ends.lower.value,
        upper=check_order(ends.lower.value, ends.upper.value if single else upper(epsilon)),
        users=one.users,
        others=others,
        fakes=one.fakes,
        rounds=rounds,
        pair=(ends.upper.one, ends.upper.other),
        lower_pair=(ends.lower.one, ends.lower.other),
        crowd=ends.lower.crowd,
        exact=ends.exact if single else "",
        note=ends.note if single else "",
        index=one.index,
        mu=one.mu,
        local_epsilon=rounds * matrix.local_epsilon,
        normalized=matrix.normalized,
    )
