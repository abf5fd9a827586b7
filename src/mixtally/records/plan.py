"""The plan everyone holds: question, guarantee, mechanism, its integers, and the certificate."""

import msgspec

from mixtally.errors import PlanError
from mixtally.ground.codec import as_floats
from mixtally.records.certificate import Certificate
from mixtally.records.guarantee import Guarantee, checked_fraction, checked_users
from mixtally.records.question import Question

PLAN_VERSION = 2


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that the parties must agree on; two plans are the same when their fingerprints are.

    where
      users             people expected to take part, in [2, 10^10]
      honest_fraction   share of the promised fakes that surely arrive, in (0, 1]
      protocol          name in the catalogue of protocols
      integers          the protocol's own parameters by name, integers only
      certificate       what was computed from exactly these integers

    Raises PlanError for another version or a certificate that does not match the guarantee.
    """

    version: int
    question: Question
    guarantee: Guarantee
    users: int
    honest_fraction: float
    mechanism: str
    integers: dict[str, int]
    certificate: Certificate

    def __post_init__(self) -> None:
        as_floats(self, "honest_fraction")
        if self.version != PLAN_VERSION:
            raise PlanError(
                "plan version",
                wanted=str(PLAN_VERSION),
                got=self.version,
                do="plan again with this version, or use the version that wrote it",
            )
        checked_users(self.users)
        checked_fraction(self.honest_fraction)
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
