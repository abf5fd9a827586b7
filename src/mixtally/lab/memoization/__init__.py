"""A device that answers repeatedly: its key in a file, and the answers memoized by this key."""

from mixtally.lab.memoization.device_key import DeviceKey, MemoizedDevice, device_key

__all__ = ["DeviceKey", "MemoizedDevice", "device_key"]
