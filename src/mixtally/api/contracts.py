"""A contract as people give it: its file, its bytes, or itself."""

import os

from mixtally.api.checks import describe_value
from mixtally.api.files import file_at
from mixtally.errors import ParameterError
from mixtally.primitives.files import read_bytes

_MAKE = "make one with `mixtally contract new` or Plan.save_contract"


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
            got=describe_value(given),
            do=_MAKE,
        )
    return read_bytes(file_at(given), "a contract", _MAKE)
