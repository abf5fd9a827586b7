"""Contracts and plans: what a person can check before answering."""

from mixtally.device.contract.contract import VERSION as CONTRACT_VERSION
from mixtally.device.contract.fields import fingerprint_of, text_of
from mixtally.device.contract.roles import format_verifier_key
from mixtally.model.contract.contract import (
    SUITES,
    ClientFile,
    Contract,
    envelope_bytes,
    read_contract,
    read_plan,
    write_contract,
    write_plan,
)
from mixtally.model.part import FakeRecord, OwnFakes, Part
from mixtally.model.plan import Cover, Plan, Prefixes
from mixtally.model.planes import Planes
from mixtally.model.recipe import BlanksRecipe, CountedRecipe, NoRecipe, Recipe, UniformRecipe
from mixtally.model.roles import Role, Rounds
from mixtally.model.shape import GaussianShape, LaplaceShape, Shape

__all__ = [
    "CONTRACT_VERSION",
    "SUITES",
    "BlanksRecipe",
    "ClientFile",
    "Contract",
    "CountedRecipe",
    "Cover",
    "FakeRecord",
    "GaussianShape",
    "LaplaceShape",
    "NoRecipe",
    "OwnFakes",
    "Part",
    "Plan",
    "Planes",
    "Prefixes",
    "Recipe",
    "Role",
    "Rounds",
    "Shape",
    "UniformRecipe",
    "envelope_bytes",
    "fingerprint_of",
    "format_verifier_key",
    "read_contract",
    "read_plan",
    "text_of",
    "write_contract",
    "write_plan",
]
