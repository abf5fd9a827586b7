"""A device that answers again and again: its key in a file, and the memoized answers by it."""

from mixtally.lab.memoization.device import DeviceKey, Memory, device_key

__all__ = ["DeviceKey", "Memory", "device_key"]
