"""The noise of a device: flips, coins and the fakes that people send. Needs numpy alone."""

from mixtally.protocol.randomize.parts import part_fakes, part_reports

__all__ = ["part_fakes", "part_reports"]
