"""CPU seconds of random commands: `python -m bench.wishes plan --number 170 --seed 1`.

Random requests are drawn from a seed: questions of every kind, crowds of 2 to a billion people,
small and large epsilon and delta. A process of its own answers each request. The process is forked
after all imports, or started anew with --whole. A command that exceeds the timeout is stopped, and
its time counts as the timeout. The speed of a shared machine varies. So a fixed loop is timed with
each command, and --calm scales the seconds to a machine that takes the given time for the loop.
With `ordinary` the requests are forty typical ones. --out stores certificates, errors and seconds
in a file, and --against compares the answers with such a file (`bench.answers`).
"""

import argparse
import math
import os
import random
import shlex
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bench import answers
from bench.clock import choose_size
from bench.row import BenchmarkRow, build_row
from mixtally.cli.main import run

_WHOLE = "import sys; from mixtally.cli.main import run; run()"
_ADDITIONS = 300_000
_BUDGETS = (1, 1.01, 1.5, 2, 3, 4.5, 10, 30, 100)
_TRUSTED = ("flip-blank", "flip-uniform", "clear-uniform", "clear-shaped", "single-bit", "flip")
_SHARES = (0.5, 0.9, 0.95, 1.0)

Flags = dict[str, object]
"""The name of an option and its value; True for an option without a value."""


_NUMBER, _TIMEOUT = choose_size(40, 1), 60.0
_AIMS = {"median": (0.5, 0.2, 0.1), "95 %": (0.95, 1.0, 0.5), "slowest": (1.0, 5.0, 2.0)}
"""The share of requests, the seconds that this share must not exceed, and the seconds hoped for."""


def rows() -> list[BenchmarkRow]:
    """Return the rows for plans of the first random requests of a seed."""
    _import_commands()
    chance = random.Random(1)
    found = [
        took(words("plan", plan(chance)), _TIMEOUT, whole=False).seconds for _ in range(_NUMBER)
    ]
    times = sorted(found)
    return [
        build_row(
            f"plans for {_NUMBER} random wishes, {which}",
            f"{(at := times[min(len(times) - 1, int(share * len(times)))]):.2f} s",
            f"of {least:g} s",
            least / at,
            1,
            least / hoped,
        )
        for which, (share, least, hoped) in _AIMS.items()
    ]


class CommandRun(NamedTuple):
    """The result of a command: CPU seconds, exit status (None if stopped), arguments and output."""

    seconds: float
    status: int | None
    words: list[str]
    printed: bytes = b""


def spread(chance: random.Random, low: float, high: float, digits: int = 4) -> float:
    """Return a number whose logarithm is uniform, rounded to a few digits."""
    return float(f"{math.exp(chance.uniform(math.log(low), math.log(high))):.{digits}g}")


def many(chance: random.Random, low: int, high: int) -> int:
    """Return an integer whose logarithm is about uniform."""
    return min(high, max(low, round(spread(chance, low, high + 0.5))))


def maybe(chance: random.Random, often: float, value: object) -> object:
    """Return ``value`` with probability ``often``, otherwise None."""
    return value if chance.random() < often else None


def guarantee(chance: random.Random) -> Flags:
    """Return a random epsilon and delta."""
    return {"epsilon": spread(chance, 0.05, 12.0), "delta": spread(chance, 1e-12, 2e-2, 3)}


def question(chance: random.Random) -> Flags:
    """Return a random question of one of the seven kinds."""
    kind = chance.randrange(7)
    if kind == 0:
        return {"bins": many(chance, 2, 10**7)}
    if kind == 1:
        return {"bins": many(chance, 4, 10**6), "max-set": many(chance, 2, 16)}
    if kind == 2:
        sizes = [many(chance, 2, 1000) for _ in range(many(chance, 2, 16))]
        return {"attributes": ",".join(map(str, sizes))}
    if kind == 3:
        return {"bits": many(chance, 1, 64)}
    if kind == 4:
        return {"number": "0,100", "points": maybe(chance, 0.3, many(chance, 2, 1000))}
    return {"open": True, "max-set": maybe(chance, 0.5, many(chance, 2, 11))}


