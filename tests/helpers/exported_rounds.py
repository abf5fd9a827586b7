"""Exported rounds of a small network whose certificate is true, honest or with a planted cheat."""

from functools import cache
from hashlib import sha256

from msgspec.structs import replace

import mixtally
from helpers.collector_scene import Office
from helpers.roles_in_folders import ENVIRONMENT, EVERY
from mixtally.device.wire.note import sign_note
from mixtally.primitives.progress import ignore_progress
from mixtally.server.collector import export_round
from mixtally.server.collector.export_index import INDEX, ExportedFile, read_index, write_index
from mixtally.server.collector.round_check import check_round
from mixtally.server.collector.round_files import RoundFiles
from mixtally.server.node.folder import open_folder

VALUES = [0, 1, 1, 3] * 50


@cache
def plan():
    """Four bins, three mixes that draw, nine rounds."""
    asked = mixtally.plan(
        *(4,), epsilon=1, delta=1e-4, users=1000, hops=3, collections=9, mix_fakes=True,
        minimum_crowd=2, name="q",
    )  # fmt: skip
    return asked.record


class KeepingOffice(Office):
    """A collector that keeps messages, among three mixes."""

    def __init__(self, place):
        super().__init__(place, plan=plan())
        self.place = place

    def begin(self):
        super().begin()
        self.collector._keep_messages = True
        return self.collector

    @property
    def fakes(self):
        return [bytes([bin_ % 4]) for bin_ in range(plan().parts[0].mean_added)]

    @property
    def role(self):
        """The folder of the collector, opened."""
        return open_folder(self.folders[-1].path, ENVIRONMENT)

    def count(self, *changed, **changes):
        """The number of a round that is over: the usual one, or one that ``changed`` makes."""
        number = self.proposed().sheet.round
        self.send(*(changed[0](self) if changed else self.usual(VALUES, **changes)))
        self.collector.tick(self.now)
        self.now += EVERY
        return number

    def export(self, number=1, *, served=False):
        """The folder of an exported round, which the collector may serve."""
        out = None if served else self.place / f"out-{number}"
        return export_round(self.role, self.contract.name, number, out).folder

    def sign_again(self, folder, signer=None, **files):
        """Change files, as a collector could that signs its index last; None removes one.

        Dashes and dots of names are written as ``__`` and ``_``.
        """
        index = read_index((folder / INDEX).read_bytes())
        entries = dict(index.files)
        for written, data in files.items():
            name = written.replace("__", "-").replace("_", ".")
            (folder / name).unlink(missing_ok=True)
            entries.pop(name, None)
            if data is not None:
                (folder / name).write_bytes(data)
                entries[name] = ExportedFile(sha256(data).hexdigest(), len(data))
        text = write_index(replace(index, files=entries))
        (folder / INDEX).write_bytes(sign_note(text, signer or self.role.signer))


def check(folder):
    """The report on a folder."""
    return check_round(RoundFiles(folder), ignore_progress)


def accused(report):
    """Who is accused, and of which files."""
    return {(one.role, one.file) for one in report.findings if one.role is not None}
