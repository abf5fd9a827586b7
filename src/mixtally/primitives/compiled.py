"""Whether to use kernels that numba compiles: the one place where that is chosen.

Each has a twin in NumPy beside its caller that gives the same bits, so nothing but time hangs on
the choice. To load them takes seconds, which only large work wins back.
"""

import sys
from importlib import import_module
from types import ModuleType

_KERNELS = "mixtally.primitives.jitted"
LOADING_SECONDS = 5.0
"""What they must save to be loaded. Measured: numba's import takes half of it, its first kernel
nearly the other half; the kernels themselves, once they are kept, 0.04 s."""


def load_kernels(saved_seconds: float) -> ModuleType | None:
    """The compiled kernels, where they save so many seconds or have been loaded before.

    None where they do not, or numba is missing or does not run here.
    """
    if _KERNELS not in sys.modules and saved_seconds < LOADING_SECONDS:
        return None
    try:
        return import_module(_KERNELS)
    except (ImportError, RuntimeError):  # the latter where numba may keep nothing
        return None
