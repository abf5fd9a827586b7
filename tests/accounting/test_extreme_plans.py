"""Plans at the ends of what a file may say: a certificate, or a refusal, and no other error."""

import pytest
from msgspec.structs import replace

from helpers import contracts as c
from mixtally.errors import MixtallyError
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.question import Kind, Question
from mixtally.primitives.fixed_point import SCALE

COINS = {
    "none": None,
    "hardly any": OwnFakes(FakeRecord.UNIFORM, 0, 1),
    "nearly one": OwnFakes(FakeRecord.UNIFORM, 0, SCALE - 1),
    "many": OwnFakes(FakeRecord.UNIFORM, 1000, SCALE // 2),
}
CHANCES = {"hardly": 1, "half": SCALE // 2, "nearly": SCALE - 1}
FORMS = {"two bins": (2, 1), "bins": (7, 1), "sets": (7, 3)}


def asked(bins, most):
    return Question(name="q", bins=bins, kind=Kind.SET if most > 1 else Kind.ONE, max_set=most)


def stands(part, bins, most, users, epsilon):
    plan = c.plan_of(asked(bins, most), [part], epsilon=epsilon, delta=0.1, users=users, hops=1)
    try:
        certificate = c.proved(plan).certificate
    except MixtallyError:
        return
    assert 0.0 <= certificate.lower <= certificate.upper <= 0.1


@pytest.mark.parametrize("epsilon", [0.01, 20.0])
@pytest.mark.parametrize("users", [2, 3000])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("coins", COINS)
@pytest.mark.parametrize("chance", CHANCES)
def test_replaced_values(chance, coins, form, users, epsilon):
    bins, most = FORMS[form]
    part = c.replaced(bins, own=COINS[coins], most_set=most)
    stands(replace(part, replaced=CHANCES[chance]), bins, most, users, epsilon)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("users", [2, 3000])
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("coin", [1, SCALE - 1])
def test_flips(coin, most, users, epsilon):
    own = OwnFakes(FakeRecord.BLANK, 1, coin)
    stands(c.flipped(3, most_set=most, q=0.05, own=own), 3, most, users, epsilon)


@pytest.mark.parametrize("epsilon", [0.01, 20.0])
@pytest.mark.parametrize("users", [2, 3000])
@pytest.mark.parametrize("prime", [7, 23])
@pytest.mark.parametrize("coins", [name for name in COINS if name != "none"])
@pytest.mark.parametrize("most", [1, 3])
def test_over_planes(most, coins, prime, users, epsilon):
    own = COINS[coins]
    part = c.over_planes(40, prime, whole=own.whole, coin=own.coin, most_set=most)
    stands(part, 40, most, users, epsilon)
