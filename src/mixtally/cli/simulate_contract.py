"""``mixtally simulate --contract``: one round under a contract, with dishonest hops on request."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from mixtally.app.outcome import outcome_of
from mixtally.cli import options as o
from mixtally.cli.contract_files import read_contract_file
from mixtally.cli.progress import progress_bars
from mixtally.cli.reading import ReadingOptions, reading_as
from mixtally.cli.rows import read_asked
from mixtally.cli.screen import show
from mixtally.errors import ParameterError
from mixtally.lab.simulation.conduct import Conduct, Hops
from mixtally.lab.simulation.lab import Lab, Provenance, Signed
from mixtally.lab.simulation.open_words import hashed, truth_of_words
from mixtally.lab.simulation.rounding import rounded_crowd
from mixtally.lab.simulation.run import release
from mixtally.lab.simulation.study import Study
from mixtally.lab.simulation.study_document import document
from mixtally.lab.simulation.truth import compared, truth_of
from mixtally.protocol.encode.hashed import sought
from mixtally.protocol.estimate.analysis import Analysis


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractOptions:
    """A contract, and who does not keep it."""

    contract: Annotated[
        Path | None,
        o.option("--contract", "A contract from `mixtally contract new`: play its hops.", "FILE"),
    ] = None
    dishonest: Annotated[
        str | None,
        o.option("--dishonest", "Hops that cheat, by their place: 1,3; draw no fakes.", "H,.."),
    ] = None
    leave_out: Annotated[
        float | None,
        o.option(
            "--leave-out",
            "Share of other people's messages that they leave out, 0 to 1 (default 1).",
            "S",
        ),
    ] = None

    def conduct(self) -> Conduct:
        """What dishonest hops do."""
        return Conduct(leaves_out=1.0 if self.leave_out is None else self.leave_out)


def hops(text: str | None) -> frozenset[int]:
    """The hops that ``text`` names; raises ParameterError for anything but whole numbers."""
    if text is None:
        return frozenset()
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise ParameterError(
            "--dishonest",
            wanted="places of hops with commas between them",
            got=repr(text),
            do="1,3 for the first and the third",
        )
    return frozenset(map(int, parts))


def play(
    data: Path,
    options: ContractOptions,
    columns: ReadingOptions,
    run: o.RunOptions,
    analysis: Analysis,
    words: tuple[str, ...] | None = None,
) -> None:
    """Read the crowd as the contract asks, play one round, show what came of it.

    Raises as ``release``, PlanError for data that are read in another way than it asks.
    """
    if options.contract is None:
        raise TypeError("no contract to play")
    contract, fingerprint = read_contract_file(options.contract)
    question = contract.plan.question
    file = columns.rows.at(data)
    crowd = read_asked(file, reading_as(columns, contract.plan), question)
    if words is not None:
        analysis = replace(analysis, listed=sought(question, words))
    sent = crowd if question.hashed is None else hashed(crowd, question)
    dishonest = Hops(hops(options.dishonest), options.conduct())
    with progress_bars() as progress:
        lab = Lab(o.chance(run.seed), progress, across=o.across(progress))
        sent = rounded_crowd(sent, contract.plan, lab.chance)
        played = release(contract.plan, sent, lab, analysis, dishonest)
    about = Provenance(
        title=f"{contract.plan.question.name}, counted under the contract {contract.name}",
        source=f"{crowd.users:,} rows of {file.name}, {crowd.one_each}.",
        raw=crowd.note,
        seed=run.seed,
        ordered=True,
        signed=Signed(contract.name, contract.serial, fingerprint),
    )
    if analysis.listed is None:
        truth = truth_of(crowd, played.found)
    else:
        truth = compared(truth_of_words(crowd, analysis.listed), played.found)
    study = Study(about=about, releases=(played,), truth=truth)
    outcome = outcome_of(study, lambda shown: document(shown, run.top), crowd.from_data)
    show(outcome, run.out, json=run.json, out_format=run.out_format)
