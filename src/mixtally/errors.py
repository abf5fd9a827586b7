"""The errors of this package, with messages that state what was expected, given and to be done.

Every module raises these errors, and the command line turns them into one line and an exit status.

MixtallyError
|-- InputError            something given from outside cannot be used (exit status 2)
|   |-- ParameterError    a number outside its range
|   |   `-- EffortError   numbers in their ranges whose delta would take too long to compute
|   |-- DataError         a file, a column or a value of the data
|   |-- PlanError         a plan or schema that is foreign, damaged or impossible
|   |-- MessageError      a message of the wrong length or form
|   |-- RefusedError      a contract or value that a device does not accept; has a reason
|   `-- InfeasibleError   no plan meets the request; knows the closest feasible requests
`-- AccountingError       a privacy number that cannot be right: the work stops (exit status 3)
"""

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

_MOST = 99
"""Characters of an unexpected value that a message shows."""
_OPTION_AT_END = re.compile(r"--[a-z][a-z-]*( (?!out$)[^ `]+)?$")  # not "leave --labels out"
_COMMANDS = ("mixtally", "pip")
"""Names of programs, which keep their case at the beginning of an advice."""
_PROPER_NAMES = ("Parquet",)
"""Names with which texts of libraries begin, and which keep their capital letter."""


class MixtallyError(Exception):
    """The base class of all errors that this package raises on purpose.

    The message is one line that states what was expected, what was given, and what to do.

    Examples
    --------
    >>> import mixtally
    >>> try:
    ...     mixtally.plan(["yes", "no"], epsilon=-1, delta=1e-6, users=1_000)
    ... except mixtally.MixtallyError as error:
    ...     print(error.subject)
    epsilon
    """


class InputError(MixtallyError):
    """Something given from outside cannot be used.

    The message is one line: ``subject: expected ..., got .... What to do.``

    Parameters
    ----------
    subject : str
        The file, option, argument or field that cannot be used.
    expected : str
        What the subject should have been.
    got : object
        What the subject was. An error of a library is worded by ``describe_error``.
    do : str
        What the reader can do, as an imperative without a period.

    Attributes
    ----------
    problem : str
        The message without the advice.
    details : dict
        Further facts for programs that ask for JSON.
    """

    def __init__(self, subject: str, *, expected: str, got: object, do: str) -> None:
        got = describe_error(got) if isinstance(got, Exception) else str(got)
        got = " ".join(got.splitlines())  # a data frame prints as many lines
        self.subject, self.expected, self.got, self.do = subject, expected, got, do
        self.problem = f"{subject}: expected {expected}, got {got}"
        self.details: dict[str, object] = {}
        super().__init__(f"{self.problem}. {_as_sentence(do)}")


def describe_error(error: Exception) -> str:
    """Return the text of an error of the operating system or of a library, as part of a sentence.

    The text begins in lower case, except for a name, and does not end with a period. An error of
    the operating system has neither its number nor the name of the file, which is the subject.
    """
    if isinstance(error, IsADirectoryError):
        return "a folder"
    text = " ".join(str(getattr(error, "strerror", None) or error).split()).rstrip(".")
    first = text.partition(" ")[0].replace("'", "")
    is_word = first.isalpha() and first[1:].islower() and first not in _PROPER_NAMES
    return text[:1].lower() + text[1:] if is_word else text


def _as_sentence(advice: str) -> str:
    """Return the advice with a capital letter and a final period.

    Names that are typed as they stand, such as ``clear-uniform``, keep their case. A command, or an
    option and its value at the end, has no period after it, because readers copy it.
    """
    first = advice.partition(" ")[0].rstrip(",:;")
    if first in _COMMANDS:
        return advice
    if first.isalpha():
        advice = advice[:1].upper() + advice[1:]
    if advice.endswith((".", "?", "!")) or _OPTION_AT_END.search(advice):
        return advice
    return f"{advice}."


class ParameterError(InputError):
    """A number is outside the range for which the mathematics is proved."""


class EffortError(ParameterError):
    """Computing the delta of these parameters would take too long; raised before the work."""


class DataError(InputError):
    """A data file, a column or one of its values cannot be used."""


class PlanError(InputError):
    """A plan or schema is not this version's, is damaged, or is impossible."""


class MessageError(InputError):
    """A message does not have the length or form that its plan prescribes."""


class RefusedError(InputError):
    """A device does not take part under this contract, or not with this value.

    Attributes
    ----------
    reason : str
        The name of the refusal, which is the same in every client. SPEC.md lists the names.
    """

    def __init__(self, reason: str, subject: str, *, expected: str, got: object, do: str) -> None:
        self.reason = reason
        super().__init__(subject, expected=expected, got=got, do=do)


