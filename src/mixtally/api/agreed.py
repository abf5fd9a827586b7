"""What people answer under, as it is given: a plan, or the contract in a file or in bytes."""

import os
from typing import NamedTuple

from mixtally.accounting.plans.terms import verify
from mixtally.api.checks import shown
from mixtally.api.files import file_at
from mixtally.api.planning import Plan
from mixtally.errors import ParameterError
from mixtally.model.contract import Plan as Record
from mixtally.model.contract import fingerprint_of, read_contract
from mixtally.primitives.files import read_bytes

_MAKE = "make one with `mixtally contract new` or Plan.save_contract"


class Agreed(NamedTuple):
    """A plan whose promise holds.

    where
      fingerprint   of the plan, or of the contract that it stands in
    """

    fingerprint: str
    plan: Record


def agreed_of(given: object) -> Agreed:
    """The plan that is ``given``, by itself or in a contract, whose numbers are proved again.

    Raises as ``contract_bytes``, and PlanError for what is no contract, was altered or promises
    what is not true.
    """
    if isinstance(given, Plan):  # which was proved when it was made
        return Agreed(given.fingerprint, given.record)
    data = contract_bytes(given)
    plan = read_contract(data, "contract").plan
    verify(plan)
    return Agreed(fingerprint_of(data), plan)


def contract_bytes(given: object) -> bytes:
    """The bytes of a contract in a file, or ``given`` itself when it is bytes already.

    Raises DataError for a file that cannot be read, ParameterError for anything else.
    """
    if isinstance(given, bytes):
        return given
    if not isinstance(given, str | os.PathLike):
        raise ParameterError(
            "contract",
            expected="a mixtally.Plan, or the path or the bytes of a contract",
            got=shown(given),
            do=_MAKE,
        )
    return read_bytes(file_at(given), "a contract", _MAKE)
