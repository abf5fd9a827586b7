"""What devices take is read as records, which write it again; what they refuse is no contract."""

import json
import random

import pytest

from helpers import contracts
from mixtally.device import client
from mixtally.errors import PlanError, RefusedError
from mixtally.model.contract import read_contract, write_contract
from spec.altered import altered, places


def taken(data):
    """Whether a device takes it."""
    try:
        return bool(client.parse_contract(data))
    except RefusedError:
        return False


@pytest.mark.parametrize("seed", range(40))
def test_records_read_what_devices_take(seed):
    chance = random.Random(seed)
    plain = json.loads(write_contract(contracts.random_contract(chance)))
    for path in chance.choices([path for path in places(plain) if path], k=30):
        data = json.dumps(altered(plain, path, chance)).encode()
        if taken(data):
            assert json.loads(write_contract(read_contract(data, "c.json"))) == json.loads(data)
        else:
            with pytest.raises(PlanError, match=r"^c\.json: expected a contract that"):
                read_contract(data, "c.json")
