"""Batches opened, ordered and folded: by this process, by others beside it, or by many machines.

Whoever does it, the same bytes leave. Worker processes import this room, so its door is empty.
"""
