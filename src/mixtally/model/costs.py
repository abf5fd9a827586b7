"""What a plan costs: the error of its counts, messages and bytes of a device and of a mix."""

import math
from typing import Any

from mixtally.device.contract.contract import envelope_bytes
from mixtally.model.known_total import known_totals
from mixtally.model.part import Part
from mixtally.model.question import Question

SUITE = 1
"""Of the envelopes whose bytes are counted: X25519, which is what a contract has unless it says."""


def default_count(users: int) -> int:
    """How many people hold the bin whose error is compared where nobody says: their square root."""
    return math.isqrt(users)


class Costs:
    """Of a record that travels as ``parts`` through ``hops`` mixes.

    where
      question      what is asked, however the record travels
      users         people expected to take part
      crowd         people whose flips are counted on; 0 where none are
    """

    __slots__ = ()

    question: Question
    users: int
    hops: int
    parts: tuple[Part, ...]

    @property
    def crowd(self) -> int:
        """People whose flips are counted on."""
        raise NotImplementedError

    @property
    def protocol(self) -> str:
        """The name of the mechanism, as people type it."""
        return self.parts[0].protocol

    @property
    def name(self) -> str:
        """The protocol and what is special about it."""
        first = self.parts[0]
        notes = ["split"] * (len(self.parts) > 1)
        notes += ["over planes"] * (first.planes is not None)
        notes += [f"sent {first.repeats} times"] * (first.repeats > 1)
        notes += ["with fakes"] * (first.replaced is not None and first.own is not None)
        return ", ".join([self.protocol, *notes])

    @property
    def standard_error(self) -> float:
        """Of an empty bin in counts, the largest of all parts, if all users answer."""
        return self.error_of(0)

    def error_of(self, count: int) -> float:
        """Return the same of a bin that ``count`` people hold: more only where values are replaced.

        Counts with a known sum are those that the result shows, which use the sum.
        """
        given = self.users, self.hops, self.crowd, count
        totals = known_totals(self.question, self.parts)
        return max(
            part.standard_error(*given, max(summed, default=None))
            for part, summed in zip(self.parts, totals, strict=True)
        )

    def errors(self, count: int | None = None) -> dict[str, Any]:
        """The error of a bin that so many people hold, or the square root of all; as ``costs``."""
        held = default_count(self.users) if count is None else count
        return {"error_at": held, "standard_error_at": self.error_of(held)}

    @property
    def message_bytes(self) -> tuple[int, ...]:
        """Bytes of a message of each part as the collector reads it."""
        return tuple(part.layout.message_bytes for part in self.parts)

    @property
    def messages_per_user(self) -> float:
        """Return the messages that a device sends on average, without padding."""
        return sum(part.mean_sent for part in self.parts)

    @property
    def bytes_per_user(self) -> int:
        """Return the bytes of a bundle, which everybody sends.

        Padding fills the slots of fakes that a coin did not give, so a fake that is sent by one
        device in twenty has its slot in every bundle.
        """
        sizes = envelope_bytes(self.message_bytes, self.hops, SUITE)
        return sum(row[0] * part.most for part, row in zip(self.parts, sizes, strict=True))

    @property
    def messages_per_mix(self) -> int:
        """Messages that a mix adds to all parts on average."""
        return sum(part.mean_added for part in self.parts)

    @property
    def fakes(self) -> int:
        """Fakes of a whole collection on average, whoever draws them."""
        own = sum(
            self.users * part.mean_sent - self.users * part.record_messages for part in self.parts
        )
        return round(own) + self.hops * self.messages_per_mix

    def costs(self) -> dict[str, Any]:
        """What it costs, flat, for JSON and for people."""
        return {
            "messages_of_a_record": len(self.parts),
            "bins": sum(part.bins for part in self.parts),
            "fakes": self.fakes,
            "standard_error": self.standard_error,
            **self.errors(),
            "messages_per_user": self.messages_per_user,
            "messages_per_mix": self.messages_per_mix,
            "bytes_per_message": list(self.message_bytes),
            "bytes_per_user": self.bytes_per_user,
        }
