"""What a soak found: answers lost or counted twice, ends of rounds, memory, folders and times."""

import re
import statistics
from collections import Counter
from datetime import datetime

from helpers.roles_in_folders import ENVIRONMENT
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector.stored import Results
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node
from mixtally.server.node.rounds import round_id
from survive.year_world import HOPS, SHIFT

MOST_GROWTH, MOST_FOLDER = 0.10, 50_000_000
"""Largest growth of a role's memory, and largest size of its folder in bytes."""
LEAST_RELEASED = 0.25
"""Least share of the rounds that are released: accidents and a busy machine take the others."""
LONG = 100
"""Rounds from which memory is compared: before that a process still warms up."""
DONE = ("released", "refused", "destroyed", "expired", "lost")
_EVENT = re.compile(r"^(\S+)Z (round mixed|round released) contract=(\S+) round=(\d+)", re.M)


def report(year, crowd, fate, statuses, trouble) -> dict:
    """Look at everything that a soak has left, when all its processes have ended."""
    found = {"rounds": year.rounds, **_answers(year, crowd)}
    found |= {
        "accidents": dict(sorted(fate.happened.items())),
        "processes": {name: len(role.begun) for name, role in year.roles.items()},
        "ended": [list(one) for one in fate.ended],
        "memory": {name: _growth(some, year.rounds) for name, some in year.memory.items()},
        "folders": {
            name: _size(role.spec.path) for name, role in year.roles.items() if name != "intake"
        },
        "times": _times(year, crowd),
    }
    found["violations"] = [*trouble, *find_violations(found), *_left(year), *_failures(year)]
    found["violations"] += [
        f"{name} ended with status {status}" for name, status in statuses.items() if status
    ]
    return found


def _answers(year, crowd) -> dict:
    """Compare what people were told with what was counted."""
    results = Results(year.roles["collector"].spec.path)
    rows = _rows(year, "collector")
    taken, ends, uncounted = Counter(), Counter(), Counter()
    lost, doubled, strange = [], [], []
    for (person, number), state in crowd.ends().items():
        taken[number, person] += state == "taken"
    for row in rows:
        told = {
            person for (number, person), is_so in taken.items() if is_so and number == row.round
        }
        tally = results.read_tally(round_id(row.contract, row.round))
        ends[row.ended or row.state] += 1
        if tally is None:
            uncounted[row.ended or row.state] += len(told)
            continue
        counts = [count - HOPS * SHIFT for count in tally.parts[0].counts]
        lost += [[row.round, person] for person in sorted(told) if counts[person] < 1]
        doubled += [[row.round, person] for person, count in enumerate(counts) if count > 1]
        if results.people(row.folder) != sum(counts):
            strange.append(row.round)
    return {
        "ends": dict(ends),
        "acknowledged": taken.total(),
        "uncounted": {end: many for end, many in uncounted.items() if many},
        "lost": lost,
        "doubled": doubled,
        "strange": strange,
    }


def _rows(year, name):
    node = _node(year, name)
    try:
        return [row for row in node.rounds.all() if row.name == year.network.name]
    finally:
        node.close()


def _node(year, name):
    return Node(open_folder(year.roles[name].spec.path, ENVIRONMENT), SecureChance())


def unsent(year, name) -> list[str]:
    """Roles for which a role still has a note of the contract."""
    node = _node(year, name)
    try:
        own = {row.contract for row in node.rounds.all()} | {year.network.agreed.fingerprint}
        return [one.role for one in node.notes.list_unsent() if one.contract in own]
    finally:
        node.close()


def _left(year) -> list[str]:
    """Keys, envelopes and notes of rounds that are over."""
    found = []
    for name, role in year.roles.items():
        if name == "intake":
            continue
        node = _node(year, name)
        left = {
            "keys": node.keys.all(),
            "folders": [path.name for path in (role.spec.path / "rounds").iterdir()],
            "notes": unsent(year, name),
            "rounds": [row.round for row in node.rounds.all() if not row.ended],
        }
        node.close()
        found += [f"{name} has {what} left: {some[:5]}" for what, some in left.items() if some]
    return found


def _failures(year) -> list[str]:
    """What roles ask their operators to report."""
    found = []
    for name, role in year.roles.items():
        lines = role.spec.log.read_text(errors="replace").splitlines()
        found += [f"{name}: {line}" for line in lines if " failed error=" in line]
    return found[:20]


