"""Everything a plan says, as one flat JSON object in the field's terms."""

import math
from typing import Any

from mixtally.protocols.base import Protocol
from mixtally.records.plan import Plan


def plan_facts(plan: Plan, protocol: Protocol) -> dict[str, Any]:
    """The plan with what follows from it; ``local_epsilon`` is None where nothing is left.

    ``messages_per_user`` counts the whole batch, a mix's fakes included.
    """
    shown, local = plan.certificate, protocol.local_epsilon
    return {
        "protocol": plan.protocol,
        "epsilon": plan.guarantee.epsilon,
        "delta": shown.upper,
        "delta_lower": shown.lower,
        "delta_target": plan.guarantee.delta,
        **shown.terms(),
        "users": plan.users,
        "bins": plan.question.bins,
        "fakes": protocol.fakes,
        "fakes_counted": protocol.surely(plan.honest_fraction).fakes,
        "fakes_from": protocol.fake_source,
        "honest_fraction": plan.honest_fraction,
        **protocol.facts(),
        "standard_error": protocol.standard_error(plan.users),
        "messages_per_user": protocol.messages_per_record + protocol.fakes / plan.users,
        "bytes_per_message": protocol.layout.message_bytes,
        "local_epsilon": local if math.isfinite(local) else None,
    }
