"""Whole collections simulated in one process on known data, with seeds and true counts."""
