"""The noise of a device: flips, coins, and the fakes (dummy messages) that people send.

The package needs NumPy alone, so that a device does not load the accountant.
"""

from mixtally.protocol.randomize.parts import draw_part_fakes, randomize_records

__all__ = ["draw_part_fakes", "randomize_records"]
