"""Privacy over several collections: composition, the ledger of spent privacy, and local bounds."""
