"""Simulation of whole collections in one process, on known data, with seeds and true counts."""
