"""The privacy ledger of one person: a budget and all charges to it, sealed by a hash chain.

The seal of an empty ledger is a hash of its budget. Each charge replaces the seal by the hash of
the previous seal and the charge, and the ledger contains the last seal. So a file that was edited,
reordered or cut short is refused. The seal protects against accidents and casual edits only: anyone
who rewrites the whole file can compute a new seal. To detect that, keep a copy of the last seal
elsewhere.
"""

import hashlib

import msgspec

from mixtally.device.contract.fields import check_version, parse_json
from mixtally.errors import ParameterError, PlanError, RefusedError
from mixtally.model.guarantee import Guarantee
from mixtally.model.plan import Plan
from mixtally.primitives.codec import canonical_bytes, from_canonical

LEDGER_VERSION = 2
MOST_NOTE = 200


class Charge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A charge for ``times`` collections under one plan.

    Raises PlanError if the fingerprint is not that of the plan. Raises ParameterError if ``times``
    is below 1, or if ``note`` or ``date`` is not one printable line.

    Attributes
    ----------
    fingerprint : str
        The SHA-256 of the plan's file, 64 hexadecimal digits.
    note : str
        A remark of the person, one line.
    date : str
        The date of the charge, in the caller's format; may be empty.
    """

    fingerprint: str
    plan: Plan
    times: int
    note: str = ""
    date: str = ""

    def __post_init__(self) -> None:
        if self.times < 1:
            raise ParameterError(
                "times", expected="at least 1", got=self.times, do="a charge cannot be taken back"
            )
        for name, text in (("note", self.note), ("date", self.date)):
            if len(text) > MOST_NOTE or not text.isprintable():
                raise ParameterError(
                    name,
                    expected=f"one printable line of at most {MOST_NOTE} characters",
                    got=f"{len(text)} characters: {text[:20]!r}",
                    do="shorten it",
                )
        true = self.plan.fingerprint
        if self.fingerprint != true:
            raise PlanError(
                "charge",
                expected=f"the plan {self.fingerprint[:16]}",
                got=f"the plan {true[:16]}",
                do="the ledger was altered: restore it from a copy",
            )


class Ledger(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A person's budget, all charges to it, and the seal of both.

    Raises PlanError for another version or a wrong seal.
    """

    version: int
    budget: Guarantee
    charges: tuple[Charge, ...]
    seal: str

    def __post_init__(self) -> None:
        if self.version != LEDGER_VERSION:
            raise PlanError(
                "ledger version",
                expected=str(LEDGER_VERSION),
                got=self.version,
                do="use the version that wrote it, or open a new ledger for a new budget",
            )
        true = _seal_of(self.budget, self.charges)
        if self.seal != true:
            raise PlanError(
                "ledger seal",
                expected=f"{true[:16]}, which belongs to its budget and charges",
                got=self.seal[:16] or "none",
                do="the ledger was edited or cut short; restore it from a copy",
            )


def new_ledger(budget: Guarantee) -> Ledger:
    """Return a new ledger without charges."""
    return Ledger(version=LEDGER_VERSION, budget=budget, charges=(), seal=_seal_of(budget, ()))


def add_charge(ledger: Ledger, plan: Plan, times: int, *, note: str = "", date: str = "") -> Ledger:
    """Return the ledger with another charge.

    The caller checks whether the budget permits the charge.

    Parameters
    ----------
    ledger : Ledger
        The ledger before the charge, which does not change.
    plan : Plan
        The plan that the person answers under.
    times : int
        The number of collections, at least 1.
    note : str
        A remark of one line.
    date : str
        The date of the charge, in the caller's format.
    """
    charge = Charge(fingerprint=plan.fingerprint, plan=plan, times=times, note=note, date=date)
    charges = (*ledger.charges, charge)
    return Ledger(
        version=ledger.version,
        budget=ledger.budget,
        charges=charges,
        seal=_next_seal(ledger.seal, charge),
    )


def read_ledger(data: bytes, subject: str) -> Ledger:
    """Read a ledger, or raise PlanError.

    Parameters
    ----------
    data : bytes
        The content of a file.
    subject : str
        The name of the input in messages.
    """
    try:
        check_version(parse_json(data), "ledger", LEDGER_VERSION)
        return from_canonical(data, Ledger, subject)
    except (PlanError, RefusedError) as error:
        raise PlanError(
            subject,
            expected="a ledger, whole and as it was written",
            got=f"something else ({error.__cause__ or error})",
            do="restore it from a copy; nothing is charged to a ledger that cannot be trusted",
        ) from error


def _seal_of(budget: Guarantee, charges: tuple[Charge, ...]) -> str:
    # The prefix keeps a seal different from every other hash of the same budget.
    seal = hashlib.sha256(
        b"mixtally ledger %d\0" % LEDGER_VERSION + canonical_bytes(budget)
    ).hexdigest()
    for charge in charges:
        seal = _next_seal(seal, charge)
    return seal


def _next_seal(seal: str, charge: Charge) -> str:
    return hashlib.sha256(seal.encode("ascii") + b"\0" + canonical_bytes(charge)).hexdigest()