def plan(chance: random.Random) -> Flags:
    """Return a random request for a plan; one in six has a cascade of mixes."""
    users = many(chance, 2, 10**9)
    flags = guarantee(chance) | {"users": users} | question(chance)
    flags |= {
        "messages-per-user": maybe(chance, 0.4, chance.choice(_BUDGETS)),
        "error-at": maybe(chance, 0.2, chance.choice((0, 0.01, 100))),
        "collections": maybe(chance, 0.4, many(chance, 2, 300)),
        "count-crowd": maybe(chance, 0.3, value=True),
        "fakes-per-user": maybe(chance, 0.4, spread(chance, 0.01, 100.0, 3)),
        "honest-share": maybe(chance, 0.3, chance.choice(_SHARES)),
        "minimum-crowd": maybe(chance, 0.3, many(chance, 2, users)),
        "local-epsilon": maybe(chance, 0.15, spread(chance, 0.5, 100.0, 3)),
    }
    if chance.random() < 1 / 6:
        flags |= {"hops": chance.randint(1, 5)}
        flags |= {"mix-messages": maybe(chance, 0.3, many(chance, 1, users))}
    else:
        flags |= {"mix-fakes": maybe(chance, 0.2, value=True)}
        flags |= {"bytes-per-user": maybe(chance, 0.1, many(chance, 1, 10**5))}
    flags |= {"protocol": maybe(chance, 0.1, chance.choice((*_TRUSTED, "kary-response")))}
    return flags


def record(chance: random.Random) -> Flags:
    """Return a protocol and its parameters, without epsilon, delta and the flip probability."""
    name = chance.choice((*_TRUSTED, "memory"))
    users, fakes = many(chance, 2, 10**10), many(chance, 1, 10**10)
    some: Flags = {"protocol": name}
    if name == "memory":
        p = round(chance.uniform(0.05, 0.6), 3)
        some |= {"p": p, "q": round(chance.uniform(p + 0.1, 0.95), 3)}
        return some | {"hashes": many(chance, 1, 8), "reports": many(chance, 1, 1000)}
    some |= {"repeats": maybe(chance, 0.2, many(chance, 2, 50))}
    some |= {"honest-share": maybe(chance, 0.2, chance.choice(_SHARES))}
    if name == "clear-shaped":
        return some | {"shape-decay": maybe(chance, 0.5, spread(chance, 0.01, 2.0, 3))}
    if name == "clear-uniform":
        return some | {"fakes": fakes, "bins": many(chance, 2, 10**6)}
    if name == "single-bit":
        return some | {"users": users, "fakes": chance.choice((0, fakes))}
    most = maybe(chance, 0.4, many(chance, 2, 16))
    if name == "flip-blank":
        some |= {"fakes": fakes, "max-set": most, "bins": maybe(chance, 0.5, 10**6)}
        if chance.random() < 0.3:
            some |= {"users": users, "count-crowd": True}
        return some
    seen = {"observer": maybe(chance, 0.25, "sums"), "split": maybe(chance, 0.15, value=True)}
    if name == "flip" and chance.random() < 0.5:
        bits = many(chance, 1, 64)
        return some | seen | {"users": users, "bits": bits}
    some |= seen | {"users": users, "bins": many(chance, 2, 10**6)}
    if name == "flip":
        return some | {"max-set": most}
    return some | {"fakes": fakes}


def delta(chance: random.Random) -> Flags:
    """Return the parameters of a random request for a delta."""
    flags: Flags = {"epsilon": guarantee(chance)["epsilon"]} | record(chance)
    name = flags["protocol"]
    if name == "memory":
        flags |= {"permanent": spread(chance, 0.05, 1.0, 3)}
    elif name == "clear-shaped":
        decay = flags["shape-decay"] or spread(chance, 0.01, 2.0, 3)
        flags |= {"shape-decay": decay, "shape-shift": many(chance, 1, 10**5)}
    elif name != "clear-uniform":
        flags |= {"flip": spread(chance, 1e-7, 0.49, 3)}
    return flags


def calibration(chance: random.Random) -> Flags:
    """Return the parameters of a random request for the least noise."""
    flags = guarantee(chance) | record(chance)
    if flags["protocol"] == "clear-uniform":
        flags["fakes"] = None
    return flags


WISHES: dict[str, Callable[[random.Random], Flags]] = {
    "plan": plan,
    "delta": delta,
    "calibrate": calibration,
}


_COMMANDS = {"plan": ["plan"], "delta": ["check", "delta"], "calibrate": ["check", "noise"]}


def words(command: str, flags: Flags) -> list[str]:
    """Return the command line of a request."""
    typed = list(_COMMANDS[command])
    for name, value in flags.items():
        if value is not None:
            typed += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return [*typed, "--json"]


def yardstick() -> float:
    """Return the CPU seconds of a fixed loop at the moment."""
    start, total = time.process_time(), 0
    for one in range(_ADDITIONS):
        total += one
    return time.process_time() - start


