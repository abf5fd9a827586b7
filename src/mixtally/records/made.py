"""Records that people make by hand: what cannot be one is refused in the one error family."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from mixtally.errors import ParameterError


def check_names(name: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raises ParameterError for an argument of ``name`` that there is not, with the nearest."""
    for strange in (one for one in given if one not in known):
        near = get_close_matches(strange, known, 1)
        raise ParameterError(
            name,
            wanted="arguments that it has",
            got=repr(strange),
            do=f"did you mean {near[0]}?" if near else f"see help(mixtally.{name})",
        )


class Made(type(msgspec.Struct)):  # type: ignore[misc]
    """The class of such records; decoding files goes another way, and checks types by itself."""

    def __call__(cls, *args: Any, **fields: Any) -> Any:
        """A record of these fields; ParameterError for others, and for values of other types."""
        check_names(cls.__name__, fields, cls.__struct_fields__)
        try:
            return super().__call__(*args, **fields)
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise ParameterError(
                cls.__name__,
                wanted="fields of the types that it has",
                got=" ".join(str(error).split())[:120],
                do=f"see help(mixtally.{cls.__name__})",
            ) from error
