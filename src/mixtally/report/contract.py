"""Documents of plans and contracts: the question, the guarantee, who is trusted, and what is sent.

A plan has the question, the crowd, the parts (the messages of a record), the fakes (dummy messages)
and the certificate. A contract adds the operators of the mixes and of the collector. The commands
and the collector show these documents.
"""

from typing import Any

import msgspec

from mixtally.errors import pluralize
from mixtally.model.contract import (
    SUITES,
    BlanksRecipe,
    Contract,
    Cover,
    Part,
    Plan,
    Shape,
    UniformRecipe,
    envelope_bytes,
)
from mixtally.model.contract_json import stringify_large_integers
from mixtally.model.question import Kind
from mixtally.report.document import Bullets, Document, Section, Table, Text, Tone
from mixtally.report.numbers import at_least, at_most, number, printable
from mixtally.report.promise import promise_of_plan
from mixtally.report.words import assumption_text, likelihood_text, loss_text, relies_on_people

# Table columns that contain words and are aligned left.
_WORDS = frozenset({"run by", "address", "for"})


def plan_document(plan: Plan) -> Document:
    """Return the document of a plan that has no operators yet."""
    return Document(
        title=f"Plan: {printable(plan.question.name)}",
        promise=promise_of_plan(plan),
        source="computed from the integers of the plan",
        sections=lambda: (Section("Plan", _terms(plan)),),
        summary=lambda: _terms(plan),
        facts=lambda: facts_of(plan),
    )


def contract_document(contract: Contract, fingerprint: str) -> Document:
    """Return the document of a contract.

    Parameters
    ----------
    contract : Contract
        The contract to show.
    fingerprint : str
        The SHA-256 of the contract's canonical text, 64 hexadecimal digits.
    """
    head = Text(f"Contract {contract.name}, serial {contract.serial}, fingerprint {fingerprint}")

    def summary() -> tuple[Text | Table | Bullets, ...]:
        return (
            head,
            *_terms(contract.plan, contract.suite),
            roles_table(contract),
            rounds_text(contract),
        )

    return Document(
        title=f"Contract {contract.name}",
        promise=promise_of_plan(contract.plan),
        source="computed from the integers of the contract",
        sections=lambda: (Section("Contract", summary()),),
        summary=summary,
        facts=lambda: {
            "name": contract.name,
            "serial": contract.serial,
            "fingerprint": fingerprint,
            **facts_of(contract.plan),
            "roles": [msgspec.to_builtins(r) for r in (*contract.hops, contract.collector)],
            "envelope_bytes": [list(row) for row in contract.envelope_bytes],
            "suite": contract.suite,
            "rounds": msgspec.to_builtins(contract.rounds),
            "most_bundles": contract.most_bundles,
            "admission": contract.admission,
            "client_files": [msgspec.to_builtins(one) for one in contract.client_files],
        },
        closing=fingerprint,
    )


def facts_of(plan: Plan) -> dict[str, Any]:
    """Return the plan as a JSON object; integers above 2^53 are decimal strings."""
    stated = plan.certificate
    return {
        "question": plan.question.name,
        "kind": str(plan.question.kind),
        "bins": plan.question.bins,
        "epsilon": stated.epsilon,
        "delta": stated.upper,
        "delta_lower": stated.lower,
        "delta_target": plan.guarantee.delta,
        **stated.terms(),
        "local_epsilon": plan.local_epsilon,
        "cover": str(plan.cover),
        "users": plan.users,
        "minimum_crowd": plan.minimum_crowd,
        "honest_share": plan.honest_share,
        "collections": plan.collections,
        "hops": plan.hops,
        "parts": stringify_large_integers([msgspec.to_builtins(part) for part in plan.parts]),
        "bytes_per_message": list(plan.message_bytes),
    }


def _terms(plan: Plan, suite: int = 1) -> tuple[Text | Table | Bullets, ...]:
    """Return the parts of a document that describe a plan."""
    return (
        Text(question_text(plan)),
        *(Text(text) for text in promise_texts(plan)),
        minimum_crowd_text(plan),
        trust_table(plan),
        sending_table(plan, suite),
    )


