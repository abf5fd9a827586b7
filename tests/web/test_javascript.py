"""The device in JavaScript: given the same words it sends the same bytes, and refuses alike.

Two programs that share nothing but the contract's bytes. Every vector, and the rules of the diary,
are tested by ``npm test`` in ``web/``, which ``make web`` runs.
"""

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from helpers import contracts
from mixtally.device import client
from mixtally.device.client.limits import Limits
from mixtally.device.client.net import Pins, verify_contract
from mixtally.errors import RefusedError
from mixtally.model.contract import write_contract
from spec.altered import altered, places
from spec.test_same_reasons import VALUES
from web.page_scene import UNIFORM, make_rounds

WEB = Path(__file__).parents[2] / "web"
PREFIXES = (None, None, None, [[]], [], [[1]], [[1], [1]], [[9]], [[0]], [[1] * 9])

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (WEB / "node_modules").is_dir(),
    reason="needs Node and the packages that `make web` installs",
)


def ask_node(cases, program="test/read-lines.js"):
    """What the package finds for each case."""
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    found = subprocess.run(
        ["node", program], cwd=WEB, input=lines, capture_output=True, text=True, timeout=600
    )
    assert found.returncode == 0, found.stderr[-2000:]
    return [json.loads(line) for line in found.stdout.splitlines()]


def case_of(seed, *, any_value=False):
    """A random contract with a value and words, and what the device in Python makes of it."""
    chance = random.Random(seed)
    made = contracts.random_contract(chance)
    data, value = write_contract(made), contracts.random_value(chance, made.plan)
    prefixes = contracts.random_prefixes(chance, made.plan)
    closing = made.plan.prefixes is not None and chance.random() < 0.3
    if any_value:
        value = chance.choice([value, chance.choice([*VALUES, chance.randrange(9), "abc"])])
        prefixes = chance.choice([prefixes, chance.choice(PREFIXES)])
    used = []

    def words(count):
        used.append(chance.randbytes(8 * count))
        return used[-1]

    more = {"prefixes": prefixes, "closing": closing}
    try:
        plan = client.parse_contract(data).plan
        sent = client.messages(plan, value, words, **more)
        wanted = {"messages": [[one.hex() for one in part] for part in sent], "unused": 0}
    except RefusedError as error:
        wanted = {"reason": error.reason}
    case = {"what": "messages", "contract_hex": data.hex(), "value": value, **more}
    return case | {"words": b"".join(used).hex()}, wanted


def differences(seeds, **kind):
    cases, wanted = zip(*(case_of(seed, **kind) for seed in seeds), strict=True)
    found = ask_node(cases)
    assert len(found) == len(wanted)
    return [(seed, a, b) for seed, a, b in zip(seeds, found, wanted, strict=True) if a != b]


def test_the_same_words_give_the_same_bytes():
    assert differences(range(150)) == []


@pytest.mark.slow
def test_the_same_words_give_the_same_bytes_in_thousands_of_plans():
    assert differences(range(150, 5150)) == []


def test_values_are_refused_for_the_same_reasons():
    """JavaScript has no integers: 1 and 1.0, and 1 and true in a prefix, are the same there."""
    seeds = range(10_000, 10_600)
    assert differences(seeds, any_value=True) == []


def verdict(data):
    try:
        client.parse_contract(data)
    except RefusedError:
        return False
    return True


def differing_verdicts(seeds, some):
    """Altered contracts that one takes and the other refuses."""
    every = []
    for seed in seeds:
        chance = random.Random(seed)
        plain = json.loads(write_contract(contracts.random_contract(chance)))
        paths = chance.choices([path for path in places(plain) if path], k=some)
        every += [json.dumps(altered(plain, path, chance)).encode() for path in paths]
    found = ask_node({"what": "refused contract", "contract_hex": one.hex()} for one in every)
    pairs = zip(every, found, strict=True)
    return [(data, node) for data, node in pairs if verdict(data) == ("reason" in node)]


def test_the_same_contracts_are_taken():
    assert differing_verdicts(range(20), 30) == []


@pytest.mark.slow
def test_the_same_are_taken_of_many_more():
    assert differing_verdicts(range(20, 220), 50) == []


def test_both_devices_have_the_same_default_limits():
    """Every limit that one of them has, so that nobody takes part with one and not the other."""
    program = (
        "import('./src/limits.js').then((one) => console.log(JSON.stringify(one.DEFAULT_LIMITS)))"
    )
    done = subprocess.run(
        ["node", "--eval", program],
        cwd=WEB,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    python = {
        name: sorted(limit) if isinstance(limit, frozenset) else limit
        for name, limit in Limits()._asdict().items()
    }
    found = json.loads(done.stdout)
    assert {
        name: sorted(one) if isinstance(one, list) else one for name, one in found.items()
    } == python


def promise(epsilon, delta):
    """The edit of a contract that promises this, all roles sign, and nobody proves."""
    guarantee = {"epsilon": epsilon, "delta": delta, "observer": "messages"}
    bounds = {"epsilon": epsilon, "lower": 0, "upper": delta, "observer": "messages"}
    certificate = {**bounds, "status": "proved", "source": "", "assumption": ""}
    return {"plan": {"guarantee": guarantee, "certificate": certificate}}


ADDRESSES = (
    "mix.example?a", "mix.example#a", "me@mix.example", "mix.example\\a", "mix.example:0", ":443",
    "mix.example:65536", "mix.example:a", "[::1",
)  # fmt: skip
BY_DEFAULT = {
    "usual": (promise(1, 1e-6), None),
    "delta": (promise(1, 1.0000001e-6), "above-own-limit"),
    "epsilon": (promise(1.0000001, 1e-6), "above-own-limit"),
    **{
        f"{role} {address}": (
            {
                "roles": [
                    {"address": f"https://{address}"} if one == role else {} for one in range(3)
                ]
            },
            "address-malformed",
        )
        for role in (0, 2)
        for address in ADDRESSES
    },
}


def test_both_devices_take_the_same_contracts_by_default():
    edits, wanted = zip(*BY_DEFAULT.values(), strict=True)
    made = make_rounds({"vector": UNIFORM, **one} for one in edits)
    cases = [{"what": "trusted contract", **one} for one in made]
    in_javascript = [one.get("reason") for one in ask_node(cases)]
    in_python = []
    for one in made:
        try:
            verify_contract(one["note"].encode(), Pins(one["fingerprint"]), Limits())
            in_python.append(None)
        except RefusedError as error:
            in_python.append(error.reason)
    found = zip(BY_DEFAULT, in_javascript, in_python, strict=True)
    assert [
        one for one, reason in zip(found, wanted, strict=True) if one[1:] != (reason, reason)
    ] == []


def test_another_byte_is_noticed(tmp_path):
    """A planted bug: fakes are drawn from one cell less than there are."""
    copy = tmp_path / "web"
    shutil.copytree(WEB, copy, symlinks=True)
    draw = copy / "src/draw.js"
    before = draw.read_text()
    planted = before.replace(
        "words.uniform(part.layout.bins)]", "words.uniform(part.layout.bins - 1n)]"
    )
    assert planted != before
    draw.write_text(planted)
    cases, wanted = zip(*(case_of(seed) for seed in range(60)), strict=True)
    found = ask_node(cases, str(copy / "test/read-lines.js"))
    assert any(a != b for a, b in zip(found, wanted, strict=True))
