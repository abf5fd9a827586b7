"""A mix as a process: it takes sealed bundles, opens its layer, adds fakes, orders, hands on.

It reads a job, never a question. Worker processes import this room, so its door is empty.
"""
