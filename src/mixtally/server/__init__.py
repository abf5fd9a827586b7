"""Processes that run a round: mixes, the collector, and the engine that processes their batches.

Terms: a *role* is a mix or the collector. A *hop* is a mix at its position in the chain. A
*contract* is a plan with its roles, which all of them have signed. A *round* is one collection
under a contract, and its *sheet* states its times and keys. A *batch* is all messages that one role
sends to the next in a round.
"""
