"""Devices that send one record, or two or three, at a time: each message is the end of a batch."""

import numpy as np

from mixtally.attacks.checks import Checks
from mixtally.attacks.outcome import Lab
from mixtally.attacks.randomizer import uniform_fake_checks
from mixtally.ground.fixed import SCALE
from mixtally.records.mechanism import BitFlips, Parameter, Shuffled

_PROBES = ((SCALE // 200, 6_000), (3 * SCALE // 10, 600))
"""Flip probabilities, one for each way to draw, and devices: each bit flips often enough."""
_BIT_BUDGET = 200_000_000
_CLEAR = 2_000
_BLOCKS = 16


def lone_checks(mechanism: Shuffled, lab: Lab) -> tuple[list[Checks], int]:
    """Tests of lone messages, and how many were drawn."""
    if not isinstance(mechanism, BitFlips):
        return _clear(mechanism, lab)
    checks, sent = [], 0
    for threshold, devices in _PROBES:
        one = mechanism.having(Parameter.FLIP, threshold)
        count = max(20, min(devices, _BIT_BUDGET // (4 * mechanism.bins)))
        checks += _flips(one, count, lab)
        sent += 4 * count
    return checks, sent


def _flips(mechanism: BitFlips, devices: int, lab: Lab) -> list[Checks]:
    """The first and the last bit of each batch's last message, and all bits of it."""
    bins, q, chance = mechanism.bins, mechanism.flip_probability, lab.chance
    label = f"a lone device at q = {q:.3g}"
    fake_rate = q + mechanism.contrast / bins if mechanism.uniform_fakes else q
    codes = np.arange(devices) % bins
    held = mechanism.layout.rows(codes)
    few = 1 + np.arange(devices) % 3
    sources = {
        "report": [
            lab.device.reports(mechanism, np.full(n, code), chance)[-1]
            for code, n in zip(codes, few, strict=True)
        ],
        "report by itself": [
            np.frombuffer(lab.device.one_report(mechanism, int(code), chance), dtype=np.uint8)
            for code in codes
        ],
        "fake": [_last(lab.device.fakes(mechanism, int(n), chance), held[0]) for n in few],
        "fake by itself": [
            np.frombuffer(lab.device.one_fake(mechanism, chance), dtype=np.uint8) for _ in codes
        ],
    }
    checks = []
    for name, messages in sources.items():
        rows = np.stack(messages)
        is_report = name.startswith("report")
        flips, rate = (rows ^ held, q) if is_report else (rows, fake_rate)
        counts = np.array([(flips[:, j >> 3] >> (j & 7) & 1).sum() for j in (0, bins - 1)])
        every = int(np.bitwise_count(flips).sum(dtype=np.int64))
        checks += [
            Checks.of(f"first and last bit of a {name}, {label}", counts, devices, rate),
            Checks.of(f"any bit of a {name}, {label}", every, devices * bins, rate),
        ]
    return checks


def _last(rows: np.ndarray, like: np.ndarray) -> np.ndarray:
    """The last message; blank where none came, which no flips would leave so often."""
    return np.asarray(rows[-1]) if len(rows) else np.zeros_like(like)


def _clear(mechanism: Shuffled, lab: Lab) -> tuple[list[Checks], int]:
    """Reports name their bin; fakes that are drawn one at a time fall everywhere alike."""
    layout, bins, chance = mechanism.layout, mechanism.bins, lab.chance
    codes = np.arange(_CLEAR) % bins
    sent = [lab.device.reports(mechanism, codes[i : i + 1], chance) for i in range(_CLEAR)]
    alone = layout.read([lab.device.one_report(mechanism, int(code), chance) for code in codes])
    checks = [
        Checks.of(f"{name} that names another bin", (layout.codes(rows) != codes).sum(), _CLEAR, 0)
        for name, rows in (("lone report", np.concatenate(sent)), ("report by itself", alone))
    ]
    if not mechanism.uniform_fakes:
        return checks, 2 * _CLEAR
    fakes = np.concatenate([lab.device.fakes(mechanism, 1, chance) for _ in codes])
    single = layout.read([lab.device.one_fake(mechanism, chance) for _ in codes])
    checks += uniform_fake_checks("lone fake", layout.codes(fakes), bins, _BLOCKS)
    checks += uniform_fake_checks("fake by itself", layout.codes(single), bins, _BLOCKS)
    return checks, 4 * _CLEAR
