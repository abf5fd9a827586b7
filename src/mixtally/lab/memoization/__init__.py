"""Repeated answers of a device: its key in a file, and the answers that are derived from this key.

The command line and the simulations of memoized answers use ``device_key`` and ``MemoizedDevice``.
"""

from mixtally.lab.memoization.memoized_device import DeviceKey, MemoizedDevice, device_key

__all__ = ["DeviceKey", "MemoizedDevice", "device_key"]
