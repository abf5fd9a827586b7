"""One person's code, and devices that send a record, or two or three, at a time.

A device alone draws by code of its own (``mixtally.client``), written apart from that of batches;
and of small batches each message is the end of one.
"""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from mixtally.attacks.audit import Checks
from mixtally.attacks.outcome import Lab
from mixtally.attacks.randomizer import PROBES, fake_rate, one_each, probed, uniform_fake_checks
from mixtally.client.draw import Words
from mixtally.contract.part import Part as BarePart
from mixtally.contract.part import read_part
from mixtally.ground.bits import Counts, Rows
from mixtally.ground.chance import Chance
from mixtally.ground.fixed import SCALE
from mixtally.records.contract import BlanksRecipe, Part
from mixtally.records.spelling import plain

_DEVICES = (6_000, 600)
"""For each probe: each bit flips often enough."""
_BIT_BUDGET = 200_000_000
_CLEAR = 2_000
_BLOCKS = 16


def lone_checks(name: str, part: Part, lab: Lab) -> tuple[list[Checks], int]:
    """Tests of lone messages, and how many were drawn."""
    words = words_of(lab.chance)
    checks, sent = _coins(name, part, lab, words), 0
    if part.threshold is None:
        found, sent = _clear(name, part, lab, words)
        return checks + found, sent
    for threshold, devices in zip(PROBES, _DEVICES, strict=True):
        if (one := probed(part, threshold)) is not None:
            count = max(20, min(devices, _BIT_BUDGET // (4 * part.bins)))
            checks += _flips(name, one, count, lab, words)
            sent += 4 * count
    return checks, sent


def words_of(chance: Chance) -> Words:
    """The words of ``chance`` as a device takes them."""
    return Words(lambda count: chance.words(count).astype("<u8").tobytes())


def bare(part: Part) -> BarePart:
    """The part as a device reads it."""
    return read_part(plain(msgspec.to_builtins(part)), "part")


def _coins(name: str, part: Part, lab: Lab, words: Words) -> list[Checks]:
    """How many fakes a device alone adds."""
    if part.own is None:
        return []
    one, whole = bare(part), part.own.whole
    more = np.array([lab.device.coins([one], words)[0] - whole for _ in range(_CLEAR)])
    outside = int(((more < 0) | (more > 1)).sum())
    tossed, chance = int((more == 1).sum()), part.own.coin / SCALE
    return [
        Checks.exact(f"fakes by themselves beyond what coins give{name}", outside),
        Checks.of(f"coin by itself{name}", tossed, _CLEAR, chance),
    ]


def _flips(name: str, part: Part, devices: int, lab: Lab, words: Words) -> list[Checks]:
    """The first and the last bit of each batch's last message, and all bits of it."""
    bins, q, one = part.bins, (part.threshold or 0) / SCALE, bare(part)
    label = f"a lone device at q = {q:.3g}{name}"
    codes, few = np.arange(devices) % bins, 1 + np.arange(devices) % 3
    held = np.zeros((devices, bins), dtype=np.uint8)
    held[np.arange(devices), codes] = 1
    sources = {
        "report": _last(
            part, [lab.device.reports(part, np.full(n, code), lab.chance)
                   for code, n in zip(codes, few, strict=True)]
        ),
        "report by itself": part.layout.read(
            [lab.device.message(one, (int(code),), words) for code in codes]
        ),
    }  # fmt: skip
    if part.own is not None:
        made = one_each(part)
        drawn = [lab.device.fakes(made, int(n), lab.chance)[0] for n in few]
        sources["fake"] = _last(part, drawn)
        alone = [lab.device.fake(one, words) for _ in codes]
        sources["fake by itself"] = part.layout.read(alone)
    elif isinstance(part.recipe, BlanksRecipe):
        fewer = [replace(part.recipe, count=int(n)) for n in few]
        drawn = [lab.device.added(recipe, part.layout, lab.chance) for recipe in fewer]
        sources["fake"] = _last(part, drawn)
    checks = []
    for what, messages in sources.items():
        bits = np.unpackbits(part.layout.dense(messages), axis=1, count=bins, bitorder="little")
        is_report = what.startswith("report")
        flips, rate = (bits ^ held, q) if is_report else (bits, fake_rate(part))
        ends = flips[:, [0, bins - 1]].sum(axis=0)
        every = int(flips.sum(dtype=np.int64))
        checks += [
            Checks.of(f"first and last bit of a {what}, {label}", ends, devices, rate),
            Checks.of(f"any bit of a {what}, {label}", every, devices * bins, rate),
        ]
    return checks


def _last(part: Part, batches: Sequence[Rows]) -> Rows:
    """The last message of each; blank where none came, which no flips would leave so often."""
    return np.concatenate([rows[-1:] if len(rows) else part.layout.blank(1) for rows in batches])


def _clear(name: str, part: Part, lab: Lab, words: Words) -> tuple[list[Checks], int]:
    """Reports name their bin; fakes that are drawn one at a time fall everywhere alike."""
    layout, one, chance = part.layout, bare(part), lab.chance
    codes = np.arange(_CLEAR) % part.bins
    sent = [lab.device.reports(part, codes[i : i + 1], chance) for i in range(_CLEAR)]
    alone = layout.read([lab.device.message(one, (int(code),), words) for code in codes])
    checks = [
        Checks.exact(f"{what} that names another bin{name}", int((found != codes).sum()))
        for what, found in (
            ("lone report", _bins(layout.codes, sent, _CLEAR)),
            ("report by itself", layout.codes(alone)),
        )
    ]
    if part.own is None:
        return checks, 2 * _CLEAR
    made = one_each(part)
    fakes = [lab.device.fakes(made, 1, chance)[0] for _ in codes]
    single = layout.read([lab.device.fake(one, words) for _ in codes])
    for what, found in (
        ("lone fake", layout.codes(np.concatenate(fakes))),
        ("fake by itself", layout.codes(single)),
    ):
        checks += uniform_fake_checks(what + name, found, part.bins, _BLOCKS)
    return checks, 4 * _CLEAR


def _bins(read: Callable[[Rows], Counts], sent: Sequence[Rows], count: int) -> Counts:
    """The bins that messages name, -1 for all where one is missing or too many."""
    found = read(np.concatenate(sent))
    return found if len(found) == count else np.full(count, -1)
