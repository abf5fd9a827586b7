"""What the tests with planted bugs share."""

import pytest


@pytest.fixture
def plant(monkeypatch):
    """Replaces a function of a module by a change of it."""

    def replace(module, name, change):
        honest = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, **kw: change(honest, *args, **kw))

    return replace
