"""Records of a diary: a charge for every contract, and an entry for every bundle."""

from enum import StrEnum
from typing import NamedTuple

from mixtally.device.client.net.seal import SealedBundle
from mixtally.device.client.net.trust import OpenRound, TrustedContract
from mixtally.device.wire.arrivals import TAG_BYTES


class BundleState(StrEnum):
    """The state of a bundle."""

    PENDING = "pending"
    """Charged and sealed. It is sent when due, and again until it is answered."""
    TAKEN = "taken"
    """The first hop confirmed it."""
    REFUSED = "refused"
    """The first hop refused it permanently. It is not sent again."""
    OVER = "over"
    """The round closed without an answer. The bundle may have been counted if it was sent."""


class DiaryCharge(NamedTuple):
    """The privacy cost of a contract, for all its rounds together, as stated in the contract.

    Attributes
    ----------
    name : str
        The name of the contract. Later serials with the same plan cost nothing more.
    plan : str
        The SHA-256 of its plan.
    question : str
        The SHA-256 of its question.
    made : int
        When it was charged, seconds since 1970.
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
    contract : str
        The fingerprint of the contract.
    sheet : str
        The SHA-256 of the round's sheet.
    address : str
        The address of the first hop.
    made : int
        When the bundle was charged and sealed.
    due : int
        When the bundle is sent next; meaningless after the bundle was answered.
    tries, left : int
        The number of attempts to send it, and the time of the first attempt.
    status : int or None
        The HTTP status of the last answer.
    ended : int or None
        When the bundle was accepted or refused, or the round was over.
    size : int
        The length of the bundle in bytes.
    tags : bytes
        The tag of the bundle, by which the list of the first hop is searched. For a device that
        watches, the tags of its messages at each later role follow, until the round is checked.
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
        """Whether the bundle waits for its time or for an answer."""
        return self.state is BundleState.PENDING

    @property
    def is_watched(self) -> bool:
        """Whether the tags of the messages are kept."""
        return len(self.tags) > TAG_BYTES

    @property
    def path(self) -> str:
        """The path of the request."""
        return f"/contracts/{self.contract}/rounds/{self.round}/bundles"


def make_charge(agreed: TrustedContract, now: int) -> DiaryCharge:
    """Return the charge for taking part under a contract."""
    contract, plan = agreed.contract, agreed.contract.plan
    promised = (plan.epsilon, plan.delta, plan.collections)
    return DiaryCharge(contract.name, agreed.plan, agreed.question, *promised, now)


def make_entry(given: OpenRound, made: SealedBundle, now: int) -> Entry:
    """Return the entry of a bundle that was not sent yet."""
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
