"""Conversion of a contract into what a role may know, without the question."""

from msgspec.structs import asdict

from mixtally.model.agreement import Agreement
from mixtally.model.contract.contract import Contract
from mixtally.model.job import JOB_VERSION, Job, Stream
from mixtally.model.part import Part
from mixtally.model.recipe import most_fakes


def agreement_of(contract: Contract, fingerprint: str, place: int) -> Agreement:
    """Return the agreement of one role: the contract without its question.

    Parameters
    ----------
    contract : Contract
        The contract, with its plan and all roles.
    fingerprint : str
        The SHA-256 of the contract's text, 64 hexadecimal digits.
    place : int
        The place of the role in the chain, from 1. The collector follows the last hop.
    """
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
        most_bundles=contract.most_bundles,
        admission=contract.admission,
        most_messages=tuple(_most_messages(contract, part) for part in contract.plan.parts),
        sizes=contract.envelope_bytes,
    )


def job_of(contract: Contract, fingerprint: str, place: int) -> Job:
    """Return the job of one mix; raise PlanError if there is no such hop.

    A job has what a mix needs to serve the contract, without the question.

    Parameters
    ----------
    contract : Contract
        The contract, with its plan and all roles.
    fingerprint : str
        The SHA-256 of the contract's text, 64 hexadecimal digits.
    place : int
        The place of the mix in the chain, from 1.
    """
    agreement = agreement_of(contract, fingerprint, place)
    streams = tuple(
        Stream(
            layout=part.layout,
            recipe=part.recipe,
            slots=part.most,
            most_padding=part.most - part.least,
        )
        for part in contract.plan.parts
    )
    return Job(**asdict(agreement), version=JOB_VERSION, streams=streams)


def _most_messages(contract: Contract, part: Part) -> tuple[int, ...]:
    """Return the maximum number of messages of a part that leave each hop, in order of hops."""
    own, fakes = contract.most_bundles * part.most, most_fakes(part.recipe, part.layout.bins)
    return tuple(own + fakes * hop for hop in range(1, len(contract.hops) + 1))
