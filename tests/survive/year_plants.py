"""Faults that a soak must find: each is planted in the process of one role."""

from itertools import count

from msgspec.structs import replace

from mixtally.server.collector import collector
from mixtally.server.mix import intake, mix


def loses():
    """The intake of a mix that forgets a body of every third commit, and acknowledges it."""
    usual, commits = intake._join_to_rows, count(1)
    intake._join_to_rows = lambda bodies: usual(list(bodies)[next(commits) % 3 == 0 :])


def doubles():
    """A collector that counts the first person once more."""
    usual = collector.count_batch

    def counted(pieces):
        tally = usual(pieces)
        (part,) = tally.parts
        more = replace(part, counts=[part.counts[0] + 1, *part.counts[1:]])
        return replace(tally, parts=(more,))

    collector.count_batch = counted


def crashes():
    """A mix whose loop ends by itself after a while."""
    usual, turns = mix.Mix.tick, count(1)

    def tick(role, now):
        if next(turns) == 100:
            raise RuntimeError("planted")
        usual(role, now)

    mix.Mix.tick = tick


PLANTS = {"mix-1": loses, "collector": doubles, "mix-2": crashes}
"""Role -> what is planted in it."""
