"""The page for approval: everything that must be decided about is on it, and it is the plan's."""

import re
from html import unescape

import pytest

from mixtally.accounting.baselines import central_error, gaussian_standard_error, local_error
from mixtally.app.approval_details import ApprovalDetails
from mixtally.app.model_comparison import compare_models, comparison_table
from mixtally.cli.plan import NO_MINIMUM
from mixtally.cli.plan_files import read_plan
from mixtally.errors import PlanError
from mixtally.model.question import Kind, Question

ASKED = ("plan", "--epsilon", 1, "--delta", "1e-6", "--users", "1e6")
QUESTIONS = (
    "Purpose and responsibility",
    "What is asked, and who answers",
    "What is promised",
    "Who must be trusted, and for what",
    "If they are not honest",
    "Privacy spent over time",
    "Errors of counts",
    "What a device sends, and what is stored",
    "What is not promised",
    "How to verify this page",
    "Sign-off",
)
DETAILS = """
purpose = "Decide | whether <b>the</b> market *opens*."
legal_basis = "Article 6(1)(a)"
retention = "1. Five years"
contact = "officer_of_us@survey.example"
version = "1.0"
date = 2026-11-02
sign_off = ["Controller", "Works council"]
"""


def text_of(path):
    return re.sub(r"<[^>]+>", " ", path.read_text())


def words_of(html):
    """The words that a reader sees, without styles."""
    shown = re.sub(r"<style.*?</style>", " ", html, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", shown)).split()


@pytest.fixture
def details(tmp_path):
    file = tmp_path / "approval.toml"
    file.write_text(DETAILS)
    return file


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
    assert done.status == 0
    assert done.err in ("", f"mixtally: warning: {NO_MINIMUM}\n")
    assert bool(done.err) == ("--mix-fakes" in more or "--hops" in more)
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


# What plans draw, by their options: fakes of the mixes, coins of people, flips.
DRAWN = {
    ("--bins", 50, "--mix-fakes"): {"mixes"},
    ("--bins", 50, "--hops", 3): {"mixes"},
    ("--bins", 1000): {"coins"},
    ("--bits", 1, "--messages-per-user", 1): {"flips"},
    ("--bins", 10, "--protocol", "flip-blank", "--hops", 2): {"mixes", "flips"},
}
SAYS = {
    "mixes": "put the fakes that it draws into any bin",
    "coins": "how many fakes people send is random",
    "flips": "to draw its flips",
}


@pytest.mark.parametrize(("more", "drawn"), DRAWN.items())
def test_a_page_says_what_is_true_of_its_plan(cli, tmp_path, more, drawn):
    page = tmp_path / "plan.html"
    cli(*ASKED, *more, "--out", page)
    text = text_of(page)
    assert {name for name, words in SAYS.items() if words in text} == drawn
    by_mixes = "mixes" in drawn
    assert ("Warning: no minimum crowd is set" in text) == by_mixes
    assert ("people who follow the protocol take part" in text) == (not by_mixes)
    assert ("first honest mix" in text) == (not by_mixes and "--hops" in more)
    assert "with fewer than 1 person" not in text
    assert "1 times" not in text


def test_what_the_controller_states_is_on_the_page(cli, tmp_path, details):
    for name in ("page.html", "page.md"):
        done = cli(*ASKED, "--bins", 20, "--approval", details, "--out", tmp_path / name)
        assert done.status == 0
    assert text_of(tmp_path / "page.html").count("not stated") == 0
    text = unescape((tmp_path / "page.html").read_text())
    for told in ("Article 6(1)(a)", "officer_of_us@survey.example", "2026-11-02", "Works council"):
        assert told in text


def test_what_is_not_stated_is_said(cli, tmp_path):
    cli(*ASKED, "--bins", 20, "--out", tmp_path / "page.html")
    assert text_of(tmp_path / "page.html").count("not stated") == 6


def test_both_forms_of_a_page_have_the_same_words(cli, tmp_path, details):
    markdown = pytest.importorskip("markdown")
    for name in ("page.html", "page.md"):
        cli(*ASKED, "--bins", 20, "--approval", details, "--name", "a_b*c", "--out",
            tmp_path / name)  # fmt: skip
    written = (tmp_path / "page.md").read_text()
    escapes = re.sub(r"\\([<>|~$&])", lambda found: f"&#{ord(found[1])};", written)
    rendered = markdown.markdown(escapes, extensions=["tables"])
    assert "<b>" not in rendered
    assert "<em>" not in rendered
    page = words_of((tmp_path / "page.html").read_text().split("<body>")[1])
    key_figures = {"figure", "value"}  # heads that only the table in Markdown has
    assert set(page) | key_figures == set(words_of(rendered)) | key_figures


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('purpos = "x"', "purpos"),
        ("purpose = 3", "purpose"),
        ('purpose = " "', "purpose"),
        ('sign_off = [""]', "sign_off"),
        ("date = 'soon'", "date"),
        ("purpose", "TOML"),
    ],
)
def test_details_that_are_none_are_refused_before_anything_is_written(cli, tmp_path, text, wanted):
    file, page = tmp_path / "approval.toml", tmp_path / "page.html"
    file.write_text(text)
    done = cli(*ASKED, "--bins", 20, "--approval", file, "--out", page)
    assert done.status == 2
    assert wanted in done.err
    assert done.err.count("\n") == 1
    assert not page.exists()


