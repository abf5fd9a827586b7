"""Hostile roles: a dishonest answer to those who ask misleads and holds up nobody."""

from msgspec.structs import replace

from helpers import contracts
from mixtally.model.question import Question
from mixtally.server.collector import propose
from mixtally.server.node.calls import Answer, call
from mixtally.server.node.peers import format_listing
from network.roles import inner


def proposing(change):
    """The collector proposes a round, and mix 1 answers as it likes."""

    def act(stage):
        def asked(address, method, path, body=b""):
            said = stage.call(address, method, path, body)
            of_mix_1 = address == stage.folders[0].role.address
            return change(stage, path, body, said) if of_mix_1 else said

        agreed = stage.office.contracts.of(stage.fingerprint)
        return propose(stage.collector, agreed, asked, stage.now)

    return act


def with_key(key_of):
    def change(stage, path, _, said):
        return Answer(200, key_of(stage)) if path.endswith("/key") else said

    return proposing(change)


def with_signature(note_of):
    def change(stage, path, body, said):
        return Answer(200, note_of(stage, body)) if b'"sheet"' in body else said

    return proposing(change)


def key_of_mix_2(stage):
    return stage.mixes[1].node.key(stage.fingerprint, 2)


def signature_of_mix_2(stage, body):
    return stage.by(2, body)


def another_text(stage, body):
    return stage.by(1, stage.text_of_sheet(2, expires=10**7))


def false_signature(stage, body):
    return body + stage.folders[0].signer.signature_line(b"another\n")


def begins(shows):
    """Mix 1 begins, and mix 2 answers with this when it is asked what it knows."""

    def act(stage):
        address, usual = stage.folders[1].role.address, stage.call

        def asked(to, method, path, body=b""):
            if to == address and path.startswith("/notes/"):
                return Answer(200, shows)
            return usual(to, method, path, body)

        stage.mixes[0].end()
        stage.call = asked
        stage.mixes[0] = stage.awaken(1)
        stage.mixes[0].tick(stage.now)
        return "waits" if not stage.mixes[0].node.cleared else "serves"

    return act


def not_ready(stage):
    """Mix 1 has handed over, and answers from then on that it takes no notes yet."""
    address, usual = stage.folders[0].role.address, stage.call

    def call(to, method, path, body=b""):
        return Answer(503, b"") if to == address else usual(to, method, path, body)

    stage.call = call
    for role in stage.roles:
        role.peers._call = call
    stage.delivered(1, inner(stage))
    return stage.states().split()[1]


def namesake(stage):
    """In another contract somebody silent has the name of the collector."""
    mix = stage.mixes[0]
    theirs = replace(stage.contract.collector, address="http://127.0.0.1:9")
    for _ in range(5):
        assert mix.peers.send(theirs, "GET", "/status", b"", stage.now) is None
    said = mix.peers.send(stage.contract.collector, "GET", "/status", b"", stage.now)
    return "left alone" if said is None else f"{said.status}"


def no_address(stage):
    """A contract names an address that is none."""
    return call("https://[::1", "GET", "/notes/mix-1")


def words_on_the_page(stage):
    """Labels and operators of a contract that would be read as a page of their own."""
    text = stage.ask(4, "GET", "/").body
    assert b"&lt;script&gt;" in text
    return "a script" if b"<script" in text else "words"


def scripted():
    """A contract of somebody who tries it."""
    words = "<script>alert(1)</script>"
    question = Question(name=words, bins=4, labels=(words, *"abc"))
    part = contracts.shaped(4, shift=3)
    plan = contracts.plan_of(question, [part], hops=3, collections=3, users=1000, minimum_crowd=2)
    return {"plan": plan}


SHARED = {
    "a contract with an address that is none": (no_address, "silence"),
}


ALONE = {
    "a mix that gives the collector another mix's key": (
        with_key(key_of_mix_2),
        "refused: expected one that the contract allows",
    ),
    "a mix that gives the collector no key": (
        with_key(lambda _: b"no key"),
        "refused: expected a key of every mix",
    ),
    "a mix that answers a sheet with another's signature": (
        with_signature(signature_of_mix_2),
        "refused: expected the signature of every mix",
    ),
    "a mix that answers a sheet with another text": (
        with_signature(another_text),
        "refused: expected the signature of every mix",
    ),
    "a mix that answers a sheet with a false signature": (
        with_signature(false_signature),
        "refused: expected the signature of every mix",
    ),
    "a role that shows notes nested deeper than readers go": (begins(b"[" * 200_000), "waits"),
    "a role that shows something else than notes": (begins(b'{"notes": 3}'), "waits"),
    "a role that shows false signatures of the one that begins": (
        begins(format_listing([f"{number:064x}" for number in range(9)])),
        "serves",
    ),
    "a mix that takes no note of those behind it": (not_ready, "shredded/delivered"),
    "a silent namesake in another contract": (namesake, "200"),
    "a contract whose words are a script": (words_on_the_page, "words", scripted()),
}
