"""Faults around the tasks of a cluster."""

import pytest

from engine import faults


@pytest.fixture
def planted(monkeypatch):
    """Put a fault around a task; what it is made of travels to the executors with it."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(faults)
    yield lambda module, name, fault, **more: monkeypatch.setattr(
        module, name, fault(getattr(module, name), **more)
    )
    cloudpickle.unregister_pickle_by_value(faults)
