"""``mixtally budget``: open, charge, show; refusals leave the file as it was."""

import json
import os
import subprocess
import sys
from typing import NamedTuple

import msgspec
import pytest

from helpers import contracts, least
from mixtally.accounting.budget.ledger import remaining_budget
from mixtally.cli import budget as command
from mixtally.errors import AccountingError, DataError, InfeasibleError, InputError, PlanError
from mixtally.model.contract import FakeRecord, OwnFakes, write_contract, write_plan
from mixtally.model.ledger import read_ledger
from mixtally.model.question import Question

_Q = least.threshold(10**5, 1.0, 1e-6) / 2**64
_PART = contracts.flipped(5, q=_Q, own=OwnFakes(FakeRecord.BLANK, 1, 0))
PLAN = contracts.proved(
    contracts.plan_of(Question(name="q", bins=5), [_PART], users=10**5, delta=1.001e-6)
)
BUDGET = ("--epsilon", 2, "--delta", "1e-5")


class Outcome(NamedTuple):
    status: int
    out: str
    error: InputError | AccountingError | None


@pytest.fixture
def ledger(capsys):
    """Runs the sub-command on arguments of any type, errors of ours caught as ``run`` does."""

    def call(*arguments):
        try:
            command.app([str(a) for a in arguments], standalone_mode=False)
        except InputError as error:
            return Outcome(2, capsys.readouterr().out, error)
        return Outcome(0, capsys.readouterr().out, None)

    return call


@pytest.fixture
def desk(tmp_path, ledger):
    """A folder with a plan and an open ledger."""
    (tmp_path / "plan.json").write_bytes(write_plan(PLAN))
    assert ledger("open", tmp_path / "my.ledger", *BUDGET).status == 0
    return tmp_path


def stored(desk):
    return read_ledger((desk / "my.ledger").read_bytes(), "test")


def test_an_open_ledger_holds_its_budget_and_nothing_else(desk):
    now = stored(desk)
    assert (now.budget.epsilon, now.budget.delta, now.charges) == (2.0, 1e-5, ())


def test_a_charge_is_written_with_its_note_and_a_date(desk, ledger):
    outcome = ledger("charge", desk / "my.ledger", desk / "plan.json", "--note", "spring")
    assert outcome.status == 0
    (entry,) = stored(desk).charges
    assert (entry.plan, entry.times, entry.note) == (PLAN, 1, "spring")
    assert len(entry.date.split("-")) == 3
    assert f"charged 1 x {PLAN.fingerprint[:16]}" in outcome.out
    assert "spent: delta <= " in outcome.out
    assert f"seal: {stored(desk).seal}" in outcome.out


def test_the_plan_of_a_contract_is_charged_as_the_plan_is(desk, ledger):
    contract, file = desk / "contract.json", desk / "my.ledger"
    contract.write_bytes(write_contract(contracts.contract_of(PLAN)))
    for name in ("plan.json", "contract.json"):
        assert ledger("charge", file, desk / name).status == 0
    assert [entry.fingerprint for entry in stored(desk).charges] == [PLAN.fingerprint] * 2
    shown = [ledger("show", file, "--plan", desk / name).out for name in ("plan.json", contract)]
    assert shown[0] == shown[1]


def test_show_says_what_is_spent_and_left(desk, ledger):
    file, plan = desk / "my.ledger", desk / "plan.json"
    empty = json.loads(ledger("show", file, "--json").out)
    assert (empty["delta"], empty["epsilon_spent"], empty["charges"]) == (0.0, 0.0, [])
    assert empty["times_left"] is None
    ledger("charge", file, plan, "--times", 2, "--note", "twice")
    facts = json.loads(ledger("show", file, "--plan", plan, "--json").out)
    assert 0.0 < facts["delta_lower"] <= facts["delta"] <= 1e-5
    assert facts["times_left"] == remaining_budget(stored(desk), PLAN).times > 0
    assert facts["epsilon_left"] == pytest.approx(2.0 - facts["epsilon_spent"])
    assert facts["charges"] == [
        {
            "plan": PLAN.fingerprint,
            "question": "q",
            "protocol": "flip-blank",
            "epsilon": 1.0,
            "delta": PLAN.guarantee.delta,
            "times": 2,
            "date": stored(desk).charges[0].date,
            "note": "twice",
        }
    ]
    assert facts["seal"] == stored(desk).seal
    text = ledger("show", file, "--plan", plan).out
    assert "2 x " in text
    assert "(twice)" in text
    assert "spent: delta <= " in text
    assert f"this plan still fits {facts['times_left']:,} times" in text


