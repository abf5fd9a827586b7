"""The JSON schema of contracts takes every good contract, and refuses what has a wrong type."""

import json
from pathlib import Path

import jsonschema

VECTORS = Path(__file__).parents[2] / "vectors"
SCHEMA = jsonschema.Draft202012Validator(json.loads((VECTORS / "schema/contract.json").read_text()))
TYPES = {"field-missing", "field-unknown", "wrong-type", "unknown-kind", "unknown-cover"}


def contracts():
    """Every vector with a contract that is JSON: its name, the contract and the reason or None."""
    for path in sorted(VECTORS.glob("*.json")):
        vector = json.loads(path.read_text())
        if "contract" not in vector or vector["what"] not in ("messages", "refused contract"):
            continue
        try:
            plain = json.loads(vector["contract"].split("\n\n\u2014 ")[0])
        except ValueError:
            continue
        yield path.stem, plain, vector.get("reason")


def test_good_contracts_fit_and_wrong_types_do_not():
    every = list(contracts())
    good = [name for name, plain, reason in every if reason is None and not SCHEMA.is_valid(plain)]
    assert good == []
    refused = {name for name, plain, reason in every if reason and not SCHEMA.is_valid(plain)}
    assert len(refused) >= 50
    typed = {name for name, _, reason in every if reason in TYPES}
    # A schema takes 1.0 for an integer, which SPEC.md refuses.
    assert typed - refused == {"refused-contract-wrong-type-2"}
