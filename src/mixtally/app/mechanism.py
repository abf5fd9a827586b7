"""A mechanism by its parameters: what is asked of it, and what the parameters describe."""

from dataclasses import dataclass
from typing import Annotated, Any

from mixtally.accounting.accountant import Record
from mixtally.accounting.parameters import Parameters, ParsedParameters, check_parameters
from mixtally.accounting.parameters import parse_parameters as read
from mixtally.app import options as o
from mixtally.app.parameters import PricedOptions
from mixtally.errors import ParameterError
from mixtally.model.guarantee import count_promised
from mixtally.model.mechanism import Memoized, Parameter, Shuffled, mechanisms
from mixtally.model.mechanism.memoized import make_memoized as made
from mixtally.model.mechanism.parameters import describe_required_options

MEMORY = "memory"
PROTOCOLS = [name for kind in mechanisms() for name in kind.PROTOCOLS]
NEEDED = [
    line
    for kind in mechanisms()
    for line in describe_required_options(kind.PROTOCOLS, kind.PARAMETERS)
]
"""A phrase a protocol: the options it requires."""
SOUGHT = [
    f"{name} --{' or --'.join(one.sought)}".replace("_", "-")
    for kind in mechanisms()
    for name, one in kind.PROTOCOLS.items()
]
"""A phrase a protocol: what can be left out and is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismOptions:
    """The parameters of ``check delta`` and ``check noise``, memoized answers among them."""

    protocol: Annotated[
        str, o.option("--protocol", f"{', '.join(PROTOCOLS[:-1])} or {PROTOCOLS[-1]}.", "NAME")
    ]
    parameters: PricedOptions
    honest_share: o.HonestShare = 1.0

    @property
    def users(self) -> int | None:
        """How many people take part, None where it is not said."""
        users: int | None = self.list_given().get("users")
        return users

    def list_given(self) -> dict[str, Any]:
        """What was given, by name, but for the protocol and the honest share."""
        return dict(self.parameters.given)


def parse_record(
    options: MechanismOptions, *, for_epsilon: float | None = None
) -> ParsedParameters:
    """The record that the options describe; with ``for_epsilon`` one of them is to be found.

    Raises ParameterError for what they cannot describe.
    """
    o.check_one_of("protocol", options.protocol, PROTOCOLS)
    given = Parameters(**options.list_given())
    return read(options.protocol, given, options.honest_share, for_epsilon=for_epsilon)


def parse_memoized(options: MechanismOptions, *, seek: bool = False) -> tuple[Memoized, int]:
    """The mechanism of memoized answers, and how many reports are seen; f is 1 while it is sought.

    Raises ParameterError for what is missing or not taken.
    """
    if options.honest_share < 1.0:
        raise ParameterError(
            "--honest-share",
            expected="a protocol that counts on people's fakes or flips",
            got=MEMORY,
            do="leave it out: its noise is no other person's",
        )
    sought = {*Memoized.PROTOCOLS[MEMORY].sought} if seek else set()
    given = check_parameters(Memoized, MEMORY, Parameters(**options.list_given()), sought)
    permanent = 1.0 if given.permanent is None else given.permanent
    bins = max(2, 2 * given.hashes)
    return made(bins, permanent, given.p, given.q, hashes=given.hashes), given.reports


def standard_error(
    options: MechanismOptions, asked: ParsedParameters, found: Record
) -> tuple[float | None, int | None]:
    """Of a count, and of how many people: ``users``, or as many as there are fakes.

    None where it is not known of how many.
    """
    sent = with_promised_fakes(options, asked, found).message.mechanism
    fakes = count_fakes(sent)
    users = fakes if options.users is None else options.users
    if not users and fakes == 0:
        return None, None
    return sent.standard_error(users or 0), users


def with_promised_fakes(
    options: MechanismOptions, asked: ParsedParameters, found: Record
) -> Record:
    """``found`` with every fake that is promised, honest or not: errors are those of all messages.

    Where fakes were to be found, so many must be promised that enough of them arrive.
    """
    fakes = count_fakes(found.message.mechanism)
    if fakes is None:
        return found
    if asked.sought_parameter == Parameter.FAKES:
        sent = count_promised(fakes, options.honest_share)
    else:
        sent = options.list_given().get("fakes") or 0
    return found.with_parameter(Parameter.FAKES, sent)


def count_fakes(mechanism: Shuffled) -> int | None:
    """People's fakes in one round; None for a mechanism that has none."""
    return mechanism.fakes_promised // mechanism.repeats if mechanism.takes_fakes else None
