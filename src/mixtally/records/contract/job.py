"""The job of one mix under a contract: what is left when the question is taken away."""

from mixtally.records.contract.contract import Contract
from mixtally.records.contract.part import Part
from mixtally.records.job import JOB_VERSION, Job, Stream


def job_of(contract: Contract, fingerprint: str, place: int) -> Job:
    """What the mix at ``place``, from 1, needs; raises PlanError where there is no such hop."""
    return Job(
        version=JOB_VERSION,
        contract=fingerprint,
        name=contract.name,
        serial=contract.serial,
        place=place,
        hops=contract.hops,
        collector=contract.collector,
        suite=contract.suite,
        rounds=contract.terms.collections,
        windows=contract.rounds,
        minimum_crowd=contract.terms.minimum_crowd,
        sizes=contract.envelope_bytes,
        streams=tuple(map(_stream, contract.terms.parts)),
    )


def _stream(part: Part) -> Stream:
    own = part.own
    least, most = (0, 0) if own is None else (own.whole, own.most)
    return Stream(layout=part.layout, recipe=part.recipe, least=1 + least, most=1 + most)