def sending_table(plan: Plan, suite: int) -> Table:
    """Return the table of the messages that a device sends and that every mix adds.

    Parameters
    ----------
    plan : Plan
        The plan, with a row for each part.
    suite : int
        The number of the encryption suite.
    """
    return Table(
        ("part", "bins", "sent", "device adds", "every mix adds", "bytes sealed"),
        _part_rows(plan, suite),
        words=frozenset({"sent", "device adds", "every mix adds"}),
    )


def question_text(plan: Plan) -> str:
    """Return the question, how often it is asked, and the expected number of people."""
    question, name = plan.question, printable(plan.question.name)
    if plan.prefixes is not None:
        what = f"the next letter of a word, after one of at most {plan.prefixes.most:,} prefixes"
    elif plan.edges is not None:
        low, high = number(plan.edges[0]), number(plan.edges[-1])
        what = f"a number, cut into {question.bins:,} bins from {low} to {high}"
    elif plan.grid is not None:
        low, high = number(plan.grid.low), number(plan.grid.high)
        what = f"a number, rounded at random to one of {question.bins:,} from {low} to {high}"
    elif question.hashed is not None:
        most = f"up to {question.max_set} of any texts" if question.max_set > 1 else "any text"
        what = f"{most}, hashed to one of {question.bins:,} points"
    elif question.attributes is not None:
        what = f"one of each of {len(question.attributes)} attributes"
    elif question.kind is Kind.SET:
        what = f"up to {question.max_set} of {question.bins:,} answers"
    elif question.kind is Kind.BITS:
        several = pluralize(question.bins, "question")
        what = "yes or no" if question.bins == 1 else f"yes or no to each of {several}"
    else:
        what = f"one of {question.bins:,} answers"
    often = "once" if plan.collections == 1 else f"at most {plan.collections:,} times"
    return f"Asked, {often}: {name}: {what}. Expected: {plan.users:,} people."


def promise_texts(plan: Plan) -> tuple[str, ...]:
    """Return the certificate in words, and its assumption."""
    stated = plan.certificate
    both = stated.epsilon, stated.upper
    return (
        "Whatever the collector receives is "
        f"{likelihood_text(*both, 'answer of a person', 'any other')}: "
        f"{loss_text(stated)}, for all {_covered_messages(plan)} together.",
        f"{assumption_text(stated.assumption)}.",
        f"Status: {stated.status}, delta between {at_least(stated.lower, 6)} and "
        f"{at_most(stated.upper, 6)}. Source: {stated.source}.",
    )


def _covered_messages(plan: Plan) -> str:
    """Name the messages that the certificate covers."""
    parts, times = len(plan.parts), plan.collections
    messages = "messages of a record" if parts == 1 else f"{parts} messages of a record"
    return messages if times == 1 else f"{messages} in all {times:,} collections"


def trust_table(plan: Plan) -> Table:
    """Return the table of who must be trusted with what, and who need not be."""
    rows = [("your device", "your answer", _duty_of_device(plan)), *_trusted_with_answers(plan)]
    who = "the mix" if plan.hops == 1 else "every mix"
    own = " but its own fakes" * (plan.cover is Cover.MIXES)
    rows += [
        ("the collector", "your answer", "nothing: it is the observer"),
        (who, "the counts", f"to pass on every message, and to add none{own}"),
        ("the collector", "the counts", "to publish what it received"),
        ("nobody", "that you took part", "it is not hidden"),
    ]
    return Table(("trusted", "with", "to do"), rows, words=frozenset({"with", "to do"}))


def _trusted_with_answers(plan: Plan) -> list[tuple[str, str, str]]:
    """Return the rows about the mixes and about other people."""
    what, nothing = "your answer", ("other people", "your answer", "nothing: they are not trusted")
    if plan.cover is Cover.MIXES:
        one = "the mix" if plan.hops == 1 else f"one of the {plan.hops} mixes"
        duty = "to draw its fakes, to shuffle, and to keep both secret"
        return [(one, what, duty), nothing]
    if not relies_on_people(plan):
        mixes = "the mix" if plan.hops == 1 else "the mixes"
        return [(mixes, what, "nothing: your device alone protects it"), nothing]
    one, before = "the mix", list[tuple[str, str, str]]()
    if plan.hops > 1:
        one = "the first honest mix"
        before = [("mixes before it", what, "to pass on everybody's messages")]
    people = pluralize(plan.honest_people, "person", "people")
    return [
        (one, what, "to shuffle, and to keep the order secret"),
        *before,
        (people, what, "to follow the protocol, and to take part"),
    ]


