"""A batch at a mix, and faults around the tasks of a cluster."""

import pytest

from engine import faults
from engine.sealed import at_a_mix, mixed
from mixtally.server.engine.engine import Engine


@pytest.fixture(scope="module")
def sealed():
    """A batch as it reaches a mix."""
    return at_a_mix()


@pytest.fixture(scope="module")
def wanted(sealed, tmp_path_factory):
    """What this process makes of it."""
    counts, bytes_out = mixed(sealed, Engine(), tmp_path_factory.mktemp("here"))
    assert counts == (338, 23, 15, 0)
    assert len(bytes_out) == 340 * sealed.expected
    return counts, bytes_out


@pytest.fixture
def planted(monkeypatch):
    """Put a fault around a task; what it is made of travels to the executors with it."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(faults)
    yield lambda module, name, fault, **more: monkeypatch.setattr(
        module, name, fault(getattr(module, name), **more)
    )
    cloudpickle.unregister_pickle_by_value(faults)
