"""Shared foundations: randomness, packed bits, binomial tails, canonical bytes and files.

Terms: a *word* is a 64-bit integer, and a ``Chance`` is a source of uniform random words. A
*threshold* is a probability times 2^64, as an integer. A *coin* is a random bit that is one with
such a probability. A *row* is one message or record as packed bits; its *padding* is the unused
bits of its last byte.
"""
