"""Parameters of mechanisms as options, made from the tables of their classes."""

from typing import ClassVar

from mixtally.accounting.parameters import parameter_table
from mixtally.app.options import TableGroup
from mixtally.model.mechanism.parameters import ParameterSpec


class PricedOptions(TableGroup):
    """The parameters of a mechanism that is priced."""

    TABLE: ClassVar[tuple[ParameterSpec, ...]] = parameter_table()


class ParameterOptions(TableGroup):
    """The parameters of a mechanism about which something is claimed."""

    TABLE: ClassVar[tuple[ParameterSpec, ...]] = parameter_table(claimed=True)
