"""What goes wrong in tasks of a cluster, once each: planted around what they really do."""

import os
import signal
from pathlib import Path


def _once(mark):
    """Whether nobody has been here before, on any machine that shares the folder."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _parent(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def executor():
    """The process of Java in which this worker's tasks run: its daemon's parent."""
    return _parent(os.getppid())


def killing(task, mark, *, whole):
    """``task``, whose worker, or with ``whole`` its executor, is killed once it has given a row."""

    def done(*arguments):
        given = iter(task(*arguments))
        yield next(given)
        if _once(mark):
            os.kill(executor() if whole else os.getpid(), signal.SIGKILL)
            signal.pause()
        yield from given

    return done


def drawing(task):
    """``task`` with a random draw in it: where it says what the order follows."""
    import pyarrow as pa

    from mixtally.primitives.chance import SecureChance
    from mixtally.server.node.wrapping import secret_bytes

    def done(*arguments):
        chance = SecureChance()
        for batch in task(*arguments):
            partition, keys, messages = batch.columns
            drawn = [secret_bytes(chance, 32) + key[32:] for key in keys.to_pylist()]
            columns = [partition, pa.array(drawn, pa.binary()), messages]
            yield pa.record_batch(columns, batch.schema)

    return done
