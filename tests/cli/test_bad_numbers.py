"""Numbers and wishes that cannot be met: one line, status 2, nothing written."""

import re

import pytest

GOOD = {"--epsilon": 1, "--delta": "1e-6", "--users": 1000, "--bins": 10}


def arguments(**changes):
    given = GOOD | {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
    return [part for pair in given.items() for part in pair]


@pytest.mark.parametrize(
    ("changes", "subject"),
    [
        *[({"epsilon": bad}, "epsilon") for bad in (0, -1, "nan", "inf", "-inf", 21, 0.009)],
        *[({"delta": bad}, "delta") for bad in (0, -1e-6, 0.2, "nan", "inf", 1e-16)],
        *[({"users": bad}, "users") for bad in (1, 0, -5, "1e11")],
        *[({"bins": bad}, "bins") for bad in (1, 0, -5, "1e8")],
        *[({"honest_share": bad}, "honest share") for bad in (0, -1, 1.1, "nan", "inf")],
        *[({"messages_per_user": bad}, "messages per user") for bad in (0.9, 1001, "nan", "inf")],
        *[({"fakes_per_user": bad}, "fakes per user") for bad in (-0.1, "nan")],
        ({"fakes_per_user": 1000}, "messages per user"),
        ({"protocol": "nope"}, "protocol"),
        ({"fakes_per_user": 1, "messages_per_user": 2}, "budget"),
        ({"labels": "no-such-file"}, "no-such-file"),
    ],
)
def test_a_bad_number_is_refused_by_name_and_nothing_is_written(
    refused, tmp_path, changes, subject
):
    out = tmp_path / "out" / "plan.json"
    line = refused("plan", *arguments(**changes), "--out", out)
    assert line.startswith(f"mixtally: {subject}: ")
    assert not list(tmp_path.rglob("*.*"))


def test_bins_or_labels_must_be_given(refused):
    line = refused("plan", "--epsilon", 1, "--delta", "1e-6", "--users", 1000)
    assert "expected --bins or --labels" in line


def test_bins_and_labels_must_agree(refused, tmp_path):
    (tmp_path / "labels").write_text("a\nb\n")
    assert "labels: expected 3 labels, got 2" in refused(
        "plan", *arguments(bins=3, labels=tmp_path / "labels")
    )


@pytest.mark.parametrize("text", ["a\na\n", "a\n\nb\n", "a\n"])
def test_labels_that_repeat_are_empty_or_alone_are_refused(refused, tmp_path, text):
    (tmp_path / "labels").write_text(text)
    given = ("--epsilon", 1, "--delta", "1e-6", "--users", 1000)
    refused("plan", *given, "--labels", tmp_path / "labels")


def test_labels_that_are_not_utf8_are_refused(refused, tmp_path):
    (tmp_path / "labels").write_bytes(b"r\xe9d\nblue\n")
    given = ("--epsilon", 1, "--delta", "1e-6", "--users", 1000)
    assert "UTF-8" in refused("plan", *given, "--labels", tmp_path / "labels")


@pytest.mark.parametrize("users", [1000, 422_000, 10**6, 336_776])
def test_an_impossible_wish_names_the_budget_that_would_do(cli, refused, users):
    wish = arguments(users=users, protocol="clear-uniform")
    line = refused("plan", *wish, "--messages-per-user", 1.0)
    assert "clear-uniform needs 430 fakes" in line
    (budget,) = re.findall(r"--messages-per-user ([\d.e+]+)", line)
    assert cli("plan", *wish, "--messages-per-user", budget).status == 0


@pytest.mark.parametrize(("users", "bins"), [(2, 1000), (10, 1000)])
def test_no_budget_is_named_that_the_planner_itself_refuses(refused, users, bins):
    wish = arguments(users=users, bins=bins, protocol="clear-uniform")
    for budget in re.findall(r"--messages-per-user ([\d.e+]+)", refused("plan", *wish)):
        assert float(budget) <= 1000


def test_shaped_fakes_need_the_flag_that_trusts_a_mix(refused):
    assert "clear-shaped needs" in refused("plan", *arguments(protocol="clear-shaped"))


def test_too_few_users_are_told_so(refused):
    assert "interval would span all" in refused("plan", *arguments(users=2))


@pytest.mark.parametrize("flag", ["--epsilon", "--delta", "--honest-share", "--bins"])
def test_what_is_no_number_exits_2(cli, flag):
    outcome = cli("plan", *arguments(), flag, "many")
    assert (outcome.status, outcome.out) == (2, "")
    assert flag in outcome.err
