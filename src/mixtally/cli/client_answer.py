"""An answer as people type it: a label or text as it is, everything else as JSON."""

import json

from mixtally.device.client.encode import Value
from mixtally.device.contract.plan import Plan
from mixtally.errors import ParameterError


def value_of(plan: Plan, text: str) -> Value:
    """What ``text`` answers; what it may be is looked at where it is encoded.

    Raises ParameterError, without the text, for what is neither.
    """
    question = plan.question
    worded = question.labels is not None or question.seed is not None or plan.prefixes is not None
    if question.kind == "one" and worded:
        return text
    try:
        value: Value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        listed = '[1, 0] or ["tea", "cake"]'
        wanted = "a number" if question.kind == "one" else f"a list in JSON, as {listed}"
        raise ParameterError(
            "answer", wanted=wanted, got="something else", do="call again"
        ) from None
    return value


def _no_constant(name: str) -> None:
    raise ValueError(name)
