"""A device that answers repeatedly: its key in a file, and the answers memoized by this key."""

from mixtally.lab.memoization.device import DeviceKey, Memory, device_key

__all__ = ["DeviceKey", "Memory", "device_key"]
