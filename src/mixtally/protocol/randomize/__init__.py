"""Where noise is drawn on the device: flips and the users' own fakes. Needs numpy, nothing more."""

from mixtally.protocol.randomize.parts import part_fakes, part_reports

__all__ = ["part_fakes", "part_reports"]
