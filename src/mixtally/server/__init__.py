"""Processes that run a round: mixes, the collector, and the engine that processes their batches."""
