"""A mechanism by its parameters: its options, declared once, and what they describe."""

from dataclasses import dataclass, fields
from typing import Annotated, Any

from mixtally.app import options as o
from mixtally.app import parameters as take
from mixtally.errors import ParameterError
from mixtally.privacy.accountant import Record
from mixtally.privacy.parameters import Parameters, Parsed, protocols
from mixtally.privacy.parameters import parsed as read
from mixtally.records.guarantee import Observer, promised
from mixtally.records.mechanism import (
    BitFlips,
    FakeSource,
    Memoized,
    NoFakes,
    Parameter,
    Shuffled,
)
from mixtally.records.mechanism.memoized import memoized as made

PROTOCOLS = [*protocols(), "memory"]
_PARAMETERS = {field.name for field in fields(Parameters)}


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismOptions:
    """The parameters of ``check delta`` and ``check noise``, memoized answers among them."""

    protocol: Annotated[
        str,
        o.option(
            "--protocol",
            "flip-blank, clear-uniform, kary-response, clear-shaped, single-bit, flip, "
            "flip-uniform or memory",
            "NAME",
        ),
    ]
    users: take.Users = None
    fakes: take.Fakes = None
    flip: take.Flip = None
    replaced: take.Replaced = None
    bins: take.Bins = None
    bits: take.Bits = None
    ones: Annotated[
        int | None, o.whole_option("--ones", "Others known to hold a one, 0 to --users - 1.")
    ] = None
    sending: take.SendingOptions
    observer: Annotated[str, o.option("--observer", "Who looks: messages or sums.", "WHO")] = (
        "messages"
    )
    background: Annotated[
        str | None,
        o.option("--background", "zero: all others are known to hold zeros; with --bits."),
    ] = None
    split: Annotated[
        bool, o.option("--split", "Every bit or attribute is a message of its own.")
    ] = False
    memoized: take.MemoizedOptions
    count_crowd: o.CountCrowd = False
    honest_share: o.HonestShare = 1.0

    def given(self) -> dict[str, Any]:
        """What was given, by name, but for the protocol and the honest share."""
        left_out = ("protocol", "honest_share")
        return {
            name: value
            for name, value in o.values(self).items()
            if name not in left_out
            and not (value is None or value is False or value == "messages")  # 0 was given, too
        }


def parsed(options: MechanismOptions, *, for_epsilon: float | None = None) -> Parsed:
    """The record that the options describe; with ``for_epsilon`` one of them is to be found.

    Raises ParameterError for what they cannot describe.
    """
    o.one_of("protocol", options.protocol, PROTOCOLS)
    strange = o.flags(options.memoized)
    if strange:
        raise ParameterError(
            options.protocol,
            wanted="its own parameters",
            got=" and ".join(strange),
            do="leave them out: they belong to memory",
        )
    given = {name: value for name, value in o.values(options).items() if name in _PARAMETERS}
    given["observer"] = Observer(o.one_of("observer", options.observer, ["messages", "sums"]))
    parameters = Parameters(**given)
    return read(options.protocol, parameters, options.honest_share, for_epsilon=for_epsilon)


def memoized(options: MechanismOptions, *, seek: bool = False) -> tuple[Memoized, int]:
    """The mechanism of memoized answers, and how many reports are seen; f is 1 while it is sought.

    Raises ParameterError for what is missing or not taken.
    """
    if options.honest_share < 1.0:
        raise ParameterError(
            "--honest-share",
            wanted="a protocol that counts on people's fakes or flips",
            got="memory",
            do="leave it out: its noise is no other person's",
        )
    own, given = options.memoized, options.given()
    needs = [name for name in o.values(own) if not (seek and name == "permanent")]
    p, q, hashes, reports = own.p, own.q, own.hashes, own.reports
    whole = set(needs) <= set(given) <= {*needs, "users"}
    if not whole or p is None or q is None or hashes is None or reports is None:
        raise ParameterError(
            "memory",
            wanted=" and ".join("--" + name for name in needs),
            got=" and ".join("--" + name.replace("_", "-") for name in given) or "neither",
            do="give exactly these parameters; it may take --users",
        )
    permanent = 1.0 if own.permanent is None else own.permanent
    return made(max(2, 2 * hashes), permanent, p, q, hashes=hashes), reports


def standard_error(
    options: MechanismOptions, asked: Parsed, found: Record
) -> tuple[float | None, int | None]:
    """Of a count, and of how many people: ``users``, or as many as there are fakes.

    None where it is not known of how many.
    """
    sent = as_sent(options, asked, found).message.mechanism
    fakes = None if sent.shaped is not None else fakes_of(sent)
    users = fakes if options.users is None else options.users
    if not users and fakes == 0:
        return None, None
    return sent.standard_error(users or 0), users


def as_sent(options: MechanismOptions, asked: Parsed, found: Record) -> Record:
    """``found`` with every fake that is promised, honest or not: errors are those of all messages.

    Where fakes were to be found, so many must be promised that enough of them arrive.
    """
    fakes = fakes_of(found.message.mechanism)
    if fakes is None:
        return found
    if asked.sought is Parameter.FAKES:
        sent = promised(fakes, options.honest_share)
    else:
        sent = options.fakes or 0
    return found.having(Parameter.FAKES, sent)


def fakes_of(mechanism: Shuffled) -> int | None:
    """People's fakes in one round; None for a mechanism that has none."""
    if mechanism.fake_source is FakeSource.MIX:
        return None
    if isinstance(mechanism, BitFlips) and isinstance(mechanism.fakes, NoFakes):
        return None
    return mechanism.fakes_promised // mechanism.repeats
