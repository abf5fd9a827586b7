"""An accountant that sketches: what is expected in the place of what is proved."""

import pytest

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.composition.pld import CLOSE
from mixtally.errors import AccountingError
from mixtally.model.mechanism import BitFlips, NoFakes
from mixtally.primitives.fixed_point import SCALE


def test_a_sketch_proves_nothing_and_says_so():
    accountant = Accountant()
    sketch = accountant.approximate_copy()
    crowd = Record.of(
        BitFlips(bins=1, threshold=SCALE // 5, max_set=None, fakes=NoFakes(), crowd=50)
    )
    assert sketch.upper(crowd, 0.3) == accountant.upper(crowd, 0.3, proved=False)
    for asked in (sketch.delta, sketch.certificate):
        with pytest.raises(AccountingError, match="a sketch"):
            asked(crowd, 0.3)
    with pytest.raises(AccountingError, match="a sketch"):
        sketch.losses(crowd, CLOSE)  # its memo is shared with who proves
    assert accountant.certificate(crowd, 0.3).upper == accountant.upper(crowd, 0.3)


def test_what_a_sketch_found_is_not_what_is_proved():
    accountant = Accountant()
    assert accountant.approximate_copy().cache_search("wish", lambda: 1) == 1
    assert accountant.cache_search("wish", lambda: 2) == 2
