"""A mechanism on the command line: the facts of what was asked."""

import math
from typing import Any

from mixtally.app.mechanism import MechanismOptions, as_sent, fakes_of
from mixtally.privacy.accountant import Record, local_epsilon
from mixtally.privacy.divergence.memoized import loss as memoized_loss
from mixtally.privacy.parameters import Parsed
from mixtally.records.mechanism import BitFlips, KaryResponse, Memoized


def memoized_facts(options: MechanismOptions, mechanism: Memoized, reports: int) -> dict[str, Any]:
    """The parameters and the largest losses."""
    loss = memoized_loss(mechanism, reports)
    return {
        "protocol": options.protocol,
        "honest_share": options.honest_share,
        **options.given(),
        "eps_inf": loss.eps_inf,
        "eps_1": loss.eps_1,
        "eps_T": loss.eps_T,
        "permanent": mechanism.f,
    }


def record_facts(options: MechanismOptions, asked: Parsed, found: Record) -> dict[str, Any]:
    """The parameters as they were counted, and what is left when mixes collude."""
    counted, sent = found.message.mechanism, as_sent(options, asked, found).message.mechanism
    facts: dict[str, Any] = {
        "protocol": options.protocol,
        "honest_share": options.honest_share,
        **options.given(),
    }
    if isinstance(counted, BitFlips):
        facts |= {
            "flip_probability": counted.flip_probability,
            "flip_threshold": counted.threshold,
        }
    if isinstance(counted, KaryResponse):
        facts |= {"replace_probability": counted.chance, "replace_threshold": counted.replaced}
    if counted.shaped is not None:
        facts |= {
            **counted.shaped.shape.facts(),
            "fakes": None,
            "fakes_counted": None,
        }
    else:
        facts |= {"fakes": fakes_of(sent), "fakes_counted": fakes_of(counted)}
    local = local_epsilon(found)
    return facts | {
        "users_counted": asked.crowd,
        "local_epsilon": local if math.isfinite(local) else None,
    }
