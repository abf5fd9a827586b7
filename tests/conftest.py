"""Properties are tried on the same examples every time, so that a green run stays green."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
