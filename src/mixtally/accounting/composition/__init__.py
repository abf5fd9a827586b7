"""What several collections reveal together: privacy loss distributions, and the ledger."""
