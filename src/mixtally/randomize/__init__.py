"""Where noise is drawn on the device: flips and the users' own fakes. Needs numpy, nothing more."""

from mixtally.randomize.messages import fakes, reports
from mixtally.randomize.one import one_fake, one_report
from mixtally.randomize.parts import part_fakes, part_reports

__all__ = ["fakes", "one_fake", "one_report", "part_fakes", "part_reports", "reports"]
