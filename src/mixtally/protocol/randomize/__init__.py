"""The noise of a device: flips, coins and the fakes that people send. Needs numpy alone."""

from mixtally.protocol.randomize.parts import draw_part_fakes, randomize_records

__all__ = ["draw_part_fakes", "randomize_records"]
