"""Messages received in a collection: contributors, declared fakes and dropped messages.

Estimates use these numbers, and never the expected number of people or the planned fakes.
"""

import msgspec

from mixtally.errors import MessageError


class PartReceived(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The messages received of one part.

    Raises MessageError if a number is negative.

    Attributes
    ----------
    declared : tuple of int or None
        How many messages each hop declares to have added, in order of hops. None for a hop that
        declares that it drew no fakes. Hops do not declare the bins of these messages.
    received : int
        The number of tallied messages, fakes (dummy messages) included.
    dropped : dict
        The number of invalid messages, which were not tallied, by reason.
    """

    declared: tuple[int | None, ...]
    received: int
    dropped: dict[str, int]

    def __post_init__(self) -> None:
        for subject, number in (
            ("received messages", self.received),
            *((f"messages dropped for {reason}", many) for reason, many in self.dropped.items()),
            *((f"messages declared by hop {i}", many) for i, many in enumerate(self.declared, 1)),
        ):
            if number is not None:
                _check_number(subject, number)

    @property
    def received_count(self) -> int:
        """The number of messages that reached the collector, valid or not."""
        return self.received + sum(self.dropped.values())

    @property
    def added_count(self) -> int:
        """The number of messages that hops declare to have added."""
        return sum(many for many in self.declared if many is not None)

    @property
    def drawing_hop_count(self) -> int:
        """The number of hops that declare that they drew fakes."""
        return sum(many is not None for many in self.declared)


class Received(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The messages received of all parts.

    ``contributors`` is the number of people whose messages of all parts the first hop accepted.
    ``left_out`` has, for each reason, the number of bundles that were accepted but whose sender is
    not one of the contributors. Raises MessageError if a number is negative.
    """

    contributors: int
    parts: tuple[PartReceived, ...]
    left_out: dict[str, int] = {}  # msgspec copies a mutable default

    def __post_init__(self) -> None:
        _check_number("contributors", self.contributors)


def _check_number(subject: str, number: int) -> None:
    if number < 0:
        raise MessageError(
            subject,
            expected="at least 0",
            got=f"{number:,}",
            do="ask the role that counted them; no result is released until then",
        )