def _duty_of_device(plan: Plan) -> str:
    """Return the conditions on a person's device under which the guarantee protects this person."""
    draws = {
        "flips": any(part.threshold is not None for part in plan.parts),
        "replacements": any(part.replaced is not None for part in plan.parts),
        "planes": any(part.planes is not None for part in plan.parts),
        "slots": any(part.slots is not None for part in plan.parts),
        "fakes": any(part.own is not None for part in plan.parts),
    }
    drawn = [name for name, does in draws.items() if does]
    sealed = "to seal your answer for the mixes"
    if not drawn:
        return sealed
    return f"to draw its {' and '.join(drawn)} at random, and {sealed}"


def _part_rows(plan: Plan, suite: int) -> list[tuple[str, ...]]:
    asked = plan.questions
    sizes = envelope_bytes(plan, suite)
    shown: list[tuple[str, ...]] = [
        (
            printable(question.name),
            f"{part.bins:,}",
            _describe_sent(part),
            "nothing" if part.own is None else f"{part.own.mean:.6g} {part.own.record} fakes",
            _describe_added(part),
            f"{part.most:,} x {row[0]:,}",
        )
        for question, part, row in zip(asked, plan.parts, sizes, strict=True)
    ]
    # More rows would not fit on one screen.
    most = 12
    return shown if len(shown) <= most else [*shown[:most], ("...", *[""] * 5)]


def _describe_sent(part: Part) -> str:
    """Describe the messages of people in one part."""
    if part.threshold is not None:
        return f"bits flipped with {at_most(part.threshold / 2**64)}"
    own = "its bin in clear"
    if part.planes is not None:
        own = f"one of {part.planes.prime:,} planes in clear, of a direction it draws"
    if part.replaced is not None:
        own += f", or with {at_most(part.replaced / 2**64)} a random one"
    if part.slots is not None:
        return f"{own}, for {part.slots} of {part.most_set} slots, drawn anew each time"
    return own + ", for each member of a set" * (part.pads > 0)


def _describe_added(part: Part) -> str:
    """Describe the messages that every mix adds to one part."""
    match part.recipe:
        case Shape(paired=True):
            return (
                f"always {part.recipe.most:,} fakes, of which 0 to {part.recipe.most:,} are in "
                f"the first bin, {part.recipe.mean:,.0f} on average"
            )
        case Shape():
            return f"0 to {part.recipe.most:,} fakes per bin, {part.recipe.mean:,.0f} on average"
        case BlanksRecipe(count):
            return f"{count:,} flipped blanks"
        case UniformRecipe(count):
            return f"{count:,} uniform messages"
        case _:
            return "nothing"


def roles_table(contract: Contract) -> Table:
    """Return the table of the operators of the mixes and of the collector."""
    rows = [
        (role.name, printable(role.operator), role.address)
        for role in (*contract.hops, contract.collector)
    ]
    return Table(("role", "run by", "address"), rows, words=_WORDS)


def rounds_text(contract: Contract) -> Text:
    """Return when rounds are open, how envelopes are sealed, and who may take part."""
    window = contract.rounds
    return Text(
        f"A round is open for {_span(window.open_seconds)}, every {_span(window.every_seconds)}. "
        f"It accepts at most {contract.most_bundles:,} bundles and refuses all later ones. "
        f"Envelopes are sealed with {SUITES[contract.suite]}; admission: {contract.admission}."
    )


def minimum_crowd_text(plan: Plan) -> Text:
    """Describe what happens to a round with few people, or warn that such a round is counted."""
    if plan.minimum_crowd == 1:
        return Text(
            "Warning: no minimum crowd is set, so a round in which one person takes part is "
            "counted. With --minimum-crowd N, `mixtally plan` destroys smaller rounds.",
            tone=Tone.BAD,
        )
    return Text(
        f"At least {plan.minimum_crowd:,} people must take part; the first mix destroys a round "
        "with fewer."
    )


def _span(seconds: int) -> str:
    """Return a duration in the largest unit in which it is a whole number."""
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds % size == 0 and seconds > 0:
            return pluralize(seconds // size, name)
    return pluralize(seconds, "second")
