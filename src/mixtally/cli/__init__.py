"""The command line.

Each command imports the packages that it needs only when it runs, so that ``--help`` is fast.
"""
