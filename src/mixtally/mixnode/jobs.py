"""The jobs of a mix: files that ``mix sign`` wrote, of contracts that it has signed."""

from pathlib import Path

from mixtally.node import disk
from mixtally.node.node import Node
from mixtally.records.job import Job, read_job, write_job


def job_path(node: Node, job: Job) -> Path:
    """Where a job lies."""
    return node.folder.inner("jobs") / f"{job.name}-{job.serial}.json"


def take_job(node: Node, job: Job, contract: bytes) -> bytes:
    """Write a job down, and sign its contract; the note.

    Raises ProblemError where this role has signed another contract of the name and serial.
    """
    if not node.signed_contract(job):
        node.check_contract(job)
        disk.put(job_path(node, job), write_job(job), "a job")
    note = node.sign_contract(job, contract)
    path = node.folder.inner("contracts") / f"{job.name}-{job.serial}.note"
    disk.put(path, note, "a contract")
    return note


class Jobs:
    """Jobs by the fingerprints of their contracts."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._of: dict[str, Job] = {}
        self._seen: set[Path] = set()

    def look(self) -> None:
        """Take up what was signed since."""
        for path in sorted(self._node.folder.inner("jobs").glob("*.json")):
            if path in self._seen:
                continue
            job = read_job(disk.read(path, "a job"), str(path))
            if self._node.signed_contract(job):  # else ``sign`` was interrupted, or is at it
                self._of[job.contract] = job
                self._node.take_up(job)
                self._seen.add(path)

    def of(self, contract: str) -> Job:
        """The job of a contract that was taken up."""
        return self._of[contract]

    def find(self, contract: str) -> Job | None:
        """The same, or None."""
        return self._of.get(contract)
