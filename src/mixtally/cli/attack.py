"""``mixtally attack``: play the known attacks on a plan, or on a claim, and see what they prove."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.grouped import takes
from mixtally.cli.output import progress_bars, show

if TYPE_CHECKING:
    from mixtally.attacks import MemoizedTarget, Target
    from mixtally.privacy.accountant import Accountant


def _real(name: str, text: str, metavar: str) -> object:
    return Annotated[float | None, typer.Option(name, help=text, metavar=metavar)]


def _whole(name: str, text: str) -> object:
    return Annotated[int | None, o.whole_option(name, text)]


CLAIM: dict[str, tuple[Any, Any]] = {
    "protocol": (
        Annotated[
            str | None,
            typer.Option(
                "--protocol",
                help="Attack a claim: flip-blank, flip-uniform, flip, single-bit, clear-uniform, "
                "clear-shaped or memory.",
                metavar="NAME",
            ),
        ],
        None,
    ),
    "epsilon": (_real("--epsilon", "The claimed privacy loss.", "E"), None),
    "delta": (_real("--delta", "The claimed chance left over.", "D"), None),
    "users": (_whole("--users", "People who take part."), None),
    "bins": (o.Bins, None),
    "bits": (_whole("--bits", "Bits of a free vector, or of a memoized answer."), None),
    "fakes": (_whole("--fakes", "Fakes in the collection."), None),
    "flip": (_real("--flip", "Flip probability, 2^-40 to 1/2.", "Q"), None),
    "max_set": (_whole("--max-set", "Most set bits of a record."), None),
    "repeats": (_whole("--repeats", "Times a vector is sent."), None),
    "shape_decay": (_real("--shape-decay", "Fall of the shaped distribution in nats.", "C"), None),
    "shape_shift": (_whole("--shape-shift", "Mean shaped fakes a bin."), None),
    "mixes": (_whole("--mixes", "Mixes that draw fakes."), None),
    "permanent": (_real("--permanent", "Chance that a kept bit is a coin.", "F"), None),
    "p": (_real("--p", "Chance that a kept 0 is shown as 1.", "P"), None),
    "q": (_real("--q", "Chance that a kept 1 is shown as 1.", "Q"), None),
    "hashes": (_whole("--hashes", "Bits that a value sets in a memoized answer."), None),
    "reports": (_whole("--reports", "Reports of one memoized answer."), None),
    "count_crowd": (o.CountCrowd, False),
    "honest_fraction": (
        Annotated[
            float | None,
            typer.Option(
                "--honest-fraction",
                help="Share of the fakes that the claim counts on (default 1).",
                metavar="H",
            ),
        ],
        None,
    ),
}


@takes(CLAIM)
def attack(
    came: dict[str, Any],
    plan: Annotated[
        Path | None, typer.Argument(help="A plan from `mixtally plan --out`.", metavar="[PLAN]")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            help="One attack: tell-apart, n-1, difference, collusion, averaging, poisoning, "
            "randomizer, collection; of memoized answers averaging, linking, tracking, collection.",
            metavar="NAME",
        ),
    ] = None,
    runs: Annotated[
        int | None, o.whole_option("--runs", "Games of an attack (default: what is quick).")
    ] = None,
    drawn: Annotated[
        int | None,
        o.whole_option("--drawn", "Games with counts from their law (default: what is quick)."),
    ] = None,
    level: Annotated[
        float,
        typer.Option(
            "--level", help="Confidence of the whole table, 0.5 to 1 - 1e-9.", metavar="L"
        ),
    ] = 0.9999,
    unverified: Annotated[
        bool, typer.Option("--unverified", help="Attack a plan whose certificate is false.")
    ] = False,
    seed: o.Seed = None,
    out: Annotated[Path | None, o.folder_option("Write report.html and report.json here.")] = None,
    json: o.Json = False,
) -> None:
    """Attack a plan, or a claim.

    Plays every known attack through the production randomizer, and prints what is promised, what
    the attack proves at the given confidence, and the margin. Exit status 1 when a promise is
    violated. An attack that fails proves nothing.
    """
    from mixtally.attacks import Lab, Target, Verdict, assault
    from mixtally.attacks.document import document
    from mixtally.privacy.accountant import Accountant
    from mixtally.simulate.simulate import play

    _check(level, runs, drawn)
    accountant = Accountant()
    target = _target(plan, came, accountant, unverified=unverified)
    with progress_bars() as progress:
        lab = Lab(
            o.chance(seed), 1.0 - level, runs=runs, progress=progress, drawn=drawn, play=play,
            accountant=accountant,
        )  # fmt: skip
        outcomes = assault(target, lab, only)
    facts: dict[str, Any] = {
        "target": target.title,
        **(_promise_facts(target, accountant) if isinstance(target, Target) else {}),
        "level": level,
        "seed": seed,
        "violated": [one.attack for one in outcomes if one.verdict is Verdict.VIOLATED],
        "attacks": [one.facts() for one in outcomes],
    }
    show(document(target.title, _promise(facts), outcomes, facts), out, json=json)
    if facts["violated"]:
        raise typer.Exit(1)


def _check(level: float, runs: int | None, drawn: int | None) -> None:
    from mixtally.errors import ParameterError

    if not 0.5 <= level <= 1.0 - 1e-9:
        raise ParameterError(
            "level", wanted="a number in [0.5, 1 - 1e-9]", got=level,
            do="0.9999 flags a sound plan once in ten thousand times",
        )  # fmt: skip
    if runs is not None and not 100 <= runs <= 10_000_000:
        raise ParameterError(
            "runs", wanted="an integer in [100, 10,000,000]", got=f"{runs:,}",
            do="leave it out for as many as are quick",
        )  # fmt: skip
    if drawn and not 100 <= drawn <= 100_000_000:
        raise ParameterError(
            "drawn", wanted="0, or an integer in [100, 100,000,000]", got=f"{drawn:,}",
            do="leave it out for as many as are quick",
        )  # fmt: skip


def _target(
    plan: Path | None, came: dict[str, Any], accountant: "Accountant", *, unverified: bool
) -> "Target | MemoizedTarget":
    """What a plan file or the options describe; raises InputError for both or neither."""
    from mixtally.attacks.claim import claim
    from mixtally.attacks.target import of_plan
    from mixtally.cli.plan_files import read_plan
    from mixtally.errors import ParameterError

    given = [name for name, value in came.items() if not (value is None or value is False)]
    if (plan is None) == (came["protocol"] is None) or (plan is not None and given):
        flags = ", ".join("--" + name.replace("_", "-") for name in given)
        raise ParameterError(
            "attack", wanted="a plan file, or --protocol with parameters and a claim",
            got=f"a plan and {flags}" if plan is not None else flags or "neither",
            do="give one of them",
        )  # fmt: skip
    if plan is not None:
        return of_plan(read_plan(plan), unverified=unverified, accountant=accountant)
    if unverified:
        raise ParameterError(
            "--unverified", wanted="a plan file beside it", got="a claim", do="leave it out"
        )
    rest = dict(came)
    name, epsilon, delta = rest.pop("protocol"), rest.pop("epsilon"), rest.pop("delta")
    fraction = rest.pop("honest_fraction")
    if name == "memory" and (epsilon, delta, fraction) != (None, None, None):
        raise ParameterError(
            "memory", wanted="no claim: its losses are computed", got="--epsilon, --delta or "
            "--honest-fraction", do="leave them out",
        )  # fmt: skip
    return claim(name, rest, epsilon, delta, 1.0 if fraction is None else fraction)


def _promise_facts(target: "Target", accountant: "Accountant") -> dict[str, Any]:
    """What is promised, and what the exact law says of it."""
    from mixtally.privacy.certify import certify

    exact = certify(target.mechanism, target.epsilon, target.honest_fraction, accountant)
    return {
        "protocol": target.mechanism.name, "users": target.users, **target.mechanism.facts(),
        "fakes": target.mechanism.fakes_promised, "epsilon": target.epsilon, "delta": target.delta,
        "certified": target.certified, "exact_delta": exact.upper,
        "exact_delta_lower": exact.lower,
    }  # fmt: skip


def _promise(facts: dict[str, Any]) -> str:
    """The promise under attack in a sentence or two."""
    from mixtally.report.words import at_least, at_most

    if "epsilon" not in facts:
        return (
            "The losses of memoized answers are computed for every number of reports; delta is 0."
        )
    who = "Certified" if facts["certified"] else "Claimed"
    return (
        f"{who}: epsilon {at_most(facts['epsilon'], 6)}, delta {at_most(facts['delta'], 6)}. "
        f"By the exact law delta there lies between {at_least(facts['exact_delta_lower'], 4)} and "
        f"{at_most(facts['exact_delta'], 4)}."
    )
