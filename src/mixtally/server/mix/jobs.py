"""Jobs of a mix: files that ``mix sign`` writes for contracts that the mix has signed.

A job contains what a mix has to do, such as the recipe of its fakes, without the question.
"""

import hmac
from pathlib import Path

from mixtally.errors import DataError
from mixtally.model.job import Job, read_job, write_job
from mixtally.server.node import disk
from mixtally.server.node.node import Node
from mixtally.server.node.wrapping import KeyPurpose, compute_tag


def job_path(node: Node, job: Job) -> Path:
    """Return the path of a job's file."""
    return node.folder.subfolder("jobs") / f"{job.name}-{job.serial}.json"


def _tag(node: Node, path: Path, data: bytes) -> bytes:
    return compute_tag(node.folder.master, KeyPurpose.JOB, path.stem, data)


def _read_verified(node: Node, path: Path) -> bytes:
    """Return the bytes of a job; raises DataError unless ``sign`` wrote them."""
    data, tag_path = disk.read_file(path, "a job"), path.with_suffix(".tag")
    tag = disk.read_file(tag_path, "what binds a job") if tag_path.exists() else b""
    if not hmac.compare_digest(tag, _tag(node, path, data)):
        raise DataError(
            str(path),
            expected="the job that `mix sign` wrote, bound by this role's master key",
            got="one that was changed, or belongs to another folder",
            do="find out who wrote it, then call `mixtally mix sign` with the contract again",
        )
    return data


def take_job(node: Node, job: Job, contract: bytes) -> bytes:
    """Store a job, authenticated under the master key, and sign its contract.

    Someone who can write files in the folder, but lacks the master key, cannot forge a job. A job
    without its recipe of fakes would leave people unprotected. If the file of the job was changed,
    another call restores it.

    Returns
    -------
    bytes
        The note of the contract with all known signatures.

    Raises
    ------
    ProblemError
        If this role has signed another contract of the same name and serial.
    """
    node.check_contract(job)
    path, data = job_path(node, job), write_job(job)
    disk.put(path.with_suffix(".tag"), _tag(node, path, data), "what binds a job")
    disk.put(path, data, "a job")
    note = node.sign_contract(job, contract)
    disk.put(node.folder.subfolder("contracts") / f"{path.stem}.note", note, "a contract")
    return note


class Jobs:
    """The jobs that a mix serves, by the fingerprints of their contracts."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.by_contract: dict[str, Job] = {}
        self._seen: set[Path] = set()

    def load_new(self) -> None:
        """Serve jobs that were signed since the last call."""
        for path in sorted(self._node.folder.subfolder("jobs").glob("*.json")):
            if path in self._seen:
                continue
            job = read_job(_read_verified(self._node, path), str(path))
            # If it is not signed, ``sign`` was interrupted or has not finished yet.
            if self._node.has_signed_contract(job):
                self.by_contract[job.contract] = job
                self._node.start_serving(job)
                self._seen.add(path)
