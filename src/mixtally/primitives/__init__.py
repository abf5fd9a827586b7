"""Ground floor: randomness, packed bits, binomial tails, canonical bytes. Knows no mechanism."""
