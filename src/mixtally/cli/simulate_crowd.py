"""Whom ``mixtally simulate`` plays, and with which offer: by given plans, or one that is chosen."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixtally.cli.budget import given, wish_of
from mixtally.cli.hashing import hashed_question
from mixtally.cli.output import progress_bars
from mixtally.cli.plan_files import read_plan

if TYPE_CHECKING:
    from mixtally.data.population import Population
    from mixtally.data.reading import Reading
    from mixtally.ground.chance import Chance
    from mixtally.planner import PlanOption, PlanRequest
    from mixtally.records.guarantee import Guarantee


def planned(
    data: Path, reading: "Reading", plans: list[Path], words: tuple[str, ...] | None
) -> "tuple[Population, PlanOption]":
    """The crowd asked what the plans ask, and the plans as an offer; words are hashed later."""
    from mixtally.data.readers import read
    from mixtally.data.reading import As
    from mixtally.records.question import Kind
    from mixtally.simulate import offers
    from mixtally.simulate.open_words import hashed

    chosen = [read_plan(path) for path in plans]
    question = chosen[0].question
    if words is not None:
        with progress_bars() as progress:
            population = read(data, reading, progress=progress)
        return population, offers.given(chosen, hashed(population, question))
    clear_bit = reading.form is As.BITS and question.kind is Kind.ONE  # no or yes
    whole = len(chosen) == 1 and not clear_bit
    if not whole:
        reading = reading.labelled([one.question for one in chosen])
    with progress_bars() as progress:
        population = read(data, reading, question if whole else None, progress)
    return population, offers.given(chosen, population)


def wished(
    data: Path,
    reading: "Reading",
    words: tuple[str, ...] | None,
    options: dict[str, Any],
    budget: dict[str, Any],
    promise: tuple[float | None, float | None],
    source: "Chance",
) -> "tuple[Population, PlanRequest]":
    """The crowd in the data, and what is asked of the planner for it."""
    from mixtally.data.readers import read

    guarantee = _guarantee(*promise)
    with progress_bars() as progress:
        population = read(data, reading, progress=progress)
    question = population.question
    if words is not None:
        question = hashed_question(options, reading.name, source)
    return population, wish_of(budget, question, guarantee, population.users)


def leave_room(budget: dict[str, Any], repeats: int | None) -> None:
    """Budget for messages that are sent several times, where none is given."""
    if repeats is not None and not {"--fakes-per-user", "--messages-per-user"} & set(given(budget)):
        budget["messages_per_user"] = float(max(2, repeats))


def _guarantee(epsilon: float | None, delta: float | None) -> "Guarantee":
    from mixtally.errors import ParameterError
    from mixtally.records.guarantee import Guarantee

    if epsilon is None or delta is None:
        raise ParameterError(
            "guarantee",
            wanted="--epsilon and --delta, or --plan",
            got="neither" if epsilon is None and delta is None else "one of them",
            do="add --epsilon 1 --delta 1e-6, for example",
        )
    return Guarantee(epsilon=epsilon, delta=delta)


def refuse(flags: list[str]) -> None:
    """Raises ParameterError when options stand beside --plan that the plan itself holds."""
    from mixtally.errors import ParameterError

    if flags:
        raise ParameterError(
            "--plan",
            wanted="a plan, or options to make one",
            got="both: " + ", ".join(flags),
            do="leave these out: the plan holds them",
        )
