"""A job: what a mix must know of a contract to serve it, and nothing of what is asked."""

import json

import msgspec

from mixtally.errors import InputError, PlanError
from mixtally.ground.codec import no_constant, no_repeats
from mixtally.records.layout import Layout
from mixtally.records.recipe import Recipe
from mixtally.records.roles import Role, Rounds

JOB_VERSION = 1


class Stream(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One part: how its messages are written, what a hop adds, how many a bundle holds.

    where
      least, most   messages of a bundle
      sizes         bytes of an envelope before each hop and before the collector
    """

    layout: Layout
    recipe: Recipe
    least: int
    most: int
    sizes: tuple[int, ...]


class Job(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A contract as one of its mixes serves it; written by ``mix sign``, which has checked it.

    where
      contract        its fingerprint
      name, serial    a larger serial of a name ends the others
      place           of this mix, from 1
      rounds          how many there may be, over all serials of the name
      windows         how long a round is open, and how often there is one
      minimum_crowd   fewer bundles at the first mix, and the round is destroyed unopened

    Raises PlanError for what does not fit together.
    """

    version: int
    contract: str
    name: str
    serial: int
    place: int
    hops: tuple[Role, ...]
    collector: Role
    suite: int
    rounds: int
    windows: Rounds
    minimum_crowd: int
    streams: tuple[Stream, ...]

    def __post_init__(self) -> None:
        for subject, right, wanted, got in (
            ("version", self.version == JOB_VERSION, str(JOB_VERSION), self.version),
            ("place", 1 <= self.place <= len(self.hops), "one of its hops", self.place),
            ("rounds", self.rounds >= 1, "at least 1", self.rounds),
            ("minimum crowd", self.minimum_crowd >= 1, "at least 1", self.minimum_crowd),
            (
                "sizes",
                all(self._fits(stream) for stream in self.streams) and len(self.streams) >= 1,
                "one an envelope before every hop and the collector",
                [stream.sizes for stream in self.streams],
            ),
        ):
            if not right:
                raise _wrong(subject, wanted, got)

    def _fits(self, stream: Stream) -> bool:
        falling = list(stream.sizes) == sorted(stream.sizes, reverse=True)
        return (
            falling and len(stream.sizes) == len(self.hops) + 1 and 1 <= stream.least <= stream.most
        )

    @property
    def own(self) -> Role:
        """The mix itself."""
        return self.hops[self.place - 1]

    @property
    def following(self) -> Role:
        """Who takes what leaves: the next hop, or the collector."""
        return (*self.hops, self.collector)[self.place]

    @property
    def preceding(self) -> Role | None:
        """Whose batches come here; None at the first hop, where people send."""
        return self.hops[self.place - 2] if self.place > 1 else None

    @property
    def roles(self) -> tuple[Role, ...]:
        """All who sign: the hops in order, and the collector."""
        return (*self.hops, self.collector)


def write_job(job: Job) -> bytes:
    """The job as a file."""
    return msgspec.json.format(msgspec.json.encode(job), indent=1) + b"\n"


def read_job(data: bytes, subject: str) -> Job:
    """The job in ``data``; raises PlanError for anything else."""
    try:
        plain = json.loads(data, object_pairs_hook=no_repeats, parse_constant=no_constant)
        return msgspec.convert(plain, Job)
    except (ValueError, RecursionError, InputError) as error:
        raise PlanError(
            subject, wanted="a job that `mix sign` wrote", got=str(error), do="sign again"
        ) from error


def _wrong(subject: str, wanted: str, got: object) -> PlanError:
    return PlanError(f"{subject} of the job", wanted=wanted, got=str(got)[:80], do="sign again")
