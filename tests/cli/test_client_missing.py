"""``mixtally client`` without a file that it needs."""


def test_files_that_are_not_there_are_not_plans(refused, tmp_path):
    """What to do is what helps here."""
    contract = tmp_path / "contract.note"
    line = refused("client", "show", contract, "--trust", tmp_path / "trust.toml")
    assert "as in docs/how-to/device.md, or give --fingerprint" in line
    line = refused("client", "show", contract)
    assert "ownload it from a role of the contract" in line
    assert "mixtally plan" not in line
