"""Estimates from a batch of shuffled messages. No true counts are known here."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mixtally.api import checks
from mixtally.api.batches import Batch
from mixtally.api.files import file_at
from mixtally.api.planning import Plan, load_verified_plan
from mixtally.api.requests import read_request
from mixtally.api.result import Result
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
    """Estimate counts with confidence intervals from the messages that a collector received.

    Parameters
    ----------
    plan_or_contract : Plan, str, Path or bytes
        The plan, or the contract as a path or as bytes.
    batch : Batch, str, os.PathLike or a sequence of them
        The batch that ``mix`` returned, or paths or URLs of files and folders that
        ``mixtally batch mix`` wrote.
    tallies : str or Path, optional
        For files, a folder that stores the tallies of single files for later calls.
    processes : int, optional
        For files, the number of processes that count. The default is this process only.
    **options
        The options of ``mixtally batch tally``.

    Returns
    -------
    Result
        The estimated counts and the guarantee.

    Raises
    ------
    DataError
        If a file is missing or cannot be read.
    MessageError
        If messages belong to another plan or contract, or if their numbers are inconsistent.
    ParameterError
        If the level is outside (0, 1), or if the question does not have a given label.

    Examples
    --------
    >>> import mixtally
    >>> plan = mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=100)
    >>> sent = [mixtally.Device(plan).messages("yes") for _ in range(100)]
    >>> result = mixtally.conclude(plan, mixtally.mix(sent, plan))
    >>> result.people
    100
    """
    asked, under = read_request(ConcludeOptions, options), load_verified_plan(plan_or_contract)
    counting = read_request(ShardOptions, options)
    if paths := _paths_of(batch):
        found = use.conclude_shards(under.plan, paths, asked, counting)
        return Result(found.outcome())
    given = _check_batch(batch, under.fingerprint)
    if conflicting := list_used_flags(counting):
        raise ParameterError(
            " and ".join(conflicting),
            expected="files of messages",
            got="a batch",
            do="leave the argument out",
        )
    messages = Messages(given.parts, given.people, given.declared)
    return Result(use.conclude(under.plan, messages, asked).outcome())


def _paths_of(given: object) -> list[str]:
    """Return the paths in an argument as text; an empty list if it contains other objects."""
    several: list[Any] = [*given] if isinstance(given, list | tuple) else [given]
    if not all(isinstance(one, str | os.PathLike) for one in several):
        return []
    for one in several:
        file_at(one)
    return [os.fspath(one) for one in several]


def _check_batch(given: object, fingerprint: str) -> Batch:
    """Return the batch if it belongs to this plan or contract, or raise MessageError."""
    if not isinstance(given, Batch):
        raise MessageError(
            "batch",
            expected="a batch from mixtally.mix, or the files of a batch",
            got=checks.describe_value(given),
            do="call mixtally.mix with the messages of the devices",
        )
    if given.fingerprint != fingerprint:
        raise MessageError(
            "batch",
            expected=f"messages made under {fingerprint[:16]}",
            got=f"messages made under {given.fingerprint[:16]}",
            do="use the plan or contract that people answered under",
        )
    return given
