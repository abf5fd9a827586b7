"""Hostile roles: what was altered at any depth, or is out of place, is dropped and counted."""

from network.roles import inner
from network.stage import BINS, of_one, people


def flipped(data, place):
    """With one bit of a byte turned; places may count from the end."""
    bent = bytearray(data)
    bent[place] ^= 1
    return bytes(bent)


def altered(hop, place, *, first=1):
    """An envelope for ``first`` with a byte altered in the layer of ``hop``; others are whole."""

    def make(stage):
        layer = flipped(stage.sealed(BINS[3], first=hop), place)
        return layer if hop == first else stage.wrapped(layer, first=first, last=hop - 1)

    return make


def from_a_person(make):
    """A person sends it beside others."""

    def act(stage):
        people(stage)
        assert stage.send(of_one(make(stage))).status == 201
        stage.finish()
        return stage.drops()

    return act


def from_mix_1(make):
    """Mix 1 hands it over beside honest answers."""

    def act(stage):
        stage.delivered(1, [*inner(stage), make(stage)])
        return stage.drops()

    return act


def five_times(stage):
    """Mix 1 repeats the envelope that it wants to recognize."""
    several = inner(stage)
    stage.delivered(1, [*several, *several[:1] * 4])
    return stage.drops()


def for_another(first):
    """It is sealed as if it were another role's turn."""

    def make(stage):
        size = stage.jobs[0].sizes[0][1]
        return (stage.sealed(BINS[3], first=first) + bytes(size))[:size]

    return make


def of_the_second(stage):
    """An envelope of the second round, whose keys all roles have."""
    note = stage.text_of_sheet(2)
    return stage.sealed(BINS[3], first=2, note=note)


def past_the_last_bin(stage):
    """The last mix sends answers that nobody can give."""
    stage.delivered(3, [stage.sealed(one, first=4) for one in (*BINS, b"\x04", b"\xff")])
    return stage.drops()


def nonsense(make, count=50):
    """A stranger sends far more bundles than everybody else together; the round is released."""

    def act(stage):
        people(stage)
        body = b"".join(of_one(make(stage, i)) for i in range(count))
        assert stage.send(body).status == 201
        stage.finish()
        return f"{stage.row().state}: {stage.drops()}"

    return act


def random_bytes(stage, i):
    """Of the right length."""
    return i.to_bytes(2) * (stage.jobs[0].sizes[0][0] // 2) + bytes(stage.jobs[0].sizes[0][0] % 2)


def sealed_for_mix_1(stage, i):
    """It opens there, and holds nothing for the others."""
    return stage.wrapped(bytes([i + 1]) * stage.jobs[0].sizes[0][1])


def padding(stage, _):
    """It fills the slot of a fake in a contract whose devices toss coins; here they toss none."""
    return stage.wrapped(bytes(stage.jobs[0].sizes[0][1]))


def zeros(stage):
    """The last mix sends as many bytes as an envelope has."""
    size = stage.jobs[0].sizes[0][-1]
    stage.delivered(3, [*(stage.sealed(one, first=4) for one in BINS), bytes(size)])
    return stage.drops()


ALONE = {
    "the first layer altered in its share of a key": (
        from_a_person(altered(1, 0)),
        "mix-1: left out 1",
    ),
    "the first layer altered in its last byte": (
        from_a_person(altered(1, -1)),
        "mix-1: left out 1",
    ),
    "the second layer altered by a person": (from_a_person(altered(2, 40)), "mix-2: unopened 1"),
    "the third layer altered by a person": (from_a_person(altered(3, 40)), "mix-3: unopened 1"),
    "the collector's layer altered by a person": (
        from_a_person(altered(4, 40)),
        "collector: not sealed for this round 1",
    ),
    "the second layer altered by mix 1": (
        from_mix_1(altered(2, 33, first=2)),
        "mix-2: unopened 1",
    ),
    "the third layer altered by mix 1": (
        from_mix_1(altered(3, 33, first=2)),
        "mix-3: unopened 1",
    ),
    "the collector's layer altered by mix 1": (
        from_mix_1(altered(4, 33, first=2)),
        "collector: not sealed for this round 1",
    ),
    "an envelope for mix 3 given to mix 2": (from_mix_1(for_another(3)), "mix-2: unopened 1"),
    "an envelope of another round given to mix 2": (from_mix_1(of_the_second), "mix-2: unopened 1"),
    "one envelope five times, given to mix 2": (five_times, "mix-2: copies 4"),
    "answers past the last bin": (past_the_last_bin, "collector: a bin past the last 2"),
    "bundles of random bytes": (nonsense(random_bytes), "released: mix-1: left out 50"),
    "bundles that only mix 1 can open": (
        nonsense(sealed_for_mix_1),
        "released: mix-2: unopened 50",
    ),
    "bundles of padding where no coin is tossed": (
        nonsense(padding),
        "released: mix-1: left out 50",
    ),
    "zeros in place of an envelope": (zeros, "collector: not sealed for this round 1"),
}