def test_the_text_rounds_what_is_spent_up_and_what_is_left_down(desk, ledger):
    ledger("charge", desk / "my.ledger", desk / "plan.json")
    facts = json.loads(ledger("show", desk / "my.ledger", "--json").out)
    text = ledger("show", desk / "my.ledger").out
    assert float(text.split("delta <= ")[1].split()[0]) >= facts["delta"]
    assert float(text.split("left: epsilon ")[1].split()[0]) <= facts["epsilon_left"]
    assert float(text.split("(")[-1].split(" is spent")[0]) >= facts["epsilon_spent"]


def test_an_empty_ledger_can_be_shown(desk, ledger):
    assert "spent: nothing of 1e-05 at epsilon 2" in ledger("show", desk / "my.ledger").out


def test_the_budget_of_the_text_is_not_rounded_down(desk, ledger):
    """A smaller epsilon beside the same delta would promise more than is proved."""
    file, budget = desk / "odd.ledger", ("--epsilon", 2.3456784, "--delta", 1.2345642e-5)
    ledger("open", file, *budget)
    ledger("charge", file, desk / "plan.json")
    _, words = ledger("show", file).out.split("spent: delta <= ")
    delta, epsilon = words.split(" of ")[1].split(", observer")[0].split(" at epsilon ")
    assert float(epsilon) >= 2.3456784
    assert float(delta) >= 1.2345642e-5
    assert float(words.split(" at delta ")[1].split()[0]) >= 1.2345642e-5


def test_a_charge_past_the_budget_is_refused_and_leaves_the_file(desk, ledger):
    before = (desk / "my.ledger").read_bytes()
    outcome = ledger("charge", desk / "my.ledger", desk / "plan.json", "--times", 1000)
    assert isinstance(outcome.error, InfeasibleError)
    assert "expected delta <= 1e-05 at epsilon 2 for all charges together" in str(outcome.error)
    assert "would still fit" in str(outcome.error)
    assert outcome.out == ""
    assert (desk / "my.ledger").read_bytes() == before
    assert sorted(path.name for path in desk.iterdir()) == ["my.ledger", "plan.json"]


def test_a_charge_that_ignores_the_budget_would_be_seen(desk, ledger, monkeypatch):
    """The planted bug: the same command with a composition that finds everything free."""
    monkeypatch.setattr("mixtally.accounting.budget.ledger.upper_curve", lambda *_: lambda _: 0.0)
    file, plan = desk / "my.ledger", desk / "plan.json"
    assert ledger("charge", file, plan, "--times", 1000).status == 0
    assert stored(desk).charges[0].times == 1000


def test_a_ledger_is_never_started_over(desk, ledger):
    before = (desk / "my.ledger").read_bytes()
    outcome = ledger("open", desk / "my.ledger", "--epsilon", 20, "--delta", 0.1)
    assert isinstance(outcome.error, DataError)
    assert (desk / "my.ledger").read_bytes() == before


def test_an_edited_ledger_is_neither_shown_nor_charged(desk, ledger):
    file, plan = desk / "my.ledger", desk / "plan.json"
    ledger("charge", file, plan)
    file.write_bytes(file.read_bytes().replace(b'"epsilon":2.0', b'"epsilon":9.0'))
    before = file.read_bytes()
    for arguments in (("show", file), ("charge", file, plan)):
        outcome = ledger(*arguments)
        assert isinstance(outcome.error, PlanError)
        assert "Restore it from a copy" in str(outcome.error)
    assert file.read_bytes() == before


