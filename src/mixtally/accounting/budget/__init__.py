"""Privacy over several collections: composition, the ledger of what was spent, local bounds."""
