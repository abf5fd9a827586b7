"""Records of a diary: a charge for every contract, and an entry for every bundle.

A *bundle* is everything that a device sends in a round.
"""

from enum import StrEnum
from typing import NamedTuple

from mixtally.device.client.net.seal import SealedBundle
from mixtally.device.client.net.trust import OpenRound, TrustedContract
from mixtally.device.wire.arrivals import TAG_BYTES


class BundleState(StrEnum):
    """The state of a bundle in the diary."""

    PENDING = "pending"
    """Charged and sealed. The bundle is sent at its due time, and again until it is answered."""
    TAKEN = "taken"
    """The first hop confirmed the bundle."""
    REFUSED = "refused"
    """The first hop refused the bundle permanently. It is not sent again."""
    OVER = "over"
    """The round closed without an answer. The bundle may have been counted if it was sent."""


class DiaryCharge(NamedTuple):
    """The privacy cost of a contract, for all its rounds together, as stated in the contract.

    Attributes
    ----------
    name : str
        The name of the contract. A contract of this name with a larger serial and the same plan
        costs nothing more.
    plan : str
        The SHA-256 of the contract's plan.
    question : str
        The SHA-256 of the contract's question.
    epsilon, delta : float
        The guarantee of the contract.
    collections : int
        How often a person may be asked under the contract.
    made : int
        When the contract was charged, seconds since 1970.
    """

    name: str
    plan: str
    question: str
    epsilon: float
    delta: float
    collections: int
    made: int


class Entry(NamedTuple):
    """The bundle of a round and its state. All times are seconds since 1970.

    Attributes
    ----------
    name, serial : str, int
        The name and the serial of the contract.
    round : int
        The number of the round.
    contract : str
        The fingerprint of the contract.
    sheet : str
        The SHA-256 of the round's sheet.
    address : str
        The address of the first hop.
    closes : int
        When the round closes.
    made : int
        When the bundle was charged and sealed.
    due : int
        When the bundle is sent next; meaningless after the bundle was answered.
    tries : int
        The number of attempts to send the bundle.
    left : int or None
        The time of the first attempt; None before it.
    status : int or None
        The HTTP status of the last answer; None if there was none.
    ended : int or None
        When the bundle was accepted or refused, or when its round was found to have closed. None
        while it is pending.
    size : int
        The length of the bundle in bytes.
    tags : bytes
        The tag of the bundle, a short hash that the first hop's list of received bundles contains.
        If the device looks for its messages after the round (``net.watch``), their tags at each
        later role follow. These are deleted when the round was checked.
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
        """Whether the bundle is still to be sent, or was sent without an answer so far."""
        return self.state is BundleState.PENDING

    @property
    def is_watched(self) -> bool:
        """Whether the tags of the messages are kept."""
        return len(self.tags) > TAG_BYTES

    @property
    def path(self) -> str:
        """The path of the request that sends the bundle."""
        return f"/contracts/{self.contract}/rounds/{self.round}/bundles"


def make_charge(agreed: TrustedContract, now: int) -> DiaryCharge:
    """Return the charge, made at ``now``, for taking part under a contract."""
    contract, plan = agreed.contract, agreed.contract.plan
    promised = (plan.epsilon, plan.delta, plan.collections)
    return DiaryCharge(contract.name, agreed.plan, agreed.question, *promised, now)


def make_entry(given: OpenRound, made: SealedBundle, now: int) -> Entry:
    """Return the entry of a bundle that was sealed at ``now`` and not sent yet."""
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
