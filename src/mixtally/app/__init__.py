"""Use cases of the product, called by the command line and by Python.

Each use case has its own module with a function that takes a request, and for a simulation a crowd
(people with known answers). Simulations return an ``Outcome``. The options of a request are
declared once, as fields of its dataclass (``options``).
"""