@pytest.mark.parametrize("out", [(), ("--out", "plan.json")])
def test_details_need_a_page(cli, tmp_path, monkeypatch, details, out):
    monkeypatch.chdir(tmp_path)
    done = cli(*ASKED, "--bins", 20, "--approval", details, *out)
    assert done.status == 2
    assert ".html or .md" in done.err
    assert not (tmp_path / "plan.json").exists()


def test_a_page_of_another_form_is_refused(cli, tmp_path):
    cli(*ASKED, "--bins", 20, "--out", tmp_path / "plan.json")
    done = cli("contract", "show", tmp_path / "plan.json", "--out", tmp_path / "page.pdf")
    assert done.status == 2
    assert ".html or .md" in done.err


def test_details_without_text_are_refused():
    with pytest.raises(PlanError, match="text for contact"):
        ApprovalDetails(contact="")


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
        (Question(name="q", bins=105), 2.7858, 1113.7),
        (Question(name="q", bins=100, kind=Kind.SET, max_set=3), 8.4755, 3465.8),
    ],
)
def test_the_errors_of_other_models(question, central, local):
    """Discrete Laplace of scale 2k / epsilon, and unary encoding with epsilon / k, by hand.

    The counts of 105 bins add up to the people, so their error is 2.7991 (1 - 1 / 105)^(1/2).
    """
    assert central_error(question, 1.0, 1e-6, 1) == pytest.approx(central, rel=1e-3)
    assert local_error(question, 1.0, 336_776) == pytest.approx(local, rel=1e-3)


@pytest.mark.parametrize(
    ("asked", "moved", "sent"),
    [
        (("--bins", 2), "1 count by 1", "1 message"),
        (("--bins", 9), "2 counts by 1", "1 message"),
        (("--bins", 9, "--max-set", 3), "6 counts by 1", "3 messages"),
    ],
)
def test_every_model_says_whom_it_needs_and_what_a_person_changes(
    cli, tmp_path, asked, moved, sent
):
    cli(*ASKED, *asked, "--protocol", "clear-uniform", "--out", tmp_path / "p.json")
    plan = read_plan(tmp_path / "p.json")
    others = compare_models(plan)
    rows = {one.model: (one.trusted, one.crowd, one.changes) for one in others}
    assert rows["central model"] == ("one server with all answers", "nobody else", moved)
    assert rows["Prio, two servers with noise"] == ("one of the two servers", "nobody else", moved)
    assert rows["local model"] == ("nobody", "nobody else", "1 response")
    own = comparison_table(plan, others).rows[0]
    assert own[1:4] == ("one mix, other people", f"{plan.honest_people:,} honest people", sent)


def test_a_published_closed_form_never_asks_for_more_than_the_budget(cli, tmp_path):
    cli(*ASKED, "--bins", 1000, "--out", tmp_path / "p.json")
    plan = read_plan(tmp_path / "p.json")

    def published(messages):
        return [one for one in compare_models(plan, messages) if "published" in one.model]

    (two,), (one,) = published(2.0), published(1.0)
    assert "(5.10)" in two.model
    assert "Feldman" in one.model
    assert two.standard_error == pytest.approx((213_556 / 1000) ** 0.5, rel=2e-3)
    assert one.standard_error > 100.0


@pytest.mark.parametrize(
    ("more", "trusted", "crowd", "times"),
    [
        (("--honest-share", 0.5), "one mix, other people", "5,000 honest people", 2.0),
        (("--minimum-crowd", 5_000), "one mix, other people", "5,000 honest people", 2.0),
        (("--mix-fakes",), "one mix", "fakes of one mix", 1.0),
        (("--mix-fakes", "--hops", 3), "one of 3 mixes", "fakes of one mix", 3.0),
    ],
)
def test_a_published_closed_form_trusts_whom_the_plan_trusts(
    cli, tmp_path, more, trusted, crowd, times
):
    """Fakes that certainly arrive are as many; all that are drawn are so many times as many."""
    asked = ("plan", "--epsilon", 1, "--delta", "1e-6", "--users", 10_000, "--bins", 3)
    found, own = [], []
    for place, given in enumerate(((), more)):
        outcome = cli(*asked, *given, "--out", tmp_path / f"{place}.json")
        plan = read_plan(tmp_path / f"{place}.json")
        (row,) = (one for one in compare_models(plan, 200.0) if "published" in one.model)
        assert "(5.10)" in row.model
        found.append(row)
        own.append(" ".join(outcome.out.split()))
    assert (found[1].trusted, found[1].crowd) == (trusted, crowd)
    assert found[1].standard_error == pytest.approx(found[0].standard_error * times**0.5, rel=1e-3)
    people = "for 10,000 people, 5,000 of them assumed honest" if times == 2.0 else "10,000 people"
    assert people in own[1]


def test_a_closed_form_that_needs_more_people_than_are_counted_on_is_left_out(cli, tmp_path):
    """No form begins with 20 people, though it would with the 10,000 who are expected."""
    file = tmp_path / "plan.json"
    asked = ("plan", "--epsilon", 1, "--delta", "1e-6", "--users", 10_000, "--bins", 3)
    assert cli(*asked, "--minimum-crowd", 20, "--out", file).status == 0
    assert not [one for one in compare_models(read_plan(file)) if "published" in one.model]
