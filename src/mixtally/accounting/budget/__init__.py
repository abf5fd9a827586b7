"""Privacy over several collections: composition, the ledger of spent epsilon, local guarantees."""
