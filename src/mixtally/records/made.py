"""Records that people make by hand: what cannot be one is refused in the one error family."""

from difflib import get_close_matches
from typing import Any

import msgspec

from mixtally.errors import ParameterError


class Made(type(msgspec.Struct)):  # type: ignore[misc]
    """The class of such records; decoding files goes another way, and checks types by itself."""

    def __call__(cls, *args: Any, **fields: Any) -> Any:
        """A record of these fields; ParameterError for others, and for values of other types."""
        names = cls.__struct_fields__
        for strange in (name for name in fields if name not in names):
            near = get_close_matches(strange, names, 1)
            raise ParameterError(
                cls.__name__,
                wanted="arguments that it has",
                got=repr(strange),
                do=f"did you mean {near[0]}?" if near else f"see help(mixtally.{cls.__name__})",
            )
        try:
            return super().__call__(*args, **fields)
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise ParameterError(
                cls.__name__,
                wanted="fields of the types that it has",
                got=" ".join(str(error).split())[:120],
                do=f"see help(mixtally.{cls.__name__})",
            ) from error
