"""A job: the parts of a contract that a mix needs to serve it, without the question."""

import json

import msgspec

from mixtally.errors import InputError, PlanError
from mixtally.model.agreement import Agreement
from mixtally.model.layout import Layout
from mixtally.model.recipe import Recipe
from mixtally.primitives.codec import reject_constant, reject_duplicate_keys

JOB_VERSION = 4
_MOST_SHOWN = 200


class Stream(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a mix knows about one part: message format, fakes to add, and slots in a bundle.

    A *part* is one of the messages of a record. A *bundle* is all that a person sends in a round.

    Attributes
    ----------
    layout : Layout
        The format of the part's messages.
    recipe : Recipe
        The fakes (dummy messages) that this mix adds.
    slots : int
        The number of envelopes of the part in every bundle.
    most_padding : int
        The maximum number of these slots that contain padding in place of a message.
    """

    layout: Layout
    recipe: Recipe
    slots: int
    most_padding: int


class Job(Agreement, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that one mix needs to know of a contract. The command ``mix sign`` checks and writes it.

    Raises PlanError if the fields contradict each other.
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
                "most messages",
                [len(one) for one in self.most_messages] == [len(self.hops)] * len(self.streams),
                "for each part, one of each hop",
                self.most_messages,
            ),
            (
                "streams",
                bool(self.streams)
                and all(0 <= one.most_padding < one.slots for one in self.streams),
                "one a part, of one message at least",
                self.streams,
            ),
            (
                "sizes",
                len(self.sizes) == len(self.streams)
                and all(map(self._has_valid_sizes, self.sizes)),
                "for each part, falling sizes of an envelope at every hop and the collector",
                self.sizes,
            ),
        ):
            if not right:
                raise PlanError(
                    f"{subject} of the job", expected=expected, got=str(got)[:80], do="sign again"
                )

    def _has_valid_sizes(self, sizes: tuple[int, ...]) -> bool:
        # Each hop removes one layer of encryption, so envelopes become shorter.
        falling = list(sizes) == sorted(sizes, reverse=True)
        return falling and len(sizes) == len(self.hops) + 1


def write_job(job: Job) -> bytes:
    """Return the job as a file."""
    return msgspec.json.format(msgspec.json.encode(job), indent=1) + b"\n"


def read_job(data: bytes, subject: str) -> Job:
    """Read a job, or raise PlanError.

    Parameters
    ----------
    data : bytes
        The content of a file.
    subject : str
        The name of the input in messages.
    """
    try:
        plain = json.loads(
            data, object_pairs_hook=reject_duplicate_keys, parse_constant=reject_constant
        )
        return msgspec.convert(plain, Job)
    except (ValueError, RecursionError, InputError) as error:  # RecursionError: deep nesting
        raise PlanError(
            subject,
            expected="a job that `mix sign` wrote",
            got=ascii(str(error))[1:-1][:_MOST_SHOWN],
            do="sign again",
        ) from error
