"""Options that describe a mechanism, derived from the tables of mechanism parameters.

``price`` calls these functions for the command line and for Python.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from mixtally.accounting.accountant import Record
from mixtally.accounting.parameters import (
    Parameters,
    ParsedParameters,
    check_parameters,
    parameter_table,
)
from mixtally.accounting.parameters import parse_parameters as read
from mixtally.app import options as o
from mixtally.errors import ParameterError
from mixtally.model.guarantee import count_promised
from mixtally.model.mechanism import Memoized, Parameter, Shuffled, mechanisms
from mixtally.model.mechanism.memoized import make_memoized as made
from mixtally.model.mechanism.parameters import ParameterSpec, describe_required_options

MEMORY = "memory"
PROTOCOLS = [name for kind in mechanisms() for name in kind.PROTOCOLS]
NEEDED = [
    line
    for kind in mechanisms()
    for line in describe_required_options(kind.PROTOCOLS, kind.PARAMETERS)
]
"""One phrase for each protocol: the options that it requires."""
SOUGHT = [
    f"{name} --{' or --'.join(one.sought)}".replace("_", "-")
    for kind in mechanisms()
    for name, one in kind.PROTOCOLS.items()
]
"""One phrase for each protocol: the option whose value is found if it is left out."""


class PricedOptions(o.TableGroup):
    """Parameters of a mechanism whose delta or noise is computed."""

    TABLE: ClassVar[tuple[ParameterSpec, ...]] = parameter_table()


class ParameterOptions(o.TableGroup):
    """Parameters of a mechanism about which a claim is made."""

    TABLE: ClassVar[tuple[ParameterSpec, ...]] = parameter_table(claimed=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismOptions:
    """The protocol and the parameters of a mechanism."""

    protocol: Annotated[
        str, o.option("--protocol", f"{', '.join(PROTOCOLS[:-1])} or {PROTOCOLS[-1]}.", "NAME")
    ]
    parameters: PricedOptions
    honest_share: o.HonestShare = 1.0

    @property
    def users(self) -> int | None:
        """The number of people who take part; None if the option is not set."""
        users: int | None = self.list_given().get("users")
        return users

    def list_given(self) -> dict[str, Any]:
        """Return the parameters that are set, by name; not the protocol or the honest share."""
        return dict(self.parameters.given)


def parse_record(
    options: MechanismOptions, *, for_epsilon: float | None = None
) -> ParsedParameters:
    """Return the record (the messages of one person's answer) that the options describe.

    If ``for_epsilon`` is not None, one parameter is left out, so that a caller can find it for this
    epsilon. Raises ParameterError for parameters that are missing, unknown or out of range.
    """
    o.check_one_of("protocol", options.protocol, PROTOCOLS)
    given = Parameters(**options.list_given())
    return read(options.protocol, given, options.honest_share, for_epsilon=for_epsilon)


def parse_memoized(options: MechanismOptions, *, seek: bool = False) -> tuple[Memoized, int]:
    """Return the mechanism of memoized answers and the number of observed reports.

    With ``seek`` the permanent noise f is left out, so that a caller can find it; the returned
    mechanism has f = 1. Raises ParameterError for parameters that are missing or unknown.
    """
    if options.honest_share < 1.0:
        raise ParameterError(
            "--honest-share",
            expected="a protocol that relies on fakes or flips of other people",
            got=MEMORY,
            do="leave it out: the noise of memoized answers comes from each person alone",
        )
    sought = {*Memoized.PROTOCOLS[MEMORY].sought} if seek else set()
    given = check_parameters(Memoized, MEMORY, Parameters(**options.list_given()), sought)
    permanent = 1.0 if given.permanent is None else given.permanent
    bins = max(2, 2 * given.hashes)
    return made(bins, permanent, given.p, given.q, hashes=given.hashes), given.reports


def standard_error(
    options: MechanismOptions, asked: ParsedParameters, found: Record
) -> tuple[float | None, int | None]:
    """Return the standard error of a count and the number of people for which it is computed.

    This number is the option ``users`` or, if the option is not set, the number of fakes. If there
    are neither users nor fakes, both returned values are None.
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
    """Return the record with all fakes, honest or not, because errors depend on all messages.

    ``found`` has only the honest fakes that the guarantee counts. If their number was searched for,
    the total is computed from the honest share; otherwise it is the option ``fakes``.
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
    """Return the number of people's fakes in one round; None for a mechanism without fakes."""
    return mechanism.fakes_promised // mechanism.repeats if mechanism.takes_fakes else None
