"""Uses: from a typed request to what comes of it, for the command line and for Python alike.

Each use is a function in a file of its own: a crowd and a request in, an ``Outcome`` out. What a
request may say is declared once, as the fields of its class (``options``).
"""
