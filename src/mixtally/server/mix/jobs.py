"""The jobs of a mix: files that ``mix sign`` wrote, of contracts that it has signed."""

import hmac
from pathlib import Path

from mixtally.errors import DataError
from mixtally.model.job import Job, read_job, write_job
from mixtally.server.node import disk
from mixtally.server.node.node import Node
from mixtally.server.node.wrapping import Label, tag


def job_path(node: Node, job: Job) -> Path:
    """Where a job lies."""
    return node.folder.inner("jobs") / f"{job.name}-{job.serial}.json"


def _tag(node: Node, path: Path, data: bytes) -> bytes:
    return tag(node.folder.master, Label.JOB, path.stem, data)


def _checked(node: Node, path: Path) -> bytes:
    """The bytes of a job; raises DataError for others than ``sign`` wrote."""
    data, beside = disk.read(path, "a job"), path.with_suffix(".tag")
    held = disk.read(beside, "what binds a job") if beside.exists() else b""
    if not hmac.compare_digest(held, _tag(node, path, data)):
        raise DataError(
            str(path),
            expected="the job that `mix sign` wrote, bound by this role's master key",
            got="one that was altered since, or is of another folder",
            do="find out who wrote it, then call `mixtally mix sign` with the contract again",
        )
    return data


def take_job(node: Node, job: Job, contract: bytes) -> bytes:
    """Write a job down, bound by the master key, and sign its contract; the note.

    Whoever can write files in the folder, and does not hold that key, makes no job: a recipe that
    was taken out of one would leave people without cover. Called again it mends what was altered.

    Raises ProblemError where this role has signed another contract of the name and serial.
    """
    node.check_contract(job)
    path, data = job_path(node, job), write_job(job)
    disk.put(path.with_suffix(".tag"), _tag(node, path, data), "what binds a job")
    disk.put(path, data, "a job")
    note = node.sign_contract(job, contract)
    disk.put(node.folder.inner("contracts") / f"{path.stem}.note", note, "a contract")
    return note


class Jobs:
    """Jobs that were taken up, ``of`` their contracts by fingerprints."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.of: dict[str, Job] = {}
        self._seen: set[Path] = set()

    def look(self) -> None:
        """Take up what was signed since."""
        for path in sorted(self._node.folder.inner("jobs").glob("*.json")):
            if path in self._seen:
                continue
            job = read_job(_checked(self._node, path), str(path))
            if self._node.signed_contract(job):  # else ``sign`` was interrupted, or is at it
                self.of[job.contract] = job
                self._node.take_up(job)
                self._seen.add(path)
