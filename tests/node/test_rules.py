"""Which sheets a role signs: each rule by name."""

import pytest
from msgspec.structs import replace

from helpers.roles_in_folders import EVERY, OPEN, START, Village
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.problem import Problem
from mixtally.device.wire.sheet import read_sheet, write_sheet, write_withdrawal
from mixtally.server.node.node import Node
from mixtally.server.node.refusal import OldStateError, ProblemError
from mixtally.server.node.rules import LEAST_AHEAD, check_number


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, hops=2)


@pytest.fixture
def nodes(village):
    return village.nodes()


def proposed(village, text):
    """A sheet as only its collector has signed it, whatever the collector's own rules are."""
    return sign_note(text, village.folders[-1].signer)


def refused(node, note, now):
    with pytest.raises(ProblemError) as error:
        node.take_note(note, now)
    assert node.rounds.all() == [] or node.rounds.all()[-1].round != 2
    return error.value


def test_all_sign_and_know(village, nodes):
    note = village.agreed(nodes)
    for node in nodes:
        (row,) = node.rounds.all()
        assert node.is_complete(row)
        assert node.sheet_note(row).count("\u2014".encode()) == 3
        assert node.take_note(note, village.now + 10**9) == node.sheet_note(
            row
        )  # whatever the time


@pytest.mark.parametrize("every", [EVERY, 3 * LEAST_AHEAD])
def test_no_round_opens_further_ahead_than_rounds_are_apart(tmp_path, every):
    """A year typed wrong would keep every later round from opening before it."""
    village = Village(tmp_path, hops=2, rounds_every=every)
    nodes = village.nodes()
    far = village.now + max(every, LEAST_AHEAD)

    def sheet(number, opens):
        times = {"opens": opens, "closes": opens + OPEN, "expires": opens + OPEN + 9}
        return proposed(village, village.sheet(nodes, number, **times))

    said = refused(nodes[0], sheet(1, far + 1), village.now).detail
    assert f"{far - village.now} seconds from now at the latest: by 1970-01-1" in said
    note = sheet(1, far)
    for node in nodes[:-1]:
        node.take_note(note, village.now)
    assert nodes[0].rounds.all()[0].opens == far
    assert "latest" in refused(nodes[0], sheet(2, far + every + far), village.now).detail
    nodes[0].take_note(sheet(2, far + every + max(every, LEAST_AHEAD)), village.now)


def test_a_round_that_has_not_opened_is_withdrawn_by_all(village, nodes):
    village.now = START - 700
    village.agreed(nodes)
    (row,) = nodes[0].rounds.all()
    text = write_withdrawal(row.sheet)
    assert nodes[0].rounds.last_binding(row.name) == row
    for signer in (village.folders[0].signer, Signer("collector", b"s" * 32)):
        with pytest.raises(ProblemError) as error:
            nodes[1].take_note(sign_note(text, signer), village.now)
        assert error.value.problem is Problem.NOT_SIGNED
    note = nodes[-1].withdraw(row, village.now)
    for node in [*nodes, *nodes]:
        note = node.take_note(note, village.now)
    assert note.count("\u2014".encode()) == 3
    for node in nodes:
        (gone,) = node.rounds.all()
        assert gone.ended == "withdrawn"
        assert node.rounds.last_binding(row.name) is None
        assert node.take_note(note, row.closes) == note  # whatever the time
    assert "round 1 was signed already" in refused_key(nodes[0], village, 1)
    second = village.sheet(nodes, 2, opens=START, closes=START + OPEN)
    note = nodes[-1].propose(second, village.now)
    assert [
        node.take_note(note, village.now) and node.rounds.last(row.name).round for node in nodes
    ]


def refused_key(node, village, number):
    """Why no sheet of the number is signed any more."""
    with pytest.raises(ProblemError) as error:
        check_number(village.agreement(1), 1, node.rounds.last("home-page"), number)
    return error.value.detail


@pytest.mark.parametrize(
    ("late", "said"), [(0, "600 seconds"), (-600, None), (-599, "600 seconds")]
)
def test_a_round_that_opens_soon_or_has_opened_is_not(village, nodes, late, said):
    village.agreed(nodes)
    (row,) = nodes[0].rounds.all()
    note = sign_note(write_withdrawal(row.sheet), village.folders[-1].signer)
    if said is None:
        assert nodes[0].take_note(note, row.opens + late)
    else:
        assert said in refused(nodes[0], note, row.opens + late).detail
        assert nodes[0].rounds.all() == [row]


def test_a_withdrawal_of_a_sheet_that_is_not_known(village, nodes):
    note = sign_note(write_withdrawal("0" * 64), village.folders[-1].signer)
    with pytest.raises(ProblemError) as error:
        nodes[0].take_note(note, village.now)
    assert error.value.problem is Problem.UNKNOWN


def test_a_forgotten_withdrawal_stops_a_role(village, nodes):
    village.agreed(nodes)
    (row,) = nodes[0].rounds.all()
    signers = [village.folders[0].signer, village.folders[-1].signer]
    with pytest.raises(OldStateError):
        nodes[0].take_note(sign_note(write_withdrawal(row.sheet), *signers), START - 700)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"round": 4}, "3 rounds"),
        ({"closes": START + OPEN + 1}, "times-out-of-range"),
        ({"opens": START - OPEN, "closes": START}, "over already"),
        ({"expires": START + OPEN + 10**7 + 1}, "times-out-of-range"),
    ],
)
def test_times_and_numbers(village, nodes, changes, said):
    text = village.sheet(nodes, 1, **changes)
    assert said in refused(nodes[0], proposed(village, text), village.now).detail


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"opens": START + OPEN - 1, "closes": START + 2 * OPEN - 1}, "not over then"),
        (
            {"opens": START + EVERY - 1, "closes": START + EVERY - 1 + OPEN},
            "seconds after the one before",
        ),
    ],
)
def test_rounds_do_not_overlap(village, nodes, changes, said):
    village.agreed(nodes)
    text = village.sheet(nodes, 2, **changes)
    assert said in refused(nodes[0], proposed(village, text), village.now).detail


