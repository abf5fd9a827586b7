"""Contracts as arguments: a path or bytes."""

import os

from mixtally.api.checks import describe_value
from mixtally.api.files import file_at
from mixtally.errors import ParameterError
from mixtally.primitives.files import read_bytes

_MAKE = "make one with `mixtally contract new` or Plan.save_contract"


def contract_bytes(given: object) -> bytes:
    """Return the bytes of a contract, which is given as a path or as bytes.

    Raises
    ------
    DataError
        If the file cannot be read.
    ParameterError
        If the argument has another type.
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
