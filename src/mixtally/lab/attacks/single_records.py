"""Devices that send one record at a time: by the code of batches, each message the end of one, and
by one person's code, which is written apart (``mixtally.device.client``).

Both stand in the place of the code of batches, and the same tests look at what comes.
"""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from mixtally.device.client.draw import RandomWords
from mixtally.device.contract.part import ContractPart as BarePart
from mixtally.device.contract.part import read_part
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.outcome import AttackLab
from mixtally.lab.attacks.randomizer import (
    PROBES,
    CountedChecks,
    cap_checks,
    clear_checks,
    coin_checks,
    flip_checks,
    probe_part,
    separation_checks,
)
from mixtally.model.contract import Part
from mixtally.model.contract_json import stringify_large_integers
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.protocol.randomize.bins import Records

_DEVICES = (6_000, 600)
"""For each probe: each bit flips often enough."""
_BIT_BUDGET = 200_000_000
_CLEAR = 2_000


def single_record_checks(name: str, part: Part, lab: AttackLab) -> CountedChecks:
    """Tests of lone messages, and how many were drawn."""
    every = list[CountedChecks]()
    for way, device in (
        ("sent one by one", _device_one_by_one),
        ("by one person's code", single_person_device),
    ):
        label, own = f", {way}{name}", replace(lab, device=device(lab.device))
        if part.threshold is None:
            every.append(clear_checks(label, part, own, _CLEAR))
        for threshold, devices in zip(PROBES, _DEVICES, strict=True):
            if part.threshold is not None and (one := probe_part(part, threshold)) is not None:
                count = max(20, min(devices, _BIT_BUDGET // (4 * part.bins)))
                every.append(flip_checks(label, one, own, count))
        every += [coin_checks(label, part, own, _CLEAR), cap_checks(label, part, own)]
        every.append(separation_checks(label, part, own))
    return [one for checks, _ in every for one in checks], sum(drawn for _, drawn in every)


def _device_one_by_one(device: Device) -> Device:
    """Each message is all that its code is called for; hops draw as before."""

    def draw_reports(part: Part, records: Records, chance: Chance) -> Rows:
        each = [device.reports(part, records[i : i + 1], chance) for i in range(len(records))]
        return np.concatenate(each)

    def draw_fakes(part: Part, people: int, chance: Chance) -> tuple[Rows, int]:
        rows, numbers = zip(*(device.fakes(part, 1, chance) for _ in range(people)), strict=True)
        return np.concatenate(rows), sum(numbers)

    return replace(device, reports=draw_reports, fakes=draw_fakes)


def single_person_device(device: Device) -> Device:
    """One person's code in the place of that of many; hops draw as before."""

    def draw_reports(part: Part, records: Records, chance: Chance) -> Rows:
        words, one = _words(chance), _bare_part(part)
        if part.pads:
            sets = [device.record(one, _bins(part, record), words) for record in records]
            return _rows(part, [message for several in sets for message in several])
        held = [_bins(part, record) for record in records for _ in range(part.repeats)]
        return _rows(part, [device.message(one, bins, words) for bins in held])

    def draw_fakes(part: Part, people: int, chance: Chance) -> tuple[Rows, int]:
        words, one = _words(chance), _bare_part(part)
        number = sum(device.coins([one], words)[0] for _ in range(people))
        return _rows(part, [device.fake(one, words) for _ in range(number)]), number

    return replace(device, reports=draw_reports, fakes=draw_fakes)


def _words(chance: Chance) -> RandomWords:
    """The words of ``chance`` as a device takes them."""
    return RandomWords(lambda count: chance.words(count).astype("<u8").tobytes())


def _bare_part(part: Part) -> BarePart:
    """The part as a device reads it."""
    return read_part(stringify_large_integers(msgspec.to_builtins(part)), "part")


def _bins(part: Part, record: Rows | np.int64) -> list[int]:
    """The bins that a record sets, ascending: a number, several and -1 for none, or packed bits."""
    if record.dtype == np.int64:
        return sorted(one for one in np.atleast_1d(record).tolist() if one >= 0)
    bits = np.unpackbits(np.asarray(record), count=part.bins, bitorder="little")
    return [int(place) for place in np.flatnonzero(bits)]


def _rows(part: Part, messages: Sequence[bytes]) -> Rows:
    every = np.frombuffer(b"".join(messages), dtype=np.uint8)
    return every.reshape(-1, part.layout.message_bytes)
