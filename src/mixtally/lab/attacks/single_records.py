"""Devices that send one record at a time, under the tests of the batch code.

The audit ``collection`` calls ``single_record_checks``. Two such devices replace the batch code.
The first calls the batch code once for each record, so that the end of every message is the end of
a batch. The second calls the code for a single person (``mixtally.device.client``), which is
written independently.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixtally.device.client.draw import RandomWords
from mixtally.lab.attacks.device import Device, bare_part
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
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.protocol.randomize.bins import Records

_DEVICES = (6_000, 600)
"""The number of devices for each probe, large enough for every bit to be flipped often."""
_BIT_BUDGET = 200_000_000
"""The most bits that are drawn for flip tests."""
_CLEAR = 2_000
"""The number of messages in clear, and of devices whose coins are counted."""


def single_record_checks(name: str, part: Part, lab: AttackLab) -> CountedChecks:
    """Return tests of messages that are sent one by one, and the number of messages."""
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
    """Return a device that calls the batch code once for each record; hops are unchanged."""

    def draw_reports(part: Part, records: Records, chance: Chance) -> Rows:
        each = [device.reports(part, records[i : i + 1], chance) for i in range(len(records))]
        return np.concatenate(each)

    def draw_fakes(part: Part, people: int, chance: Chance) -> tuple[Rows, int]:
        rows, numbers = zip(*(device.fakes(part, 1, chance) for _ in range(people)), strict=True)
        return np.concatenate(rows), sum(numbers)

    return replace(device, reports=draw_reports, fakes=draw_fakes)


def single_person_device(device: Device) -> Device:
    """Return a device that calls the single-person code; hops are unchanged."""

    def draw_reports(part: Part, records: Records, chance: Chance) -> Rows:
        words, one = _words(chance), bare_part(part)
        if part.pads or part.slots is not None:
            sets = [device.record(one, _bins(part, record), words) for record in records]
            return _rows(part, [message for several in sets for message in several])
        repeated = [_bins(part, record) for record in records for _ in range(part.repeats)]
        return _rows(part, [device.message(one, bins, words) for bins in repeated])

    def draw_fakes(part: Part, people: int, chance: Chance) -> tuple[Rows, int]:
        words, one = _words(chance), bare_part(part)
        number = sum(device.coins([one], words)[0] for _ in range(people))
        return _rows(part, [device.fake(one, words) for _ in range(number)]), number

    return replace(device, reports=draw_reports, fakes=draw_fakes)


def _words(chance: Chance) -> RandomWords:
    """Return the random source in the form that a device expects."""
    return RandomWords(lambda count: chance.words(count).astype("<u8").tobytes())


def _bins(part: Part, record: Rows | np.int64) -> list[int]:
    """Return the bins that a record sets, ascending.

    A record is a number, several numbers with -1 for missing members, or packed bits.
    """
    if record.dtype == np.int64:
        return sorted(one for one in np.atleast_1d(record).tolist() if one >= 0)
    bits = np.unpackbits(np.asarray(record), count=part.bins, bitorder="little")
    return [int(place) for place in np.flatnonzero(bits)]


def _rows(part: Part, messages: Sequence[bytes]) -> Rows:
    every = np.frombuffer(b"".join(messages), dtype=np.uint8)
    return every.reshape(-1, part.layout.message_bytes)
