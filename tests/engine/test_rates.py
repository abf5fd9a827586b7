"""CPU time is measured, not the clock: what waits on a busy machine costs no more."""

import time
from itertools import repeat

from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.suite import SUITES
from mixtally.primitives.chance import SecureChance
from mixtally.server.engine import rates
from mixtally.server.engine.envelope_worker import Secrets
from mixtally.server.node.wrapping import secret_bytes


def test_waiting_is_no_work(monkeypatch):
    """Each chunk is handed out .2 s late. By the clock an envelope would cost 20 ms more."""
    monkeypatch.setattr(rates, "_CHUNKS", 3)
    suite, sheet, chance = SUITES[1], bytes(32), SecureChance()
    private = secret_bytes(chance, suite.private_bytes)
    key = suite.configuration(private)
    secrets = Secrets(1, private, sheet, 1, secret_bytes(chance, 32), (key,))
    envelopes = [Sealer(suite, [key], sheet).seal(bytes(13), 0) for _ in range(10)]

    def late(chunk, many):
        for one in repeat(chunk, many):
            time.sleep(0.2)
            yield one

    monkeypatch.setattr(rates, "repeat", late)
    assert 0.0 < rates._measure_on_all_cores(secrets, envelopes, 13, 1) < 1e-2
