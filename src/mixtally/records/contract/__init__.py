"""Contracts: what strangers can check before they answer."""

from mixtally.records.contract.contract import (
    ADMISSIONS,
    CONTRACT_VERSION,
    LAYER_BYTES,
    SUITES,
    Contract,
    envelope_bytes,
    read_contract,
    read_terms,
    write_contract,
    write_terms,
)
from mixtally.records.contract.note import fingerprint_of, text_of
from mixtally.records.contract.part import FakeRecord, OwnFakes, Part
from mixtally.records.contract.terms import Cover, Prefixes, Terms
from mixtally.records.recipe import BlanksRecipe, NoRecipe, Recipe, ShapedRecipe
from mixtally.records.roles import MOST_HOPS, Role, Rounds, verifier_key, written_key

__all__ = [
    "ADMISSIONS",
    "CONTRACT_VERSION",
    "LAYER_BYTES",
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
    "verifier_key",
    "write_contract",
    "write_terms",
    "written_key",
]