def _growth(samples, rounds) -> dict:
    """The memory in each tenth of the rounds, in MB, and by how much the last exceeds the first."""
    tenths = [[] for _ in range(10)]
    for number, size in samples:
        if size:
            tenths[min(9, 10 * (number - 1) // rounds)].append(size / 1e6)
    medians = [statistics.median(some) for some in tenths if some]
    if len(medians) < 2:
        return {}
    return {
        "tenths": [round(one, 1) for one in medians],
        "growth": round(medians[-1] / medians[0] - 1, 3),
    }


def _size(path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _times(year, crowd) -> dict:
    """Seconds, of this machine and not of the fast clock."""
    speed, sheets = year.clock.speed, year.sheets
    first = [(crowd.first[number] - sheets[number].opens) / speed for number in crowd.first]
    found = {"opening to first bundle": _spread(first)}
    for name, event in (("mix-1", "round mixed"), ("collector", "round released")):
        done = {}
        for moment, what, contract, number in _EVENT.findall(
            year.roles[name].spec.log.read_text(errors="replace")
        ):
            if what == event and contract == year.network.name:
                seconds = datetime.fromisoformat(f"{moment}+00:00").timestamp()
                done.setdefault(int(number), (seconds - sheets[int(number)].closes) / speed)
        found[f"close to {event} at {name}"] = _spread(list(done.values()))
    return found


def _spread(some) -> dict:
    if not some:
        return {}
    ordered = sorted(some)
    return {
        "rounds": len(ordered),
        "median": round(statistics.median(ordered), 2),
        "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 2),
        "most": round(ordered[-1], 2),
    }


def find_violations(found) -> list[str]:
    """What must not be."""
    said = [f"lost: {len(found['lost'])}"] * bool(found["lost"])
    said += [f"counted twice: {len(found['doubled'])}"] * bool(found["doubled"])
    said += [f"rounds whose numbers differ: {found['strange']}"] * bool(found["strange"])
    said += [f"rounds that are {end}" for end in found["ends"] if end not in (*DONE, "too-few")]
    said += ["rounds that are refused"] * ("refused" in found["ends"])
    if LEAST_RELEASED * found["rounds"] > found["ends"].get("released", 0):
        said.append(f"fewer than {LEAST_RELEASED:.0%} of the rounds were released")
    for name, status, line in found["ended"]:
        if "full" not in line:
            said.append(f"{name} ended by itself with {status}: {line}")
    for name, one in found["memory"].items():
        if found["rounds"] >= LONG and one.get("growth", 0) > MOST_GROWTH:
            said.append(f"{name} grew by {one['growth']:.0%}")
    for name, size in found["folders"].items():
        if size > MOST_FOLDER:
            said.append(f"the folder of {name} has {size / 1e6:.0f} MB")
    return said


def table(found) -> str:
    """The report as lines."""

    def listed(some):
        return ", ".join(f"{name} {many}" for name, many in some.items()) or "none"

    lines = [
        f"seed {found['seed']}: {found['rounds']} rounds in {found['seconds']} s, "
        f"{found['seconds of a round']} s each",
        f"rounds: {listed(found['ends'])}",
        f"answers acknowledged: {found['acknowledged']}; lost: {len(found['lost'])}; "
        f"counted twice: {len(found['doubled'])}",
        f"in rounds without a count: {listed(found['uncounted'])}",
        f"accidents: {listed(found['accidents'])}",
        f"processes begun: {listed(found['processes'])}",
        f"ended by themselves: {len(found['ended'])}",
    ]
    for name, one in found["memory"].items():
        size = f"{found['folders'][name] / 1e6:.1f} MB" if name in found["folders"] else "-"
        tenths = one.get("tenths", [])
        grown = f"{tenths[0]} to {tenths[-1]} MB, {one['growth']:+.1%}" if one else "-"
        lines.append(f"{name}: memory {grown}; folder {size}")
    for what, one in found["times"].items():
        if one:
            lines.append(
                f"{what}: median {one['median']} s, 95 % {one['p95']} s, most {one['most']} s"
            )
    lines += [f"WRONG: {one}" for one in found["violations"]]
    return "\n".join([*lines, "wrong" if found["violations"] else "nothing is wrong"])
