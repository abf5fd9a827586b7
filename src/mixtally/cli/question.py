"""What is asked: the question's options, declared once."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.hashing import HASHING

if TYPE_CHECKING:
    from mixtally.records.question import Question

QUESTION: dict[str, tuple[Any, Any]] = {
    "bins": (o.Bins, None),
    "labels": (o.Labels, None),
    "name": (
        Annotated[str, typer.Option("--name", help="What the question is called.")],
        "answer",
    ),
    **HASHING,
    "max_set": (
        Annotated[
            int | None,
            o.whole_option("--max-set", "Most bins one record sets, 1 to 16; with --bins."),
        ],
        None,
    ),
    "attributes": (
        Annotated[
            str | None,
            typer.Option(
                "--attributes",
                help="Bins of each of 2 to 16 attributes of a record: 10,20,5.",
                metavar="D,..",
            ),
        ],
        None,
    ),
    "bits": (
        Annotated[int | None, o.whole_option("--bits", "Bits of a free vector, 1 to 64.")],
        None,
    ),
}


def question_of(came: dict[str, Any]) -> "Question":
    """The question; raises ParameterError unless it is stated in exactly one way.

    ``came["hash_seed"]`` is a seed already, given or drawn.
    """
    from mixtally.errors import ParameterError
    from mixtally.records.hashing import Hashing
    from mixtally.records.question import Kind, Question, with_attributes

    labels, name = o.read_labels(came["labels"]), came["name"]
    ways = [flag for flag in ("bins", "attributes", "bits", "hash_bins") if came[flag] is not None]
    if len(ways) > 1 or not (ways or labels is not None):
        raise ParameterError(
            "bins",
            wanted="--bins or --labels, --attributes, --bits, or --hash-bins",
            got=" and ".join("--" + flag.replace("_", "-") for flag in ways) or "none",
            do="say in one way what a record may hold",
        )
    if came["max_set"] is not None and ways not in ([], ["bins"]):
        raise ParameterError(
            "max set", wanted="--bins or --labels beside it", got="--" + ways[0].replace("_", "-"),
            do="leave --max-set out",
        )  # fmt: skip
    if ways == ["hash_bins"]:
        hashed = Hashing(seed=came["hash_seed"])
        return Question(name=name, bins=came["hash_bins"], labels=labels, hashed=hashed)
    if ways == ["bits"]:
        return Question(name=name, bins=came["bits"], labels=labels, kind=Kind.BITS)
    if ways == ["attributes"]:
        sizes = tuple(_sizes(came["attributes"]))
        made = with_attributes(name, sizes)
        return made if labels is None else _labelled(made, labels)
    bins = len(labels or ()) if came["bins"] is None else came["bins"]
    if came["max_set"] in (None, 1):
        return Question(name=name, bins=bins, labels=labels)
    return Question(name=name, bins=bins, labels=labels, kind=Kind.SET, max_set=came["max_set"])


def _labelled(question: "Question", labels: tuple[str, ...]) -> "Question":
    import msgspec

    return msgspec.structs.replace(question, labels=labels)


def _sizes(text: str) -> list[int]:
    """Whole numbers between commas; raises ParameterError for anything else."""
    from mixtally.errors import ParameterError

    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise ParameterError(
            "attributes", wanted="whole numbers with commas between them", got=repr(text),
            do="10,20,5 for three attributes",
        )  # fmt: skip
    return [int(part) for part in parts]
