"""What several collections tell together: privacy loss distributions, and the ledger."""
