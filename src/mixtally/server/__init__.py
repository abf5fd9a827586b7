"""The processes that run a round: mixes, the collector, and the engine that works for them."""
