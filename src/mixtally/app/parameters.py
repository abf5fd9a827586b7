"""Parameters of a mechanism: options, each declared once."""

from dataclasses import dataclass
from typing import Annotated

from mixtally.app.options import CountCrowd, option, whole_option

Users = Annotated[int | None, whole_option("--users", "People who take part, 2 to 10^10.")]
Fakes = Annotated[
    int | None, whole_option("--fakes", "Fakes promised in the whole collection, 0 to 10^13.")
]
Flip = Annotated[float | None, option("--flip", "Flip probability, 2^-40 to 1/2.", "Q")]
Replaced = Annotated[
    float | None,
    option("--replaced", "Chance that a uniform bin is sent in place of the own, 0 to 1.", "G"),
]
Bins = Annotated[int | None, whole_option("--bins", "Possible answers, 2 to 10^7.")]
Points = Annotated[
    int | None,
    whole_option("--points", "Points numbers are rounded to, 2 to 10^6; the best for a mean."),
]
Bits = Annotated[int | None, whole_option("--bits", "Bits of a free vector, 1 to 64.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingOptions:
    """What one record may set, how often it is sent, and how the fakes of mixes are shaped."""

    max_set: Annotated[
        int | None, whole_option("--max-set", "Most bits that one record sets, 1 to 16.")
    ] = None
    repeats: Annotated[
        int | None, whole_option("--repeats", "Times every record is sent, 1 to 1,000.")
    ] = None
    shape_decay: Annotated[
        float | None,
        option(
            "--shape-decay",
            "Fall of the shaped distribution from one number to the next, in nats, 1e-6 to 40.",
            "C",
        ),
    ] = None
    shape_shift: Annotated[
        int | None, whole_option("--shape-shift", "Mean shaped fakes per bin, 1 to 10^5.")
    ] = None
    shape_variance: Annotated[
        int | None,
        whole_option("--shape-variance", "Of a Gaussian shape, instead of a decay, 1 to 10^9."),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoizedOptions:
    """The parameters of memoized answers."""

    permanent: Annotated[
        float | None,
        option("--permanent", "Chance that a memoized bit is a fair coin, 2^-40 to 1.", "F"),
    ] = None
    p: Annotated[
        float | None, option("--p", "Chance that a memoized 0 is reported as 1, below --q.", "P")
    ] = None
    q: Annotated[
        float | None, option("--q", "Chance that a memoized 1 is reported as 1, up to 1.", "Q")
    ] = None
    hashes: Annotated[int | None, whole_option("--hashes", "Bits that a value sets, 1 to 64.")] = (
        None
    )
    reports: Annotated[
        int | None, whole_option("--reports", "Reports of one memoized answer, 1 to 10^6.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterOptions:
    """The parameters of a mechanism about which something is claimed."""

    users: Users = None
    bins: Bins = None
    bits: Annotated[
        int | None, whole_option("--bits", "Bits of a free vector, or of a memoized answer.")
    ] = None
    fakes: Fakes = None
    flip: Flip = None
    replaced: Replaced = None
    sending: SendingOptions
    mixes: Annotated[int | None, whole_option("--mixes", "Mixes that draw fakes.")] = None
    memoized: MemoizedOptions
    count_crowd: CountCrowd = False
