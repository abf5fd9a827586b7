"""Contracts: what strangers can check before they answer."""

from mixtally.contract.contract import VERSION as CONTRACT_VERSION
from mixtally.contract.reading import fingerprint_of, text_of
from mixtally.contract.roles import written_key
from mixtally.contract.terms import MOST_HOPS
from mixtally.records.contract.contract import (
    SUITES,
    Contract,
    envelope_bytes,
    read_contract,
    read_terms,
    write_contract,
    write_terms,
)
from mixtally.records.contract.part import FakeRecord, OwnFakes, Part
from mixtally.records.contract.terms import Cover, Prefixes, Terms
from mixtally.records.recipe import BlanksRecipe, NoRecipe, Recipe, ShapedRecipe
from mixtally.records.roles import Role, Rounds

__all__ = [
    "CONTRACT_VERSION",
    "MOST_HOPS",
    "SUITES",
    "BlanksRecipe",
    "Contract",
    "Cover",
    "FakeRecord",
    "NoRecipe",
    "OwnFakes",
    "Part",
    "Prefixes",
    "Recipe",
    "Role",
    "Rounds",
    "ShapedRecipe",
    "Terms",
    "envelope_bytes",
    "fingerprint_of",
    "read_contract",
    "read_terms",
    "text_of",
    "write_contract",
    "write_terms",
    "written_key",
]
