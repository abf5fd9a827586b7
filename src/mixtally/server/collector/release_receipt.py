"""Release receipt: the facts of a counted round that public registries of deployments ask for.

``exporting`` writes it next to the result, and ``check_round`` derives it again. Privacy numbers
come from the certificate and are rounded up.

Source: Nanayakkara, Ghazi, Vadhan, "Practitioners' Perspectives on a Differential Privacy
Deployment Registry", 2025, for the names of the facts.
"""

import json
from typing import Any, NamedTuple

from mixtally.report.numbers import at_least, at_most
from mixtally.report.promise import exactness_text, protection_line
from mixtally.report.words import TOOK_PART, assumption_text, not_promised
from mixtally.server.collector.concluding import Conclusion
from mixtally.server.collector.results import ShownRound, format_utc

RECEIPT, RECEIPT_TEXT = "receipt.json", "receipt.md"


class ReleasedRound(NamedTuple):
    """The data from which a release receipt is made."""

    shown: ShownRound
    conclusion: Conclusion
    sheet: str
    """SHA-256 of the sheet."""
    result: str
    """SHA-256 of the published result."""
    software: str
    """Version of the software that made the result."""


def receipt_facts(released: ReleasedRound) -> dict[str, Any]:
    """Return the receipt as a JSON object. A local epsilon of None means that it is unbounded."""
    shown, conclusion = released.shown, released.conclusion
    contract, plan = shown.agreed.contract, shown.agreed.contract.plan
    result, received = conclusion.result, conclusion.received
    certificate = plan.certificate if result is None else result.certificate
    every = "1 collection" if plan.collections == 1 else f"{plan.collections:,} collections"
    return {
        "deployment": f"{contract.name}, serial {contract.serial}, round {shown.number}",
        "data_product": f"estimated counts of {plan.question.bins:,} bins, with intervals",
        "question": plan.question.name,
        "data_curator": contract.collector.operator,
        "mix_operators": [role.operator for role in contract.hops],
        "collected_from": format_utc(shown.opens),
        "collected_until": format_utc(shown.closes),
        "released": result is not None,
        "refusal": conclusion.refusal,
        "people": None if received is None else received.contributors,
        "flavor": "approximate differential privacy (epsilon, delta)",
        "epsilon": _round_up(certificate.epsilon),
        "delta": _round_up(certificate.upper),
        "delta_lower": float(at_least(certificate.lower, 6)),
        "accounting": exactness_text(certificate),
        "proof": certificate.source,
        "privacy_unit": f"one person: all that this person sends in {every}",
        "neighbors": "replacing the record of one person",
        "adversary": protection_line(certificate.observer).removeprefix("Protects: "),
        "model": "shuffle model",
        "mechanism": plan.protocol,
        "parameters": {
            "bins": [part.bins for part in plan.parts],
            "messages_per_person": [part.mean_sent for part in plan.parts],
            "messages_added_per_mix": [part.mean_added for part in plan.parts],
            "mixes": plan.hops,
            "minimum_crowd": plan.minimum_crowd,
            "honest_share": plan.honest_share,
        },
        "trust": f"{assumption_text(certificate.assumption)}.",
        "local_epsilon": None if plan.local_epsilon is None else _round_up(plan.local_epsilon),
        "unprotected": [TOOK_PART, "The numbers of people and of messages are published exactly."],
        "composition": f"epsilon and delta hold for {every} together; this is round {shown.number}",
        "post_processing": "estimates are computed from the noisy counts alone",
        "limits": not_promised(plan),
        "fingerprints": {
            "contract": shown.agreed.fingerprint,
            "sheet": released.sheet,
            "result": released.result,
        },
        "software": f"mixtally {released.software}",
    }


def receipt_files(released: ReleasedRound) -> dict[str, bytes]:
    """Return the receipt in two files, JSON and Markdown: a dict from file name to content."""
    facts = receipt_facts(released)
    lines = [f"# {_cell(facts['deployment'])}", "", "| field | value |", "|---|---|"]
    shown = {**facts, "local_epsilon": facts["local_epsilon"] or "unbounded"}
    for name, value in shown.items():
        lines.append(f"| {name.replace('_', ' ')} | {_cell(value)} |")
    return {
        RECEIPT: json.dumps(facts, indent=1, allow_nan=False).encode() + b"\n",
        RECEIPT_TEXT: "\n".join([*lines, ""]).encode(),
    }


def _round_up(value: float) -> float:
    """Return a privacy number with six digits that is not below ``value``."""
    return max(value, float(at_most(value, 6)))


def _cell(value: object) -> str:
    """Return a value as a cell of a Markdown table."""
    if isinstance(value, dict):
        text = "; ".join(f"{name.replace('_', ' ')}: {_cell(one)}" for name, one in value.items())
    elif isinstance(value, list):
        text = " ".join(_cell(one) for one in value)
    else:
        text = "none" if value is None else str(value)
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
