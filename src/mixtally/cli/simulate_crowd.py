"""Whom ``mixtally simulate`` plays, and with which offer: by given plans, or one that is chosen."""

from pathlib import Path

from mixtally.app.limits import BudgetOptions, wish_of
from mixtally.cli import options as o
from mixtally.cli.hashing import HashingOptions
from mixtally.cli.plan_files import read_plan
from mixtally.cli.rows import read_crowd
from mixtally.data.file import DataFile
from mixtally.data.population import Population
from mixtally.data.reading import As, Reading
from mixtally.errors import ParameterError
from mixtally.ground.chance import Chance
from mixtally.planner import PlanOption, PlanRequest
from mixtally.privacy.accountant import Accountant
from mixtally.records.guarantee import Guarantee
from mixtally.records.hashing import HMAC_SHA256, Hashing
from mixtally.records.question import Kind, Question
from mixtally.simulation import offers
from mixtally.simulation.open_words import hashed


def planned(
    file: DataFile,
    reading: Reading,
    plans: list[Path],
    words: tuple[str, ...] | None,
    accountant: Accountant,
) -> tuple[Population, PlanOption]:
    """The crowd asked what the plans ask, and the plans as an offer; words are hashed later."""
    chosen = [read_plan(path) for path in plans]
    question = chosen[0].question
    if words is not None:
        population = read_crowd(file, reading)
        asked = hashed(population, question).question
        return population, offers.given(chosen, asked, accountant)
    clear_bit = reading.form is As.BITS and question.kind is Kind.ONE  # no or yes
    whole = len(chosen) == 1 and not clear_bit
    if not whole:
        reading = reading.labelled([one.question for one in chosen])
    population = read_crowd(file, reading, question if whole else None)
    return population, offers.given(chosen, population.question, accountant)


def wished(
    file: DataFile,
    reading: Reading,
    hashing: HashingOptions,
    budget: BudgetOptions,
    promise: o.MaybePromise,
    source: Chance,
) -> tuple[Population, PlanRequest]:
    """The crowd in the data, and what is asked of the planner for it."""
    guarantee, bins = guarantee_of(promise), hashing.hash_bins
    population = read_crowd(file, reading)
    question = population.question
    if bins is not None:  # which words share, by a hash given or drawn
        question = Question(
            name=reading.name,
            bins=bins,
            hashed=Hashing(function=HMAC_SHA256, seed=hashing.seed(source)),
        )
    return population, wish_of(budget, question, guarantee, population.users)


def guarantee_of(promise: o.MaybePromise) -> Guarantee:
    """The guarantee asked for; raises ParameterError for half of one."""
    epsilon, delta = promise.epsilon, promise.delta
    if epsilon is None or delta is None:
        raise ParameterError(
            "guarantee",
            wanted="--epsilon and --delta, or --plan",
            got="neither" if epsilon is None and delta is None else "one of them",
            do="add --epsilon 1 --delta 1e-6, for example",
        )
    return Guarantee(epsilon=epsilon, delta=delta)
