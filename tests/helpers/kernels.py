"""Each kernel with numba and without, whatever has been loaded before."""

import sys
from importlib.util import find_spec

import pytest

from mixtally.primitives import compiled

_MISSING = pytest.mark.skipif(find_spec("numba") is None, reason="numba is missing: .[fast]")
BOTH = ["numpy", pytest.param("numba", marks=_MISSING)]


def use(kernel, patch):
    """Make ``kernel``, one of ``BOTH``, the one that is chosen at every size."""
    if kernel == "numpy":
        patch.setattr(compiled, "load_kernels", lambda _: None)
        return
    assert compiled.load_kernels(float("inf")) is sys.modules["mixtally.primitives.jitted"]
