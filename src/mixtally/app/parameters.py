"""Options for the parameters of mechanisms, derived from the tables of their classes."""

from typing import ClassVar

from mixtally.accounting.parameters import parameter_table
from mixtally.app.options import TableGroup
from mixtally.model.mechanism.parameters import ParameterSpec


class PricedOptions(TableGroup):
    """Parameters of a mechanism whose delta or noise is computed."""

    TABLE: ClassVar[tuple[ParameterSpec, ...]] = parameter_table()


class ParameterOptions(TableGroup):
    """Parameters of a mechanism about which a claim is made."""

    TABLE: ClassVar[tuple[ParameterSpec, ...]] = parameter_table(claimed=True)
