"""Privacy accounting: delta of a mechanism, composed over messages, parts and collections.

Fakes, and the randomness in other people's messages, hide the message of a person.
``plans.honest_part`` explains the terms of a plan. Terms that are used in all files of the package:

- A *fake* is a dummy message without an answer. A *coin* decides at random whether a device sends
  one more fake.
- A record or a fake is *in clear* if it is sent without flipped bits.
- People, flips or fakes *count* if the proof relies on them.
- A loss distribution *dominates* a pair of distributions if its delta is at least as large at every
  epsilon.
- P_u is the distribution of what the observer sees if the person's record is u. Two neighbors u and
  v have two *orders*: the divergence of P_u from P_v, and that of P_v from P_u. Delta is the larger
  divergence. The *worse* order is the one with the larger divergence.
- A *price* is one delta of one message at one epsilon. Prices measure the work of a search.
"""
