"""Use cases of the product, called by the command line and by Python.

Each use case has its own module with a function that takes a crowd and a request, and returns an
``Outcome``. The options of a request are declared once, as fields of its dataclass (``options``).
"""