def test_a_number_is_used_once_and_in_order(village, nodes):
    early = village.sheet(nodes, 1, expires=START + OPEN + 77)
    village.agreed(nodes, 2)
    with pytest.raises(ProblemError) as error:
        nodes[0].take_note(proposed(village, early), village.now)
    assert "round 2 was signed already" in error.value.detail
    another = write_sheet(read_sheet(village.sheet(nodes, 2, expires=START + 10**6)))
    with pytest.raises(ProblemError) as error:
        nodes[0].take_note(proposed(village, another), village.now)
    assert error.value.problem is Problem.ANOTHER_NOTE


def test_a_key_of_its_own_in_its_own_place(village, nodes):
    keys = read_sheet(village.sheet(nodes)).keys
    foreign = nodes[0].key(village.fingerprint, 2)
    for wrong, said in (
        ((keys[1], keys[0], keys[2]), "another one"),
        ((foreign, *keys[1:]), "another one"),
        (keys[:2], "keys-miscounted"),
        ((keys[0], keys[0], keys[2]), "key-twice"),
        ((keys[0], keys[1][:-1], keys[2]), "key-configuration"),
        ((keys[0], b"", keys[2]), "key-configuration"),
    ):
        text = village.sheet(nodes, keys=wrong)
        assert said in refused(nodes[0], proposed(village, text), village.now).detail


def test_no_key_was_asked_for(village, nodes):
    text = village.sheet(nodes)
    nodes[0].keys.destroy(nodes[0].keys.all()[0])
    assert "ask for it" in refused(nodes[0], proposed(village, text), village.now).detail


def test_strangers_use_up_no_round(village, nodes):
    text = village.sheet(nodes)
    for note in (
        text,
        sign_note(text, Signer("collector", b"s" * 32)),
        sign_note(text, nodes[1].signer),
    ):
        assert refused(nodes[0], note, village.now).problem is Problem.NOT_SIGNED
    assert nodes[0].take_note(proposed(village, text), village.now)


def test_a_contract_that_was_not_signed(village, nodes):
    sheet = read_sheet(village.sheet(nodes))._replace(contract="0" * 64)
    note = proposed(village, write_sheet(sheet))
    assert refused(nodes[0], note, village.now).problem is Problem.UNKNOWN
    assert (
        refused(nodes[0], village.text.replace(b"home", b"hone"), 0).problem is Problem.NOT_AGREED
    )


def test_nothing_is_signed_before_others_were_asked(village, nodes):
    text = village.sheet(nodes)
    nodes[0].cleared.clear()
    assert refused(nodes[0], proposed(village, text), village.now).problem is Problem.NOT_READY
    with pytest.raises(ProblemError):
        nodes[0].key(village.fingerprint, 2)


def test_a_later_serial_ends_the_earlier_but_counts_its_rounds(village, nodes):
    village.agreed(nodes)
    text = village.sheet(nodes, 2)
    later = replace(village.agreement(1), contract="7" * 64, serial=2)
    nodes[0].sign_contract(later, b"{}\n")
    nodes[0].start_serving(later)
    nodes[0].cleared.add("7" * 64)
    assert "later serial" in refused(nodes[0], proposed(village, text), village.now).detail
    with pytest.raises(ProblemError, match="round 1 was signed already"):
        nodes[0].key("7" * 64, 1)
    assert nodes[0].key("7" * 64, 2)


def test_two_contracts_of_one_serial(village, nodes):
    other = replace(village.agreement(1), contract="7" * 64)
    with pytest.raises(ProblemError) as error:
        nodes[0].sign_contract(other, b"{}\n")
    assert error.value.problem is Problem.ANOTHER_NOTE


def test_keys_are_made_once_and_end_with_their_turn(village, nodes):
    first, second = (nodes[0].key(village.fingerprint, number) for number in (1, 2))
    assert first == nodes[0].key(village.fingerprint, 1) != second
    village.agreed(nodes, 2)
    assert [name.rpartition("-")[2] for name in nodes[0].keys.all()] == ["2"]
    assert nodes[0].key(village.fingerprint, 2) == second
    for number in (1, 4):
        with pytest.raises(ProblemError):
            nodes[0].key(village.fingerprint, number)


def test_a_sheet_of_ones_own_that_the_disk_lacks_stops_the_role(village, nodes):
    text = village.sheet(nodes)
    note = sign_note(text, village.folders[-1].signer, village.folders[0].signer)
    with pytest.raises(OldStateError):
        nodes[0].take_note(note, village.now)
    assert isinstance(nodes[0].fatal_error, OldStateError)


def test_a_role_that_starts_again_signs_the_same(village, nodes):
    note = village.agreed(nodes)
    nodes[0].close()
    again = village.node(1)
    assert isinstance(again, Node)
    assert again.take_note(note, village.now) == again.sheet_note(again.rounds.all()[0])
