"""A vote, counted in two ways: by ballots that trust nobody, and through mixes."""

from dataclasses import dataclass, replace
from typing import Annotated

from mixtally.app.limits import BudgetOptions, CostOptions, TrustOptions, wish_of
from mixtally.app.options import option
from mixtally.app.outcome import Outcome, Run, outcome_of
from mixtally.data.population import LABELS, Population
from mixtally.errors import ParameterError
from mixtally.privacy.local import certificate
from mixtally.records.guarantee import Guarantee
from mixtally.simulation import voting
from mixtally.simulation.election.document import document
from mixtally.simulation.lab import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteOptions:
    """What both versions promise, and how the local one keeps it."""

    epsilon: Annotated[
        float | None,
        option(
            "--epsilon", "Privacy loss, 0.01 to 20; that of --keep-probability if left out.", "E"
        ),
    ] = None
    delta: Annotated[
        float | None,
        option("--delta", "delta of the shuffle version's guarantee, 1e-15 to 0.1.", "D"),
    ] = None
    keep_probability: Annotated[
        float | None,
        option(
            "--keep-probability",
            "Chance that the local version keeps a mark; what --epsilon allows if left out.",
            "P",
        ),
    ] = None


def votes(
    crowd: Population,
    options: VoteOptions,
    run: Run,
    *,
    cost: CostOptions,
    trust: TrustOptions,
    blank: str | None = None,
) -> Outcome:
    """Hold a vote of a crowd of ballots; ``blank`` names those without a choice, who cannot win.

    Raises ParameterError for a promise that is missing or out of range, InfeasibleError when
    nothing fits.
    """
    if options.delta is None:
        raise ParameterError(
            "vote", wanted="--delta", got="none", do="add --delta 1e-6, for example"
        )
    epsilon, keep, question = options.epsilon, options.keep_probability, crowd.question
    choices = voting.checked_options(crowd)
    ballots = voting.local_ballots(choices, epsilon=epsilon, keep=keep)
    promise = certificate(ballots, epsilon if keep is None else None)
    guarantee = Guarantee(
        epsilon=promise.epsilon if epsilon is None else epsilon, delta=options.delta
    )
    wish = wish_of(BudgetOptions(cost=cost, trust=trust), question, guarantee, crowd.users)
    held = voting.hold(
        crowd,
        ballots,
        promise,
        replace(wish, over_planes=False),  # whose counts err together: who won needs them apart
        run.lab,
        level=run.level,
        blank=blank,
        about=Provenance(
            title=f"{question.name}, voted on",
            source=run.source,
            raw=crowd.note,
            seed=run.seed,
            ordered=LABELS not in crowd.from_data,
        ),
    )
    return outcome_of(held, document, crowd.from_data)