class InfeasibleError(InputError):
    """No plan meets the request.

    Attributes
    ----------
    search : callable or None
        Finds the closest feasible requests, which takes a while. None where the planner was not
        asked for a single plan.
    """

    search: Callable[[], Any] | None = None

    @property
    def nearest(self) -> Any:
        """The closest feasible requests: ``found``, and changes left ``unfinished``.

        Each of ``found`` has a ``change`` and a ``plan``. None where a target error or a crowd size
        was sought, or no plan was asked for.
        """
        return None if self.search is None else self.search()


class AccountingError(MixtallyError):
    """A privacy number is NaN, negative or not monotone, so no promise may be based on it."""


_OTHER_NAMES = {
    "ε": "epsilon", "e": "epsilon", "δ": "delta", "d": "bins", "k": "bins", "n": "users",
    "people": "users", "crowd": "users", "num_users": "users", "population": "users",
    "categories": "labels", "options": "labels", "answers": "labels", "domain": "labels",
    "range": "number", "bounds": "number", "low": "number", "high": "number", "lower": "number",
    "upper": "number", "numbers": "number", "bits": "kind", "attributes": "labels",
    "mechanism": "protocol", "rounds": "collections", "mixes": "hops", "servers": "hops",
    "random_state": "seed", "rng": "seed", "confidence": "level", "alpha": "level",
    "data": "values", "column": "values", "weights": "counts", "groupby": "group_by",
}  # fmt: skip
"""Names that other libraries use for an argument of this package."""


def check_names(name: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise ParameterError for an argument that a function does not have, with a suggestion.

    The suggestion is an argument that begins with the unknown name, an argument that other
    libraries call by this name, or an argument with a similar spelling.

    Parameters
    ----------
    name : str
        The function.
    given : iterable of str
        The names of the arguments that were given.
    known : sequence of str
        The names of the arguments that the function has.
    """
    for strange in (one for one in given if one not in known):
        near = _meant(strange, known)
        raise ParameterError(
            name,
            expected="the name of an argument",
            got=repr(strange),
            do=f"did you mean {near}?" if near else f"see help(mixtally.{name})",
        )


def _meant(strange: str, known: Sequence[str]) -> str | None:
    plain = strange.casefold()
    begins = [one for one in known if len(plain) > 1 and one.startswith(plain)]
    if len(begins) == 1:
        return begins[0]
    if (usual := _OTHER_NAMES.get(plain)) in known:
        return usual
    near = get_close_matches(plain, known, 1, 0.65)
    return near[0] if near else None


def not_one_of(
    subject: str, got: object, names: Sequence[str], do: str = "", *, shown: str = ""
) -> ParameterError:
    """Return the error for a value that is none of ``names``, with the most similar name.

    ``shown`` describes a value that is not text.
    """
    near = get_close_matches(str(got)[:_MOST].replace("_", "-"), names, 1, 0.75)
    plain = repr(got[:_MOST]) if isinstance(got, str) else got
    return ParameterError(
        subject,
        expected="one of " + ", ".join(names),
        got=shown or plain,
        do=do or (f"did you mean {near[0]}?" if near else "choose one"),
    )


def not_together(subject: str, one: str, others: Sequence[str], do: str = "") -> ParameterError:
    """Return the error for ``one`` option that was given with ``others`` that it excludes.

    Parameters
    ----------
    subject : str
        The option or topic that the message names first.
    one : str
        The option that excludes the others, or a phrase such as "a plan".
    others : sequence of str
        The options that were given and are excluded.
    do : str, optional
        What the reader can do; leave the others out by default.

    Returns
    -------
    ParameterError
        The error, to be raised by the caller.
    """
    rest = join_words(others)
    return ParameterError(
        subject,
        expected=f"{one} without {rest}",
        got="both" if len(others) == 1 else "all of these",
        do=do or f"leave {rest} out",
    )


def join_words(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: "a", "a and b", "a, b and c", or "" for none."""
    *front, last = words or [""]
    return f"{', '.join(front)} and {last}" if front else last


def pluralize(count: int, singular: str, plural: str | None = None) -> str:
    """Return a number of things; ``plural`` is needed if the plural is not formed with an s."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def in_range(subject: str, value: float, low: float, high: float, do: str) -> None:
    """Raise ParameterError unless low <= value <= high; an integer ``low`` requires integers."""
    if not low <= value <= high:  # NaN fails every comparison
        raise _outside(subject, value, f"[{_shown(low)}, {_shown(high)}]", low, do)


def strictly_within(subject: str, value: float, low: float, high: float, do: str) -> None:
    """Raise ParameterError unless low < value < high."""
    if not low < value < high:
        raise _outside(subject, value, f"({_shown(low)}, {_shown(high)})", low, do)


def _outside(subject: str, value: float, range_: str, low: float, do: str) -> ParameterError:
    kind = "an integer" if isinstance(low, int) else "a number"
    got = f"{value:,}" if isinstance(value, int) else value
    return ParameterError(subject, expected=f"{kind} in {range_}", got=got, do=do)


def _shown(end: float) -> str:
    return f"{end:,}" if isinstance(end, int) else f"{end:g}"
