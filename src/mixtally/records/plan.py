"""The plan everyone holds: question, guarantee, mechanism with its integers, certificate."""

import json
import math
from typing import Any

import msgspec

from mixtally.errors import PlanError
from mixtally.ground.codec import as_floats, from_canonical
from mixtally.records.certificate import Certificate
from mixtally.records.guarantee import Guarantee, checked_fraction, checked_users
from mixtally.records.mechanism import AnyShuffled
from mixtally.records.question import Question

PLAN_VERSION = 3


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that the parties must agree on; two plans are the same when their fingerprints are.

    where
      users             people expected to take part, in [2, 10^10]
      honest_fraction   share of the promised fakes that surely arrive, in (0, 1]
      mechanism         how records are sent and hidden, in integers
      certificate       what was computed from exactly these integers

    Raises PlanError for another version, a mechanism that cannot hide the question's records, or a
    certificate that does not match the guarantee.
    """

    version: int
    question: Question
    guarantee: Guarantee
    users: int
    honest_fraction: float
    mechanism: AnyShuffled
    certificate: Certificate

    def __post_init__(self) -> None:
        as_floats(self, "honest_fraction")
        if self.version != PLAN_VERSION:
            raise _other_version(self.version)
        checked_users(self.users)
        checked_fraction(self.honest_fraction)
        if not self.mechanism.holds(self.question):
            raise PlanError(
                "plan",
                wanted=f"a mechanism that hides records of kind {self.question.kind} over "
                f"{self.question.bins:,} bins with at most {self.question.max_set} set",
                got=f"{self.mechanism.name} over {self.mechanism.bins:,} bins with at most "
                f"{self.mechanism.most_set} set",
                do="plan again with this version",
            )
        promised, shown = self.guarantee, self.certificate
        if (
            shown.epsilon != promised.epsilon
            or shown.observer != promised.observer
            or shown.upper > promised.delta
        ):
            raise PlanError(
                "plan certificate",
                wanted=f"delta <= {promised.delta:g} at epsilon {promised.epsilon:g} "
                f"for observer {promised.observer}",
                got=f"{shown.upper:g} at {shown.epsilon:g} for {shown.observer}",
                do="the file was altered: plan again",
            )

    @property
    def protocol(self) -> str:
        """The name of its mechanism, as people type it."""
        return self.mechanism.name

    def facts(self) -> dict[str, Any]:
        """Everything it says, flat, in the field's terms; for JSON and for people.

        ``local_epsilon`` is None where nothing is left; ``messages_per_user`` counts the whole
        batch, a mix's fakes included.
        """
        shown, mechanism, local = self.certificate, self.mechanism, self.mechanism.local_epsilon
        return {
            "protocol": mechanism.name,
            "epsilon": self.guarantee.epsilon,
            "delta": shown.upper,
            "delta_lower": shown.lower,
            "delta_target": self.guarantee.delta,
            **shown.terms(),
            "users": self.users,
            "bins": self.question.bins,
            "fakes": mechanism.fakes_promised,
            "fakes_counted": mechanism.surely(self.honest_fraction).fakes_promised,
            "fakes_from": mechanism.fake_source,
            "honest_fraction": self.honest_fraction,
            **mechanism.facts(),
            "standard_error": mechanism.standard_error(self.users),
            "messages_per_user": mechanism.repeats + mechanism.fakes_promised / self.users,
            "bytes_per_message": mechanism.layout.message_bytes,
            "local_epsilon": local if math.isfinite(local) else None,
        }


def read_plan(data: bytes, subject: str) -> Plan:
    """The plan whose canonical bytes are ``data``, called ``subject``; raises PlanError for others.

    A plan of another version is told so, whatever else is in it.
    """
    try:
        version = json.loads(data)["version"]
    except (ValueError, RecursionError, TypeError, KeyError):
        version = PLAN_VERSION  # no plan at all: what is wrong with it is said below
    if version != PLAN_VERSION:
        raise _other_version(version)
    return from_canonical(data, Plan, subject)


def _other_version(version: object) -> PlanError:
    return PlanError(
        "plan version",
        wanted=str(PLAN_VERSION),
        got=version,
        do="plan again with this version, or use the version that wrote it",
    )
