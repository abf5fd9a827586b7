"""Conversion of a contract into what a role may know, without the question."""

from msgspec.structs import asdict

from mixtally.model.agreement import Agreement
from mixtally.model.contract.contract import Contract
from mixtally.model.job import JOB_VERSION, Job, Stream
from mixtally.model.part import Part


def agreement_of(contract: Contract, fingerprint: str, place: int) -> Agreement:
    """Return the agreement of the role at ``place``, from 1; the collector follows the last hop."""
    return Agreement(
        contract=fingerprint,
        name=contract.name,
        serial=contract.serial,
        place=place,
        hops=contract.hops,
        collector=contract.collector,
        suite=contract.suite,
        rounds=contract.plan.collections,
        windows=contract.rounds,
        minimum_crowd=contract.plan.minimum_crowd,
        sizes=contract.envelope_bytes,
    )


def job_of(contract: Contract, fingerprint: str, place: int) -> Job:
    """Return the job of the mix at ``place``, from 1; raise PlanError if there is no such hop."""
    agreement = agreement_of(contract, fingerprint, place)
    streams = tuple(map(_stream, contract.plan.parts))
    return Job(**asdict(agreement), version=JOB_VERSION, streams=streams)


def _stream(part: Part) -> Stream:
    return Stream(
        layout=part.layout,
        recipe=part.recipe,
        slots=part.most,
        most_padding=part.most - part.least,
    )
