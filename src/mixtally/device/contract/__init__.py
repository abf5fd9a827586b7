"""The contract in plain data: formats, ranges and consistency.

Only the standard library is needed, so that a device (``client``) needs nothing else. The package
``model.contract`` has the same data as structs that are made, priced and written.

Terms: a *fake* is a dummy message without an answer. A *hop* is a mix at its position in the chain.
A *part* is one stream of messages, with a tally of its own. The *cover* is what protects a person:
fakes, or the random flips of other people.
"""
