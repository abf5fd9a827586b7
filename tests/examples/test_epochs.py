"""The example over time runs as its first lines say, without a warning."""

import pytest

from examples.running import printed, refused


@pytest.mark.seconds
def test_it_counts_the_quarters_compares_and_writes_a_page(tmp_path):
    out = printed("epochs.py", "--seed", 2, "--by", "quarter", "--out", tmp_path / "pages")
    for text in ("2013 Q4", "first-last", "fresh, shared", "once, reused"):
        assert text in out
    (path,) = (tmp_path / "pages").iterdir()
    assert path.name == "epochs.html"
    assert path.read_text().startswith("<!-- simulation: holds raw counts -->\n<!doctype")


def test_a_promise_out_of_range_is_refused_in_one_line():
    assert refused("epochs.py", "--epsilon", 0)
