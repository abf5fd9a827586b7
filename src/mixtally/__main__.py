"""``python -m mixtally``: the command line, where its script is not on the path."""

from mixtally.cli.main import run

run()
