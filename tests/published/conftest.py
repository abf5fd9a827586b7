"""Ways to plant a bug in a formula."""

import math
from types import SimpleNamespace

import pytest


@pytest.fixture
def plant_in_math(monkeypatch):
    """Replaces functions of ``math`` as one module sees them."""

    def replace(module, **changes):
        monkeypatch.setattr(module, "math", SimpleNamespace(**vars(math) | changes))

    return replace