def test_what_is_missing_is_said(desk, ledger):
    assert "budget open" in str(ledger("show", desk / "none").error)
    assert "a plan file" in str(ledger("charge", desk / "my.ledger", desk / "none").error)
    assert isinstance(ledger("open", desk / "no" / "folder", *BUDGET).error, DataError)


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        (("--times", 0), "times"),
        (("--times", -3), "times"),
        (("--note", "two\nlines"), "note"),
        (("--note", "x" * 300), "note"),
    ],
)
def test_impossible_charges_are_refused(desk, ledger, arguments, subject):
    outcome = ledger("charge", desk / "my.ledger", desk / "plan.json", *arguments)
    assert str(outcome.error).startswith(f"{subject}: expected")
    assert stored(desk).charges == ()


@pytest.mark.parametrize("budget", [(0, 1e-6), (1, 0), (21, 1e-6), (1, 0.5), ("nan", 1e-6)])
def test_an_impossible_budget_is_refused(tmp_path, ledger, budget):
    outcome = ledger("open", tmp_path / "new", "--epsilon", budget[0], "--delta", budget[1])
    assert outcome.status == 2
    assert not (tmp_path / "new").exists()


def test_a_ledger_is_one_under_every_symbolic_link(desk, ledger):
    (desk / "elsewhere").mkdir()
    link = desk / "elsewhere" / "link"
    link.symlink_to("../my.ledger")
    assert ledger("charge", link, desk / "plan.json").status == 0
    assert link.is_symlink()
    assert len(stored(desk).charges) == 1
    assert ledger("charge", desk / "my.ledger", desk / "plan.json").status == 0
    assert len(json.loads(ledger("show", link, "--json").out)["charges"]) == 2
    (desk / "ahead").symlink_to("new.ledger")
    assert ledger("open", desk / "ahead", *BUDGET).status == 0
    assert (desk / "new.ledger").is_file()


def test_a_relative_name_is_told_as_it_was_given(desk, ledger, monkeypatch):
    monkeypatch.chdir(desk)
    (desk / "my.ledger").write_text("{}")
    refusal = ledger("charge", "my.ledger", "plan.json").error
    assert str(refusal).startswith("my.ledger: expected")


def test_a_ledger_of_two_names_is_not_charged(desk, ledger):
    (desk / "other").hardlink_to(desk / "my.ledger")
    outcome = ledger("charge", desk / "other", desk / "plan.json")
    assert "got a file with 2 names (hard links). Remove the other names" in str(outcome.error)
    assert stored(desk).charges == ()
    (desk / "other").unlink()
    assert ledger("charge", desk / "my.ledger", desk / "plan.json").status == 0


@pytest.mark.seconds
@pytest.mark.skipif(os.name != "posix", reason="needs locks")
def test_charges_at_the_same_moment_are_all_kept(desk):
    program = "import sys; from mixtally.cli.budget import app; app(sys.argv[1:])"
    given = ["charge", desk / "my.ledger", desk / "plan.json"]
    both = [
        subprocess.Popen([sys.executable, "-c", program, *given], stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [process.wait() for process in both] == [0, 0]
    assert len(stored(desk).charges) == 2


def test_a_name_from_a_foreign_plan_cannot_forge_lines(desk, ledger):
    named = msgspec.structs.replace(PLAN.question, name="harmless")
    plan = write_plan(msgspec.structs.replace(PLAN, question=named))
    forged = plan.replace(b"harmless", b"a\\n  9  2026-01-01  \\u001b[31mforged")
    (desk / "foreign.json").write_bytes(forged)
    before = ledger("show", desk / "my.ledger").out
    refusal = ledger("charge", desk / "my.ledger", desk / "foreign.json").error
    assert isinstance(refusal, PlanError)
    assert "controls a screen" in str(refusal)
    assert "\n" not in str(refusal)
    assert ledger("show", desk / "my.ledger").out == before
