"""``mixtally batch doctor``: speed of this machine, and the cost of a round on it."""

import math
import platform
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple

from mixtally.cli import options as o
from mixtally.cli.display import console_of, print_sentences
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_json, show_elapsed_time
from mixtally.device.contract.plan import MOST_HOPS
from mixtally.device.wire.suite import SUITES
from mixtally.errors import ParameterError
from mixtally.primitives.chance import SecureChance
from mixtally.report.folding import FoldingTable
from mixtally.report.numbers import number
from mixtally.server.engine.rates import measure_rates
from mixtally.server.engine.scale import PlannedRound, Rates, compute_intake, hop_costs
from mixtally.version import VERSION

_LOADS = (10**6, 10**8, 10**9)
_MOST_ENVELOPES = 10**12
_PACKAGES = {
    "data": "pyarrow",
    "serve": "uvicorn",
    "fast": "numba",
    "engine": "pyspark",
    "rigorous": "flint",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """The round whose cost is estimated."""

    envelopes: Annotated[
        int | None,
        o.whole_option("--envelopes", "Envelopes that people send (default: 10^6, 10^8 and 10^9)."),
    ] = None
    fakes: Annotated[
        int, o.whole_option("--fakes", "Fakes (dummy messages) that every hop adds.")
    ] = 0
    hops: Annotated[int, o.whole_option("--hops", "Mixes before the collector, 1 to 5.")] = 3
    message_bytes: Annotated[
        int, o.whole_option("--message-bytes", "Size of one message, 1 to 10^6.")
    ] = 13
    bundle: Annotated[int, o.whole_option("--bundle", "Messages that a person sends at once.")] = 2
    hours: Annotated[float, o.option("--hours", "Hours for which a round is open.", "X")] = 24.0
    cores: Annotated[
        int | None, o.whole_option("--cores", "Cores of each hop (default: those of this machine).")
    ] = None
    disk: Annotated[
        Path | None,
        o.option("--disk", "A folder on the disk of the hop (default: that of temporary "
                 "files).", "FOLDER"),
    ] = None  # fmt: skip

    def rounds(self) -> list[PlannedRound]:
        """Return the rounds to estimate; raise ParameterError for values out of range."""
        self._check()
        cores = o.cores(self.cores)
        loads = _LOADS if self.envelopes is None else (self.envelopes,)
        return [
            PlannedRound(
                envelopes,
                self.fakes,
                self.hops,
                self.message_bytes,
                SUITES[1].layer_bytes,
                self.bundle,
                3600.0 * self.hours,
                cores,
            )
            for envelopes in loads
        ]

    def _check(self) -> None:
        for name, got, least, most in (
            ("--envelopes", 1 if self.envelopes is None else self.envelopes, 1, _MOST_ENVELOPES),
            ("--fakes", self.fakes, 0, _MOST_ENVELOPES),
            ("--hops", self.hops, 1, MOST_HOPS),
            ("--message-bytes", self.message_bytes, 1, 10**6),
            ("--bundle", self.bundle, 1, 10**6),
            ("--cores", 1 if self.cores is None else self.cores, 1, 10**6),
        ):
            if not least <= got <= most:
                expected = f"{least:,} to {most:,}"
                raise ParameterError(
                    name, expected=expected, got=f"{got:,}", do="give a number in this range"
                )
        if not (math.isfinite(self.hours) and 0.0 < self.hours <= 1e5):
            raise ParameterError(
                "--hours", expected="above 0, at most 10^5", got=self.hours, do="24 is a day"
            )
        if self.disk is not None and not self.disk.is_dir():
            raise ParameterError(
                "--disk", expected="a folder", got=str(self.disk), do="name an existing folder"
            )


@with_option_groups
def doctor(load: LoadOptions, json: o.Json = False) -> None:
    """Measure this machine, and estimate the cost of a round.

    Measures for a few seconds how long it takes to open, seal and sort an envelope, and how often
    the disk can sync. docs/how-to/cluster.md has the formula.
    """
    rounds = load.rounds()
    with show_elapsed_time("measuring"):
        rates = _measure_rates(load, rounds[0])
    if json:
        print_json(
            {
                "here": _describe_environment()._asdict(),
                "rates": rates._asdict(),
                "rounds": _facts(rates, rounds),
            }
        )
        return
    console = console_of()
    print_sentences(console, _lines(rates))
    console.print(_table(rates, rounds))
    print_sentences(console, _notes(rates, rounds))


def _measure_rates(load: LoadOptions, of: PlannedRound) -> Rates:
    """Return the measured rates of this machine.

    The rate of bundles is included if the packages of the server are installed.
    """
    chance, here = SecureChance(), o.cores()
    rates = measure_rates(chance, load.message_bytes, here, load.disk)
    if find_spec("uvicorn") is None:
        return rates
    from mixtally.server.mix.rates import measure_posts

    size = of.message_bytes + (of.hops + 1) * of.layer_bytes
    return rates._replace(post=measure_posts(chance, size, of.bundle, load.disk))


class _Environment(NamedTuple):
    """Versions, cores and optional packages of this machine."""

    mixtally: str
    python: str
    cores: int
    extras: list[str]
    java: bool


def _describe_environment() -> _Environment:
    return _Environment(
        VERSION,
        platform.python_version(),
        o.cores(),
        [name for name, package in _PACKAGES.items() if find_spec(package)],
        shutil.which("java") is not None,
    )


def _lines(rates: Rates) -> list[str]:
    here = _describe_environment()
    return [
        f"mixtally {here.mixtally}, Python {here.python}, {here.cores} cores; "
        f"extras: {', '.join(here.extras) or 'none'}; "
        f"Java: {'installed' if here.java else 'not installed, so Spark cannot run'}.",
        f"CPU time with all cores busy: {_micro(rates.open)} to open an envelope, "
        f"{_micro(rates.order)} to sort its content, {_micro(rates.seal)} to seal a layer, "
        f"{_micro(rates.post) if rates.post else 'unknown'} to accept a bundle. A sync of the disk "
        f"takes {number(1e3 * rates.sync, 2)} ms of real time. The column 'closing' assumes that "
        "the cores do nothing else.",
    ]


def _micro(seconds: float) -> str:
    return f"{number(1e6 * seconds, 2)} us"


def _table(rates: Rates, rounds: list[PlannedRound]) -> FoldingTable:
    table = FoldingTable("envelopes", "hop", "CPU hours", "disk", "closing")
    for one in rounds:
        for cost in hop_costs(rates, one):
            first = f"{one.envelopes:,}" if cost.place == 1 else ""
            name = f"mix {cost.place}" if cost.place <= one.hops else "collector"
            hours, size = number(cost.cpu / 3600, 2), f"{number(cost.bytes / 1e9, 2)} GB"
            table.add_row(first, name, hours, size, _time(cost.closing))
    return table


def _time(seconds: float) -> str:
    for size, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{number(seconds / size, 2)} {name}"
    return f"{number(seconds, 2)} seconds"


def _notes(rates: Rates, rounds: list[PlannedRound]) -> list[str]:
    last = rounds[-1]
    comes = compute_intake(rates, last)
    sync_text = (
        "each bundle can have its own sync"
        if comes.share <= 1.0
        else f"{number(comes.share, 2)} times the rate of syncs, so bundles are synced together"
    )
    return [
        f"{last.envelopes:,} envelopes in bundles of {last.bundle:,} arrive at "
        f"{number(comes.posts, 2)} bundles per second and occupy {number(comes.cores, 2)} cores; "
        f"{sync_text}.",
        "Counting costs far less. To use several machines: mix serve --engine spark.",
    ]


def _facts(rates: Rates, rounds: list[PlannedRound]) -> list[dict[str, object]]:
    return [
        {
            **one._asdict(),
            "intake": compute_intake(rates, one)._asdict(),
            "roles": [cost._asdict() for cost in hop_costs(rates, one)],
        }
        for one in rounds
    ]
