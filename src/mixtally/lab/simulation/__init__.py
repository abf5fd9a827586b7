"""Whole collections played in one process on known data; the only room with seeds and truth."""
