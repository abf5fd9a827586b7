"""Lists of one-time codes, which the operator of a first mix receives from the collector."""

from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.codes import contract_of_codes, read_codes
from mixtally.device.wire.note import verify_note
from mixtally.errors import PlanError
from mixtally.model.job import Job
from mixtally.primitives.lock import exclusive_lock
from mixtally.server.mix.admission import CODES, codes_path
from mixtally.server.mix.jobs import Jobs
from mixtally.server.node import disk
from mixtally.server.node.node import Node


def accept_codes(node: Node, note: bytes, subject: str) -> tuple[Job, int]:
    """Store the list of codes in ``note``; return its contract's job and the number of codes.

    A contract has only one list, so that nobody can add codes later.

    Raises
    ------
    RefusedError
        If the note is not a list of codes, or is not signed by the collector of its contract.
    PlanError
        If this role is not the first mix of the contract, if the contract asks for no codes, or if
        another list is stored already.
    """
    contract = contract_of_codes(note)
    jobs = Jobs(node)
    jobs.load_new()
    job = jobs.by_contract.get(contract)
    if job is None or job.place != 1 or job.admission != CODES:
        raise PlanError(
            subject,
            expected="codes of a contract that asks for codes and of which this is the first mix",
            got=f"codes of the contract {contract}",
            do="sign that contract first, or give the file to the operator of its first mix",
        )
    verify_note(note, job.key_of(len(job.roles)))
    hashes = read_codes(note, contract, job.most_bundles)
    path = codes_path(node.folder.path, contract)
    disk.make_folder(path.parent)
    # Another command may store another list at the same time, so the folder is locked.
    with exclusive_lock(path.parent, required=True):
        stored = disk.read_file(path, "the codes") if path.exists() else note
        if fingerprint_of(stored) != fingerprint_of(note):
            raise PlanError(
                subject,
                expected="the list of codes that this contract has already",
                got="another one",
                do="distribute the codes of the first list, or sign a contract of a larger serial",
            )
        disk.put(path, note, "the codes")
    return job, len(hashes)
