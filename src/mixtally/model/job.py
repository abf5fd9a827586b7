"""A job: what a mix must know of a contract to serve it, and nothing of what is asked."""

import json

import msgspec

from mixtally.errors import InputError, PlanError
from mixtally.model.agreement import Agreement
from mixtally.model.layout import Layout
from mixtally.model.recipe import Recipe
from mixtally.primitives.codec import reject_constant, reject_duplicate_keys

JOB_VERSION = 2
_MOST_SHOWN = 200


class Stream(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One part: how its messages are written, what a hop adds, and its slots in a bundle.

    where
      slots          envelopes of the part in every bundle
      most_padding   how many of these may be padding
    """

    layout: Layout
    recipe: Recipe
    slots: int
    most_padding: int


class Job(Agreement, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A contract as one of its mixes serves it; written by ``mix sign``, which has checked it.

    Raises PlanError for what does not fit together.
    """

    version: int
    streams: tuple[Stream, ...]

    def __post_init__(self) -> None:
        for subject, right, expected, got in (
            ("version", self.version == JOB_VERSION, str(JOB_VERSION), self.version),
            ("place", 1 <= self.place <= len(self.hops), "one of its hops", self.place),
            ("rounds", self.rounds >= 1, "at least 1", self.rounds),
            ("minimum crowd", self.minimum_crowd >= 1, "at least 1", self.minimum_crowd),
            (
                "streams",
                self._has_valid_streams(),
                "one a part, of one message at least",
                self.streams,
            ),
            (
                "sizes",
                len(self.sizes) == len(self.streams)
                and all(map(self._has_valid_sizes, self.sizes)),
                "one an envelope before every hop and the collector, for each part",
                self.sizes,
            ),
        ):
            if not right:
                raise _job_error(subject, expected, got)

    def _has_valid_streams(self) -> bool:
        return bool(self.streams) and all(0 <= one.most_padding < one.slots for one in self.streams)

    def _has_valid_sizes(self, sizes: tuple[int, ...]) -> bool:
        falling = list(sizes) == sorted(sizes, reverse=True)
        return falling and len(sizes) == len(self.hops) + 1


def write_job(job: Job) -> bytes:
    """The job as a file."""
    return msgspec.json.format(msgspec.json.encode(job), indent=1) + b"\n"


def read_job(data: bytes, subject: str) -> Job:
    """The job in ``data``; raises PlanError for anything else."""
    try:
        plain = json.loads(
            data, object_pairs_hook=reject_duplicate_keys, parse_constant=reject_constant
        )
        return msgspec.convert(plain, Job)
    except (ValueError, RecursionError, InputError) as error:
        raise PlanError(
            subject,
            expected="a job that `mix sign` wrote",
            got=ascii(str(error))[1:-1][:_MOST_SHOWN],
            do="sign again",
        ) from error


def _job_error(subject: str, expected: str, got: object) -> PlanError:
    return PlanError(f"{subject} of the job", expected=expected, got=str(got)[:80], do="sign again")
