"""Simulation of whole collections in one process, on known data, with seeds and true counts.

Terms: the *truth* of a result is everything that only a simulation knows. To *play* a round is to
simulate it with real messages. A *release* is one simulated collection and its result. In
documents, however, a *release* is a result without the truth, which may be published. A *figure* is
a set of numbers derived from the same messages as the counts, such as means. The *promise* is the
guarantee as a document states it, in three lines. A *part* of a plan is a stream of messages, to
which every device contributes the same piece of its record. A record is sent *in clear* if its
message is not randomized. A *fake* is a dummy message, and a *blank* is a fake without set bits.
A *hop* is one mix of the chain. A *plane* is a set of possible values; a message can name a random
plane that contains the true value.
"""
