"""Costs of a plan: the error of its counts, and messages and bytes per device and mix.

Terms: a *fake* is a dummy message that carries no answer. A *part* is one stream of messages of a
record, with mixes and a tally of its own. A *hop* is a mix in the chain. A *bundle* is everything
that a device sends in a round.
"""

import math
from typing import Any

from mixtally.device.contract.contract import envelope_bytes
from mixtally.model.known_total import known_totals
from mixtally.model.part import Part
from mixtally.model.question import Question

SUITE = 1
"""The suite whose envelope sizes are counted: X25519, the default of contracts."""


def default_count(users: int) -> int:
    """Return the default count at which errors are compared: the square root of ``users``."""
    return math.isqrt(users)


class Costs:
    """The costs of a record that is sent as ``parts`` through ``hops`` mixes.

    Attributes
    ----------
    question : Question
        The question, before it is split into parts.
    users : int
        The number of people expected to take part.
    """

    # Without slots, the structs that inherit from this class would have a __dict__.
    __slots__ = ()

    question: Question
    users: int
    hops: int
    parts: tuple[Part, ...]

    @property
    def crowd(self) -> int:
        """The number of people whose flips or replacements the guarantee relies on; 0 for none."""
        raise NotImplementedError

    @property
    def protocol(self) -> str:
        """The public name of the mechanism."""
        return self.parts[0].protocol

    @property
    def name(self) -> str:
        """The protocol and its variants, such as "flip-blank, split"."""
        first = self.parts[0]
        notes = ["split"] * (len(self.parts) > 1)
        notes += ["over planes"] * (first.planes is not None)
        notes += [f"sent {first.repeats} times"] * (first.repeats > 1)
        notes += [f"{first.slots} of {first.most_set} slots"] * (first.slots is not None)
        notes += ["with fakes"] * (first.replaced is not None and first.own is not None)
        return ", ".join([self.protocol, *notes])

    @property
    def varies_by_count(self) -> bool:
        """Whether the error of a bin depends clearly on the number of people in it."""
        first = self.parts[0]
        return first.replaced is not None or first.slots is not None

    @property
    def standard_error(self) -> float:
        """The largest standard error of an empty bin, in counts, if all users answer."""
        return self.error_of(0)

    def error_of(self, count: int) -> float:
        """Return the largest standard error of a bin that contains ``count`` people, in counts.

        The maximum is over all parts. The error depends on ``count`` if values are replaced or
        slots are sampled. If the true counts of several bins have a known sum, the estimator uses
        it to reduce the error, and the reduced error is returned.
        """
        given = self.users, self.hops, self.crowd, count
        totals = known_totals(self.question, self.parts)
        return max(
            part.standard_error(*given, size)
            for part, summed in zip(self.parts, totals, strict=True)
            for size in dict.fromkeys(summed) or (None,)
        )

    def errors(self, count: int | None = None) -> dict[str, Any]:
        """Return ``count`` and the standard error of a bin with ``count`` people, as named entries.

        By default ``count`` is the square root of ``users``.
        """
        people = default_count(self.users) if count is None else count
        return {"error_at": people, "standard_error_at": self.error_of(people)}

    @property
    def message_bytes(self) -> tuple[int, ...]:
        """The length in bytes of a message of each part, as the collector reads it."""
        return tuple(part.layout.message_bytes for part in self.parts)

    @property
    def messages_per_user(self) -> float:
        """The mean number of messages that a device sends, without padding."""
        return sum(part.mean_sent for part in self.parts)

    @property
    def bytes_per_user(self) -> int:
        """The length of a bundle in bytes, equal for all devices.

        Every bundle has a slot for each fake that its device may draw. Padding fills the unused
        slots. So a fake that only one device in twenty draws still costs every device a slot.
        """
        sizes = envelope_bytes(self.message_bytes, self.hops, SUITE)
        return sum(row[0] * part.most for part, row in zip(self.parts, sizes, strict=True))

    @property
    def messages_per_mix(self) -> int:
        """The mean number of messages that one mix adds, summed over all parts."""
        return sum(part.mean_added for part in self.parts)

    @property
    def fakes(self) -> int:
        """The mean number of fakes of a collection, from devices and mixes."""
        own = sum(
            self.users * part.mean_sent - self.users * part.record_messages for part in self.parts
        )
        return round(own) + self.hops * self.messages_per_mix

    def costs(self) -> dict[str, Any]:
        """Return the costs as a flat dictionary, for JSON and for people."""
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
