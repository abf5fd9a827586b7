"""Shared foundations: randomness, packed bits, binomial tails, canonical bytes and files."""
