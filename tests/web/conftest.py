"""A page, its host and its first hop, once for each file of tests."""

import pytest

from web.page_person import CASES, KINDS, WINDOW
from web.page_scene import make_rounds, stage


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    with stage(tmp_path_factory.mktemp("site")) as made:
        cases = [made.case(vector, window=WINDOW, **edits) for vector, edits in KINDS.values()]
        cases += [made.case(**{"window": WINDOW, **edits}) for edits in CASES.values()]
        made.made = dict(zip([*KINDS, *CASES], make_rounds(cases), strict=True))
        yield made