def took(typed: list[str], timeout: float, *, whole: bool) -> CommandRun:
    """Run one command and return its CPU seconds and its answer."""
    with tempfile.TemporaryFile() as out:
        pid = _start_interpreter(typed, out) if whole else _split_off(typed, out)
        # The timeout is a wall clock time, because a command may also wait.
        clock = threading.Timer(timeout, os.kill, (pid, signal.SIGKILL))
        clock.start()
        _, status, used = os.wait4(pid, 0)
        clock.cancel()
        code = os.waitstatus_to_exitcode(status)
        out.seek(0)
        seconds = used.ru_utime + used.ru_stime
        return CommandRun(seconds, code if code >= 0 else None, typed, out.read())


def _start_interpreter(typed: list[str], out: BinaryIO) -> int:
    """Start a new interpreter and return its process id."""
    nowhere = [
        (os.POSIX_SPAWN_DUP2, out.fileno(), 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    called = [sys.executable, "-c", _WHOLE, *typed]
    return os.posix_spawn(sys.executable, called, os.environ, file_actions=nowhere)


def _split_off(typed: list[str], out: BinaryIO) -> int:
    """Fork this process, in which everything is imported, and return the child's process id."""
    pid = os.fork()
    if pid:
        return pid
    os.dup2(out.fileno(), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.argv[1:] = typed
    status = 3
    try:
        run()
        sys.stdout.flush()
        status = 0
    except SystemExit as ended:
        sys.stdout.flush()
        status = int(ended.code or 0)
    finally:
        # The child must not run the cleanup of the parent, such as removing its temporary files.
        os._exit(status)


def summary(found: list[CommandRun]) -> str:
    """Return a line with the median, the 90 and 95 % quantiles, and the slowest time."""
    times = sorted(one.seconds for one in found)
    at = [times[min(len(times) - 1, int(share * len(times)))] for share in (0.5, 0.9, 0.95)]
    stopped = sum(one.status is None for one in found)
    refused = sum(one.status == 2 for one in found)
    failed = sum(one.status not in (0, 1, 2, None) for one in found)
    return (
        f"{len(found)} wishes: median {at[0]:.2f} s, 90 % {at[1]:.2f} s, 95 % {at[2]:.2f} s, "
        f"slowest {times[-1]:.2f} s; {refused} refused, {stopped} stopped, {failed} failed"
    )


def _import_commands() -> None:
    """Import all that a command needs, because forked processes inherit it."""
    for name in WISHES:
        import_module(f"mixtally.cli.{name}")


def main() -> None:
    """Run random commands and print the slow ones and a summary."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("command", choices=(*WISHES, "ordinary"))
    asked.add_argument("--number", type=int, default=60)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--timeout", type=float, default=60.0, help="seconds of the wall clock")
    asked.add_argument("--slow", type=float, default=1.0, help="print commands above these seconds")
    asked.add_argument("--calm", type=float, help="milliseconds of the loop on an idle machine")
    asked.add_argument("--whole", action="store_true", help="include the start of the interpreter")
    asked.add_argument("--out", type=Path, help="write the answers to this file")
    asked.add_argument("--against", type=Path, help="compare the answers with this file of --out")
    given = asked.parse_args()
    _import_commands()
    chance, found, loops = random.Random(given.seed), [], []
    for typed in _draw_commands(given.command, given.number, chance):
        loops.append(1e3 * min(yardstick() for _ in range(3)))
        one = took(typed, given.timeout, whole=given.whole)
        loops.append(1e3 * min(yardstick() for _ in range(3)))
        if given.calm:
            one = one._replace(seconds=one.seconds * 2.0 * given.calm / sum(loops[-2:]))
        found.append(one)
        if one.seconds >= given.slow or one.status not in (0, 2):
            said = "stopped" if one.status is None else f"exit {one.status}"
            print(f"{one.seconds:6.2f} s  {said}  {shlex.join(typed)}", flush=True)
    print(summary(found))
    print(f"the loop took {statistics.median(loops):.3g} ms")
    answered = {
        shlex.join(one.words): answers.CommandAnswer(
            round(one.seconds, 3), one.status, answers.numbers_of(one.printed)
        )
        for one in found
    }
    if given.out:
        answers.write(given.out, answered)
    if given.against:
        moved = answers.differences(answers.read_answers(given.against), answered)
        print("\n".join([*moved, f"{len(moved)} answers changed more than allowed"]))


def _draw_commands(command: str, number: int, chance: random.Random) -> Iterator[list[str]]:
    """Yield the command lines."""
    if command == "ordinary":
        yield from ([*one.split(), "--json"] for one in answers.ORDINARY[:number])
        return
    for _ in range(number):
        yield words(command, WISHES[command](chance))


if __name__ == "__main__":
    main()
