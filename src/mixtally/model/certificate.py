"""Certificates: a proved delta with its bounds, observer, proof and assumptions."""

from enum import StrEnum

import msgspec

from mixtally.errors import AccountingError
from mixtally.model.guarantee import Observer
from mixtally.primitives.codec import convert_to_floats


class Status(StrEnum):
    """How a certificate was established."""

    PROVED = "proved"
    """A theorem covers every dataset, and all rounding errors increase the upper bound."""


class Certificate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bounds lower <= delta(epsilon) <= upper of the hockey-stick divergence.

    The bounds hold for both orders of the two neighboring datasets. They assume only the fakes
    (dummy messages) and people that ``assumption`` names. Further honest people can only decrease
    delta. Only ``upper`` may be promised.

    Parameters
    ----------
    epsilon : float
        The privacy loss, in nats.
    lower, upper : float
        The bounds of delta, in [0, 1]. All rounding errors are included.
    observer : Observer
        What the adversary sees: all messages, sums only, or all messages with their senders.
    status : Status
        How the bounds were established.
    source : str
        The reference of the derivation: a document with its section or equation.
    assumption : str
        What the bounds assume about people, mixes and fakes.

    Raises
    ------
    AccountingError
        If the bounds are impossible.

    Examples
    --------
    >>> import mixtally
    >>> certificate = mixtally.delta("clear-uniform", epsilon=1, bins=10, fakes=1_000)
    >>> certificate.lower <= certificate.upper
    True
    >>> certificate.status.value
    'proved'
    """

    epsilon: float
    lower: float
    upper: float
    observer: Observer
    status: Status
    source: str
    assumption: str

    def __post_init__(self) -> None:
        convert_to_floats(self, "epsilon", "lower", "upper")
        if not 0.0 <= self.lower <= self.upper <= 1.0:  # NaN fails every comparison
            raise AccountingError(
                f"certificate: expected 0 <= lower <= upper <= 1, got {self.lower} and "
                f"{self.upper}; "
                "nothing may be promised from it"
            )

    def terms(self) -> dict[str, str]:
        """Return observer, status, source and assumption, as a part of a result's facts.

        Returns
        -------
        dict of str to str
            The four texts by name.
        """
        return {
            "observer": self.observer,
            "status": self.status,
            "source": self.source,
            "assumption": self.assumption,
        }
