"""Whom ``mixtally simulate`` plays, and what they are asked: by given plans, or by the data."""

from collections.abc import Sequence

from mixtally.cli.hashing import HashingOptions
from mixtally.cli.rows import read_crowd
from mixtally.data.file import DataFile
from mixtally.data.population import Population
from mixtally.data.reading import As, Reading
from mixtally.ground.chance import Chance
from mixtally.records.hashing import HMAC_SHA256, Hashing
from mixtally.records.plan import Plan
from mixtally.records.question import Kind, Question
from mixtally.simulation.open_words import hashed


def crowd_of(
    file: DataFile,
    reading: Reading,
    plans: Sequence[Plan],
    hashing: HashingOptions,
    source: Chance,
) -> tuple[Population, Question]:
    """The crowd and the question; words share bins by a hash that is a plan's, given or drawn."""
    if plans:
        return _planned(file, reading, plans)
    population = read_crowd(file, reading)
    if hashing.hash_bins is None:
        return population, population.question
    shared = Hashing(function=HMAC_SHA256, seed=hashing.seed(source))
    return population, Question(name=reading.name, bins=hashing.hash_bins, hashed=shared)


def _planned(
    file: DataFile, reading: Reading, plans: Sequence[Plan]
) -> tuple[Population, Question]:
    """The crowd asked what the plans ask; its words are hashed later."""
    question = plans[0].question
    if reading.words:
        population = read_crowd(file, reading)
        return population, hashed(population, question).question
    clear_bit = reading.form is As.BITS and question.kind is Kind.ONE  # no or yes
    whole = len(plans) == 1 and not clear_bit
    if not whole:
        reading = reading.labelled([one.question for one in plans])
    population = read_crowd(file, reading, question if whole else None)
    return population, population.question
