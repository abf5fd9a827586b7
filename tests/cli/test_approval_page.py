"""The page for approval: everything that must be decided about is on it, and it is the plan's."""

import re

import pytest

from mixtally.app.elsewhere import elsewhere
from mixtally.cli.plan_files import read_plan
from mixtally.privacy.baselines import central_error, gaussian_standard_error, local_error
from mixtally.records.question import Kind, Question

ASKED = ("plan", "--epsilon", 1, "--delta", "1e-6", "--users", "1e6")
QUESTIONS = (
    "What is asked, and of whom",
    "What is promised",
    "Who must be trusted, and for what",
    "If they are not honest",
    "What it spends over time",
    "How far counts err",
    "What leaves a device, and what is kept",
    "What is not promised",
    "How to check this page",
)


def text_of(path):
    return re.sub(r"<[^>]+>", " ", path.read_text())


@pytest.mark.parametrize(
    "more",
    [
        ("--bins", 100),
        ("--bins", 100, "--max-set", 3),
        ("--number", "0,100"),
        ("--attributes", "3,4", "--messages-per-user", 4),
        ("--bits", 1),
        ("--open",),
        ("--bins", 50, "--mix-fakes", "--collections", 12),
        ("--bins", 50, "--hops", 3),
    ],
)
def test_a_plan_is_a_page(cli, tmp_path, more):
    done = cli(*ASKED, *more, "--out", tmp_path / "plan.html")
    assert (done.status, done.err) == (0, "")
    assert f"page written to {tmp_path / 'plan.html'}" in done.out
    text = text_of(tmp_path / "plan.html")
    assert [name for name in QUESTIONS if name not in text] == []
    assert "of 100 cases" in text
    assert "central model" in text
    assert text.split("If they are not honest")[1].count("If every mix colludes") == 1


def test_page_and_terminal_have_one_table_of_other_models(cli, tmp_path):
    done = cli(*ASKED, "--bins", 20, "--hops", 2, "--out", tmp_path / "plan.html")
    for shown in (done.out, text_of(tmp_path / "plan.html")):
        assert re.search(r"this plan\W+one of 2 mixes", shown)


def test_it_is_the_page_of_the_file(cli, tmp_path):
    plan, page = tmp_path / "plan.json", tmp_path / "page.html"
    cli(*ASKED, "--bins", 20, "--out", plan)
    cli(*ASKED, "--bins", 20, "--out", page)
    assert read_plan(plan).fingerprint in text_of(page)
    done = cli("contract", "show", plan, "--out", tmp_path / "shown.html")
    assert done.status == 0
    assert (tmp_path / "shown.html").read_text() == page.read_text()


def test_another_plan_is_another_page(cli, tmp_path):
    for name, bins in (("one", 20), ("two", 21)):
        cli(*ASKED, "--bins", bins, "--out", tmp_path / f"{name}.html")
    assert text_of(tmp_path / "one.html") != text_of(tmp_path / "two.html")


def test_a_contract_says_who_runs_it(cli, tmp_path):
    cli("example", "--all", tmp_path)
    plan, contract = tmp_path / "plan.json", tmp_path / "contract.json"
    cli(*ASKED, "--labels", tmp_path / "fruits.txt", "--hops", 3, "--out", plan)
    cli("contract", "new", plan, "--network", tmp_path / "network.toml", "--out", contract)
    cli("contract", "show", contract, "--out", tmp_path / "page.html")
    text = text_of(tmp_path / "page.html")
    for told in ("a university", "https://mix1.example", "apple, banana", "every 7 days"):
        assert told in text


def test_nothing_is_written_in_place_of_a_folder(cli, tmp_path):
    (tmp_path / "page.html").mkdir()
    assert cli(*ASKED, "--bins", 20, "--out", tmp_path / "page.html").status == 2


def test_the_least_gaussian_noise():
    """By Theorem 8 of Balle and Wang: 30 digits, mpmath."""
    import mpmath

    for epsilon, delta, distance in ((1.0, 1e-6, 2**0.5), (0.1, 1e-9, 3.0), (4.0, 1e-3, 1.0)):
        scale = mpmath.mpf(gaussian_standard_error(epsilon, delta, distance))
        half = distance / (2 * scale)

        def spent(half=half, epsilon=epsilon):
            shift = epsilon / (2 * half)
            return mpmath.ncdf(half - shift) - mpmath.e**epsilon * mpmath.ncdf(-half - shift)

        assert float(spent()) == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize(
    ("question", "central", "local"),
    [
        (Question(name="q", bins=105), 2.7991, 1113.7),
        (Question(name="q", bins=100, kind=Kind.SET, max_set=3), 8.4755, 3465.8),
    ],
)
def test_the_errors_of_other_models(question, central, local):
    """Discrete Laplace of scale 2k / epsilon, and unary encoding with epsilon / k, by hand."""
    assert central_error(question, 1.0, 1e-6, 1) == pytest.approx(central, rel=1e-3)
    assert local_error(question, 1.0, 336_776) == pytest.approx(local, rel=1e-3)


def test_a_published_closed_form_never_asks_for_more_than_the_budget(cli, tmp_path):
    cli(*ASKED, "--bins", 1000, "--out", tmp_path / "p.json")
    plan = read_plan(tmp_path / "p.json")

    def published(messages):
        return [one for one in elsewhere(plan, messages) if "published" in one.model]

    (two,), (one,) = published(2.0), published(1.0)
    assert "(5.10)" in two.model
    assert "Feldman" in one.model
    assert two.standard_error == pytest.approx((213_556 / 1000) ** 0.5, rel=2e-3)
    assert one.standard_error > 100.0
