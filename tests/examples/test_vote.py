"""The example on real ballots runs as its first lines say, without a warning."""

import pytest

from examples.running import printed, refused


@pytest.mark.seconds
def test_it_counts_both_columns_and_writes_their_pages(tmp_path):
    """False alarm below 10^-20: 551 and 393 votes lie 17 standard errors apart; fixed seed."""
    out = printed("vote.py", "--seed", 2, "--out", tmp_path / "pages")
    for text in ("vote, 1996, counted privately", "party, 1996, counted", "58.37 %"):
        assert text in out
    shuffle = out.split("Shuffle version: ")[1]
    assert shuffle.split("leads")[0].rstrip().endswith("'Clinton'")
    assert sorted(p.name for p in (tmp_path / "pages").iterdir()) == ["pid.html", "vote.html"]
    for page in (tmp_path / "pages").iterdir():
        assert page.read_text().startswith("<!-- simulation: holds raw counts -->\n<!doctype")


@pytest.mark.seconds
def test_a_promise_out_of_range_is_refused_in_one_line():
    assert refused("vote.py", "--epsilon", 0)
