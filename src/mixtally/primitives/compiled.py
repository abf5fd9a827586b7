"""The choice between NumPy and kernels compiled by numba.

Each compiled kernel has a NumPy counterpart next to its caller that computes the same bits, so the
choice affects only the running time. Loading takes seconds and pays off only for large inputs.
"""

import sys
from importlib import import_module
from types import ModuleType

_KERNELS = "mixtally.primitives.jitted"
LOADING_SECONDS = 5.0
"""Seconds that the kernels must save before they are loaded. As measured, importing numba takes
half of this time and its first kernel nearly the rest; cached kernels load in 0.04 s."""


def load_kernels(saved_seconds: float) -> ModuleType | None:
    """Return the module of compiled kernels, or None if NumPy should be used.

    The module is returned if it is loaded already, or if ``saved_seconds``, the time that the
    kernels are expected to save, justifies loading it. If numba is missing or does not run, the
    result is None.
    """
    if _KERNELS not in sys.modules and saved_seconds < LOADING_SECONDS:
        return None
    try:
        return import_module(_KERNELS)
    except (ImportError, RuntimeError):  # RuntimeError: numba finds no writable cache folder
        return None
