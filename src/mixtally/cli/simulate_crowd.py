"""Whom ``mixtally simulate`` plays, and what they are asked: by a given plan, or by the data."""

from mixtally.cli.hashing import HashingOptions
from mixtally.cli.rows import read_asked, read_crowd
from mixtally.errors import ParameterError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import Reading
from mixtally.model.contract import Plan
from mixtally.model.question import Kind, Question, open_question
from mixtally.primitives.chance import Chance
from mixtally.protocol.encode.hashed import encode


def crowd_of(
    file: DataFile,
    reading: Reading,
    plan: Plan | None,
    hashing: HashingOptions,
    source: Chance,
) -> tuple[Population, Question]:
    """The crowd and the question; the key of an open one is a plan's, given or drawn."""
    if plan is not None:
        return _planned(file, reading, plan)
    population = read_crowd(file, reading)
    if not reading.words:
        return population, population.question
    most = population.question.max_set
    if population.question.kind is Kind.SET and most == 1:
        raise ParameterError(
            "max set",
            wanted="two texts or more, of an open domain",
            got="sets of one",
            do="leave --set out, or add --max-set 2",
        )
    return population, open_question(reading.name, hashing.seed(source), most)


def _planned(file: DataFile, reading: Reading, plan: Plan) -> tuple[Population, Question]:
    """The crowd asked what the plan asks; its words are hashed later."""
    question = plan.question
    if reading.words:
        encode(question, ())
        return read_asked(file, reading, question), question
    population = read_crowd(file, reading, question)
    return population, population.question
