"""All options of a cascade, and the one to take."""

from collections.abc import Callable, Iterator
from functools import partial

from mixtally.errors import EffortError, InfeasibleError
from mixtally.planner.cascade import by_mixes, by_people
from mixtally.planner.cascade.desk import Desk, Result
from mixtally.planner.cascade.option import CascadeChoice, CascadeOption
from mixtally.planner.cascade.request import CascadeRequest
from mixtally.planner.flip_options import COINS
from mixtally.planner.options import Infeasible
from mixtally.privacy.accountant import Accountant
from mixtally.records.contract import Cover
from mixtally.records.encodings import Encoding, encodings

Look = Callable[[Desk, Encoding], Result]
OPTIONS: tuple[tuple[str, Look], ...] = (
    ("clear-shaped", by_mixes.shaped),
    ("flip-blank", by_mixes.blanks),
    ("single-bit", by_mixes.bits),
    ("clear-uniform", by_people.uniform),
    ("flip-blank", by_people.blanks),
    ("single-bit", by_people.bits),
    ("flip", by_people.flips),
)
"""By every mix first, by people after them."""


def cascade(wanted: CascadeRequest, accountant: Accountant | None = None) -> CascadeChoice:
    """The most accurate option that every mix covers, or else the most accurate one.

    Raises InfeasibleError when nothing keeps the guarantee within the budget; its message says what
    each protocol needs.
    """
    desk = Desk(wanted, accountant or Accountant())
    found = [one for one in _results(desk) if one is not None]
    options = [one for one in found if isinstance(one, CascadeOption)]
    infeasible = tuple(dict.fromkeys(one for one in found if isinstance(one, Infeasible)))
    if not options:
        request = wanted.request
        raise InfeasibleError(
            "plan",
            wanted=f"epsilon {request.guarantee.epsilon:g} and delta {request.guarantee.delta:g} "
            f"for {request.users:,} users, {request.question.bins:,} bins and {wanted.hops} mixes",
            got="no protocol that keeps them",
            do="; ".join(f"{one.protocol} needs {one.needs}" for one in infeasible)
            or f"choose another --protocol for records of kind {request.question.kind}",
        )
    options.sort(key=lambda one: (one.terms.cover is not Cover.MIXES, one.standard_error))
    return CascadeChoice(options[0], tuple(options[1:]), infeasible)


def _results(desk: Desk) -> Iterator[Result]:
    """What every protocol and encoding comes to; what takes too long says so."""
    for name, look in _looks(desk):
        try:
            found = look()
        except EffortError as error:
            found = Infeasible(name, f"less work ({error})")
        if isinstance(found, CascadeOption) and not found.tells:
            found = Infeasible(name, COINS)
        yield found


def _looks(desk: Desk) -> Iterator[tuple[str, Callable[[], Result]]]:
    asked = desk.wanted.request.protocol
    every = encodings(desk.wanted.request.question)
    for name, look in OPTIONS:
        if asked in (None, name):
            for encoding in every:
                yield name, partial(look, desk, encoding)
    if asked == "flip-uniform":
        for encoding in every:
            yield asked, partial(by_people.uniform_flips, desk, encoding)
