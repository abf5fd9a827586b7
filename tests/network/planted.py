"""Bytes that must be nowhere: known to the test, looked for in every spelling, in every place."""

from base64 import b64encode

from helpers.roles_in_folders import ENVIRONMENT
from network.onwires import OnWires

MASTER = bytes.fromhex(ENVIRONMENT["MASTER"])


def spellings(secret):
    """The bytes themselves, in hexadecimal digits, and in base64 wherever they begin in it."""
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    yield repr(secret)[2:-1].encode()
    for before in range(3):
        whole = b64encode(bytes(before) + secret)
        yield whole[-(-8 * before // 6) : 8 * (before + len(secret)) // 6]


class Secrets:
    """Secrets by their names.

    where
      keys      of roles and rounds, and what people answered: nowhere at any time
      ciphers   beginnings of envelopes at every hop: on their way alone, and in no answer
    """

    def __init__(self):
        self.keys, self.ciphers = {"master key": MASTER}, {}

    def of_roles(self, stage):
        """The secrets of roles and of an open round."""
        for node in stage.nodes_awake:
            name = node.signer.name
            self.keys[f"signing key of {name}"] = node.signer.seed
            key = node.keys.read_key(stage.row().folder)
            self.keys[f"round key of {name}"] = key.private
            self.keys[f"order of {name}"] = key.sort_key

    def of_pieces(self, stage):
        """What lies on the disks of roles now: the first bytes of every envelope."""
        for place, node in enumerate(stage.nodes_awake, 1):
            for path in node.round_folder(stage.row()).glob("*-" + "?" * 64):
                hop = place + path.name.startswith("out-")
                self.envelopes(path.read_bytes(), stage.jobs[0].sizes[0][hop - 1], f"hop {hop}")

    def envelopes(self, data, size, where):
        """Envelopes one after the other."""
        for start in range(0, len(data), size):
            some = data[start : start + 24]
            self.ciphers[f"envelope {len(self.ciphers)} for {where}"] = some

    def found_in(self, data, names):
        """Which of some secrets stand in bytes."""
        return [
            name for name, secret in names.items() if any(one in data for one in spellings(secret))
        ]


def leaks_of_files(secrets, folders, *, ciphers):
    """Where a secret lies: (what, file); ``ciphers`` says whether envelopes are sought as well."""
    names = {**secrets.keys, **(secrets.ciphers if ciphers else {})}
    return [
        (name, str(path.relative_to(folder)))
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for name in secrets.found_in(path.read_bytes(), names)
    ]


def leaks_of_wires(secrets, heard):
    """Where a secret passed: keys and answers in any direction, envelopes in an answer."""
    found = []
    for role, sent, came in heard:
        line = bytes(sent).partition(b"\r\n")[0].decode()[:40]
        found += [(name, f"to {role}: {line}") for name in secrets.found_in(sent, secrets.keys)]
        every = {**secrets.keys, **secrets.ciphers}
        found += [(name, f"by {role}: {line}") for name in secrets.found_in(came, every)]
    return found


class Watched(OnWires):
    """A stage that looks for secrets on its disks whenever something was done."""

    secrets, leaks = None, ()

    def tick(self):
        super().tick()
        if self.secrets is not None:
            self.secrets.of_pieces(self)
            self.leaks += tuple(leaks_of_files(self.secrets, [self.place], ciphers=False))
