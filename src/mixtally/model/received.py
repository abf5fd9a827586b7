"""What came of a collection under a contract: contributors, what hops declared, what was dropped.

Estimates rest on these numbers, never on how many people were expected or fakes promised.
"""

import msgspec

from mixtally.errors import MessageError


class PartReceived(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of one part.

    where
      declared   how many messages each hop says it added, in their order; None for a hop that says
                 it drew none. Which of them fell in which bin it does not say
      received   messages that were tallied, fakes included
      dropped    reason -> how many that came were impossible, and were not

    Raises MessageError for a number below zero.
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
        """All messages that reached the collector."""
        return self.received + sum(self.dropped.values())

    @property
    def added_count(self) -> int:
        """Those that hops say they added."""
        return sum(many for many in self.declared if many is not None)

    @property
    def drawing_hop_count(self) -> int:
        """How many hops say that they drew."""
        return sum(many is not None for many in self.declared)


class Received(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of all parts.

    where
      contributors   people whose messages the first hop took, all parts of each
      left_out       reason -> how many bundles it took that are of no contributor

    Raises MessageError for a number below zero.
    """

    contributors: int
    parts: tuple[PartReceived, ...]
    left_out: dict[str, int] = {}

    def __post_init__(self) -> None:
        _check_number("contributors", self.contributors)


def _check_number(subject: str, number: int) -> None:
    if number < 0:
        raise MessageError(
            subject,
            expected="no less than none",
            got=f"{number:,}",
            do="ask those who counted them; nothing is released before",
        )
