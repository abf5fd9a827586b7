"""What a diary holds: a charge for every contract, and every bundle that left or will leave."""

from enum import StrEnum
from typing import NamedTuple

from mixtally.device.client.net.seal import SealedBundle
from mixtally.device.client.net.trust import OpenRound, TrustedContract


class BundleState(StrEnum):
    """How far a bundle is."""

    PENDING = "pending"
    """Charged and sealed; it leaves when it is due, and again until it is answered."""
    TAKEN = "taken"
    """The first hop said that it has it."""
    REFUSED = "refused"
    """The first hop will never take it; it is not sent again."""
    OVER = "over"
    """The window went by without an answer; it may have been counted if it left at all."""


class DiaryCharge(NamedTuple):
    """What a contract costs, in all its rounds together, as it states it.

    where
      name       of the contract; later serials with the same plan cost nothing more
      plan       SHA-256 of its plan
      question   SHA-256 of its question
      made       when it was charged, seconds since 1970
    """

    name: str
    plan: str
    question: str
    epsilon: float
    delta: float
    collections: int
    made: int


class Entry(NamedTuple):
    """What became of a round.

    where
      contract   fingerprint
      sheet      SHA-256 of the round's sheet
      address    of the first hop
      made       when it was charged and sealed
      due        when it leaves next; means nothing once it is answered
      tries      how often it was begun to be sent, and ``left`` when for the first time
      status     of the last answer; None without
      ended      when it was taken, refused or over
      size       bytes of the bundle
      tags       by which its envelopes can be found again at the first hop
    """

    name: str
    round: int
    contract: str
    serial: int
    sheet: str
    address: str
    closes: int
    made: int
    due: int
    tries: int
    left: int | None
    state: BundleState
    status: int | None
    ended: int | None
    size: int
    tags: bytes

    @property
    def is_pending(self) -> bool:
        """Whether it still waits for its moment or for an answer."""
        return self.state is BundleState.PENDING

    @property
    def path(self) -> str:
        """Of the request."""
        return f"/contracts/{self.contract}/rounds/{self.round}/bundles"


def make_charge(agreed: TrustedContract, now: int) -> DiaryCharge:
    """What taking part under a contract costs."""
    contract, plan = agreed.contract, agreed.contract.plan
    promised = (plan.epsilon, plan.delta, plan.collections)
    return DiaryCharge(contract.name, agreed.plan, agreed.question, *promised, now)


def make_entry(given: OpenRound, made: SealedBundle, now: int) -> Entry:
    """A round of which nothing has left yet."""
    contract, sheet = given.contract, given.sheet
    return Entry(
        name=contract.name,
        round=sheet.round,
        contract=contract.fingerprint,
        serial=contract.serial,
        sheet=given.digest.hex(),
        address=contract.hops[0].address,
        closes=sheet.closes,
        made=now,
        due=made.due,
        tries=0,
        left=None,
        state=BundleState.PENDING,
        status=None,
        ended=None,
        size=len(made.bundle),
        tags=made.tags,
    )
