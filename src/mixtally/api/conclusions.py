"""``conclude``: what a batch of shuffled messages tells; no truth is known here."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mixtally.api import checks
from mixtally.api.batches import Batch
from mixtally.api.files import file_at
from mixtally.api.planning import Plan
from mixtally.api.requests import read_request
from mixtally.api.result import Result
from mixtally.api.verified_plan import load_verified_plan
from mixtally.app import conclude as use
from mixtally.app.conclude import ConcludeOptions, Messages, ShardOptions
from mixtally.app.options import list_used_flags
from mixtally.errors import MessageError, ParameterError

Shards = str | os.PathLike[str]


@checks.translate_errors
@checks.accept_options(ConcludeOptions, ShardOptions)
def conclude(
    plan_or_contract: Plan | str | Path | bytes,
    batch: Batch | Shards | Sequence[Shards],
    **options: Any,
) -> Result:
    """Count with intervals what a collector received.

    Parameters
    ----------
    plan_or_contract : Plan, str, Path or bytes
        The plan; or the contract, by its path or bytes.
    batch : Batch, str, os.PathLike or a sequence of them
        What ``mix`` gave; or the files or folders of messages that `mixtally batch mix` wrote, as
        paths or URLs.
    **options
        ``level`` of all intervals, in (0, 1); ``candidates``, the words that are looked for where
        the question is open; ``compare``, labels whose counts are compared with each other;
        ``total``, the labels of each group whose counts are added up; ``shares``, whether counts
        are also shares of the people. For files: ``tallies``, a folder that keeps the tallies of
        single files; ``processes`` that count, this one alone when left out.

    Returns
    -------
    Result
        The counts and what they promise.

    Raises
    ------
    DataError
        For files that are missing or cannot be read.
    MessageError
        For messages of another plan or contract, or numbers of them that do not add up.
    ParameterError
        For a level outside (0, 1), or labels that the question does not have.

    Examples
    --------
    >>> mixtally.conclude("contract.json", batch)
    """
    expected, under = read_request(ConcludeOptions, options), load_verified_plan(plan_or_contract)
    counting = read_request(ShardOptions, options)
    if paths := _paths_of(batch):
        found = use.conclude_shards(under.plan, paths, expected, counting)
        return Result(found.outcome())
    given = _check_batch(batch, under.fingerprint)
    if beside := list_used_flags(counting):
        raise ParameterError(
            " and ".join(beside), expected="files of messages", got="a batch", do="leave it out"
        )
    messages = Messages(given.parts, given.people, given.declared)
    return Result(use.conclude(under.plan, messages, expected).outcome())


def _paths_of(given: object) -> list[str]:
    """Return the names of files as texts; none for anything else."""
    several: list[Any] = [*given] if isinstance(given, list | tuple) else [given]
    if not all(isinstance(one, str | os.PathLike) for one in several):
        return []
    for one in several:
        file_at(one)
    return [os.fspath(one) for one in several]


def _check_batch(given: object, fingerprint: str) -> Batch:
    """Return a batch under this plan or contract; raise MessageError for anything else."""
    if not isinstance(given, Batch):
        raise MessageError(
            "batch",
            expected="what mixtally.mix gave, or the files of a batch",
            got=checks.describe_value(given),
            do="mix what the devices sent",
        )
    if given.fingerprint != fingerprint:
        raise MessageError(
            "batch",
            expected=f"messages made under {fingerprint[:16]}",
            got=f"some made under {given.fingerprint[:16]}",
            do="conclude with the plan or contract that people answered under",
        )
    return given
