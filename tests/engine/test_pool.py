"""Workers that are killed: the work ends with a refusal in words, and can be done again."""

import os
import signal
from multiprocessing import active_children

import pytest

from engine.sealed import at_a_mix, mixed
from mixtally.errors import DataError
from mixtally.primitives.chance import SecureChance
from mixtally.server.engine.engine import Engine
from mixtally.server.engine.mixing import LocalMixer, MixWork
from mixtally.server.engine.pool import Pool
from mixtally.server.engine.workers import worker_pool

pytestmark = pytest.mark.seconds
KILLED = "workers: expected processes that finish .*, got one that was killed. Check whether memory"


def test_a_worker_killed_while_a_batch_is_opened(tmp_path):
    sealed = at_a_mix(6000, copies=0, junk=0)
    work = MixWork(0, sealed.size, sealed.expected, lambda: iter(sealed.envelopes), True, b"")
    before = set(active_children())
    killed = list[int]()

    def kill(step):
        if not killed:
            worker = (set(active_children()) - before).pop()
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    with (
        pytest.raises(DataError, match=KILLED),
        Pool(sealed.secrets, 1) as pool,
    ):
        LocalMixer(pool, tmp_path, SecureChance(), kill).mix(work)
    assert killed
    assert mixed(sealed, Engine(), tmp_path)[0] == (6000, 0, 0, 0)


def test_work_that_kills_its_worker():
    with pytest.raises(DataError, match=KILLED), worker_pool(2) as pool:
        list(pool.map(signal.raise_signal, [signal.SIGKILL] * 2))


def test_an_error_of_the_work_itself_stays_what_it_is():
    with pytest.raises(ValueError, match="invalid literal"), worker_pool(1) as pool:
        pool.submit(int, "none").result()
