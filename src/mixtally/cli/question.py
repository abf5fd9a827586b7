"""What is asked: the question's options, declared once."""

from dataclasses import dataclass
from typing import Annotated

import msgspec

from mixtally.app.options import Bits, flags
from mixtally.cli import options as o
from mixtally.cli.hashing import HashingOptions
from mixtally.cli.labels import read_labels
from mixtally.errors import ParameterError
from mixtally.records.question import Kind, Question, open_question, with_attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOptions:
    """What a record may hold."""

    bins: o.Bins = None
    labels: o.Labels = None
    name: Annotated[str, o.option("--name", "What the question is called.")] = "answer"
    open_domain: Annotated[
        bool, o.option("--open", "Any text may be answered; words are listed when it is counted.")
    ] = False
    hashing: HashingOptions
    max_set: Annotated[
        int | None,
        o.whole_option("--max-set", "Most bins of one record, 1 to 16, or texts, 1 to 11."),
    ] = None
    attributes: Annotated[
        str | None,
        o.option(
            "--attributes", "Bins of each of 2 to 16 attributes of a record: 10,20,5.", "D,.."
        ),
    ] = None
    bits: Bits = None


def question_of(options: QuestionOptions, seed: str) -> Question:
    """The question; raises ParameterError unless it is stated in exactly one way.

    ``seed`` is that of the hash, given or drawn.
    """
    name, stated = options.name, options.bits if options.bins is None else options.bins
    labels = read_labels(options.labels, 2 if stated is None else stated, stated)
    ways = flags(options, "bins", "attributes", "bits", "open_domain")
    if len(ways) > 1 or not (ways or labels is not None):
        raise ParameterError(
            "bins",
            wanted="--bins or --labels, --attributes, --bits, or --open",
            got=" and ".join(ways) or "none",
            do="say in one way what a record may hold",
        )
    if options.max_set is not None and ways not in ([], ["--bins"], ["--open"]):
        raise ParameterError(
            "max set",
            wanted="--bins, --labels or --open beside it",
            got=ways[0],
            do="leave --max-set out",
        )
    if options.hashing.hash_seed is not None and not options.open_domain:
        raise ParameterError(
            "--hash-seed", wanted="--open beside it", got="none", do="leave it out, or add --open"
        )
    if options.open_domain:
        return open_question(name, seed, 1 if options.max_set is None else options.max_set)
    if options.bits is not None:
        return Question(name=name, bins=options.bits, labels=labels, kind=Kind.BITS)
    if options.attributes is not None:
        made = with_attributes(name, tuple(_sizes(options.attributes)))
        return made if labels is None else msgspec.structs.replace(made, labels=labels)
    bins = len(labels or ()) if options.bins is None else options.bins
    if options.max_set in (None, 1):
        return Question(name=name, bins=bins, labels=labels)
    return Question(name=name, bins=bins, labels=labels, kind=Kind.SET, max_set=options.max_set)


def _sizes(text: str) -> list[int]:
    """Whole numbers between commas; raises ParameterError for anything else."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise ParameterError(
            "attributes",
            wanted="whole numbers with commas between them",
            got=repr(text),
            do="10,20,5 for three attributes",
        )
    return [int(part) for part in parts]
