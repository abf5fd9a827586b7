"""What stands outside ``simulation/`` is a function of the messages and of what was declared.

Every command that reads people plays two crowds whose messages are alike, as all of them are drawn
as if everybody had given the first answer. In the other crowd one person gave an answer that nobody
else gave, a larger set, and a number that is out of range.
"""

import contextlib
import csv
import json
import shlex
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

from cli.json_cases import HASHED, SMALL, lay_out
from cli.test_simulation import quietly
from mixtally.app.outcome import Outcome
from mixtally.cli import epochs, options, rows, simulate
from mixtally.lab.data import readers
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.simulation import counts_only
from mixtally.lab.simulation.lab import Provenance
from mixtally.lab.simulation.seeded import SeededChance

END = "--epsilon 4 --delta 1e-6"
SETS = "--set ';' --labels drinks.txt --max-set 3"
DIARY = "--epoch-column week --person-column who"
GIVEN = {
    "one": f"simulate survey.csv --column answer --labels words.txt {END}",
    "set": f"simulate survey.csv --column likes {SETS} {END} --pairs",
    "attributes": f"simulate survey.csv --columns answer,smokes --as attributes "
    f"--labels attributes.txt {END}",
    "bits": f"simulate survey.csv --columns smokes,drives --as bits {END}",
    "number": f"simulate survey.csv --column age --number 0,100 {END} --mix-fakes",
    "tally": f"simulate survey.csv --column answer --labels words.txt --counts-only {END}",
    "counts": f"simulate counted.csv --column answer --labels words.txt --counts people {END}",
    "hashed": f"{HASHED} && simulate survey.csv --column answer --plan p.json "
    "--candidates list.txt",
    "contract": f"{SMALL} && simulate survey.csv --column answer --contract small.json",
    "several": f"simulate diary.csv --column color --labels colors.txt --max-set 3 "
    f"--person-column who --several set {END}",
    "memory": "simulate memoized survey.csv --column answer --labels words.txt --reports 2 "
    "--permanent 0.5",
    "bloom": "simulate memoized survey.csv --column answer --bloom-bits 16 --reports 2 "
    "--candidates list.txt",
    "vote": f"simulate survey.csv --winner --column answer --labels words.txt {END}",
    "baskets": f"simulate baskets survey.csv --column likes {SETS} {END}",
    "epochs": f"simulate epochs diary.csv --column color --labels colors.txt {DIARY} {END}",
    "invented": "simulate epochs survey.csv --column answer --labels words.txt --synthetic 2 "
    f"{END}",
    "words": f"simulate words survey.csv --column answer --top 2 --longest 3 {END}",
    "places": f"simulate places homes.csv --latitude lat --longitude lon --box 40,44,-76,-70 "
    f"--resolution 2 {END}",
}
"""What is released: nothing of the question is read off the data."""


def bare(case):
    """The same command with nothing that fixes its question."""
    words = shlex.split(case)
    for flag in ("--labels", "--candidates"):
        if flag in words:
            at = words.index(flag)
            words = words[:at] + words[at + 2 :]
    return shlex.join(words)


READ = {
    name: bare(GIVEN[name])
    for name in ("one", "set", "attributes", "tally", "counts", "several", "memory", "bloom",
                 "vote", "baskets", "epochs", "invented")
} | {"largest set": GIVEN["set"].replace("--max-set 3 ", "")}  # fmt: skip
QUICK = {"one", "vote", "memory"}


def each(cases):
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.seconds)
            for name in cases]  # fmt: skip


def other_crowd(desk):
    """One person of every file answers what nobody else does."""
    for name, changes in (
        ("survey.csv", {"answer": "zz rare", "likes": "cake;milk;tea", "age": "5000"}),
        ("diary.csv", {"color": "zz rare"}),
        ("counted.csv", {"answer": "zz rare"}),
        ("homes.csv", {"lat": "-3.25"}),
    ):
        with (desk / name).open(newline="") as file:
            people = list(csv.DictReader(file))
        people[-1].update(changes)
        with (desk / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, people[0])
            writer.writeheader()
            writer.writerows(people)


def alike(crowd):
    """Everybody gave the first answer, whatever else was seen in the data."""
    if isinstance(crowd, Timeline):
        return replace(crowd, codes=np.zeros_like(crowd.codes))
    values = None if crowd.values is None else np.zeros_like(crowd.values)
    return replace(crowd, records=np.zeros_like(crowd.records), values=values)


def counted(found):
    held = np.zeros_like(found.counts)
    held[0] = found.counts.sum()
    return replace(found, counts=held)


def played(case, desk, change):
    """What a case leaves, by name."""
    desk.mkdir()
    lay_out(desk)
    with (desk / "counted.csv").open("a") as file:
        file.write("unsure,1\n")
    for name in ("words.txt", "colors.txt", "drinks.txt"):
        with (desk / name).open("a") as file:
            file.write("zz rare\n")
    answers = [f"answer={one}" for one in (desk / "words.txt").read_text().splitlines()]
    (desk / "attributes.txt").write_text("\n".join([*answers, "smokes=0", "smokes=1"]) + "\n")
    change(desk)
    read, read_epochs, read_counts = (
        readers.read_population,
        readers.read_epochs,
        readers.read_counts,
    )
    with (
        contextlib.chdir(desk),
        patch.object(options, "make_chance", lambda _: SeededChance(7)),
        patch.object(rows, "read_population", lambda *given: alike(read(*given))),
        patch.object(rows, "check_shared", lambda *_: None),
        patch.object(epochs, "read_file", lambda *given: alike(read(*given))),
        patch.object(epochs, "read_epochs", lambda *given: alike(read_epochs(*given))),
        patch.object(simulate, "read_counts", lambda *given: counted(read_counts(*given))),
        patch.object(counts_only, "check_shared", lambda *_: None),
    ):
        *before, last = map(shlex.split, case.split(" && "))
        for arguments in (*before, [*last, "--out", "out"]):
            quietly(arguments)
    out = desk / "out"
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}


def public(files):
    return {name: held for name, held in files.items() if not name.startswith("simulation/")}


def unchanged(_):
    """The crowd as it is."""


@pytest.mark.parametrize("name", each(GIVEN))
def test_a_release_is_the_same_for_crowds_that_send_the_same(name, tmp_path):
    one = public(played(GIVEN[name], tmp_path / "one", unchanged))
    assert {"report.html", "result.json"} <= one.keys()
    assert one == public(played(GIVEN[name], tmp_path / "two", other_crowd))


def test_the_twin_that_tells_what_was_seen_in_the_data_is_found(tmp_path, monkeypatch):
    """The planted leak: how many numbers were clipped, in what may be published."""
    monkeypatch.setattr(Provenance, "source_text", lambda about, **_: f"{about.source} {about.raw}")
    one = public(played(GIVEN["number"], tmp_path / "one", unchanged))
    assert one != public(played(GIVEN["number"], tmp_path / "two", other_crowd))


def test_the_twin_that_forgets_what_was_read_is_refused():
    with pytest.raises(TypeError, match="is missing for a simulation"):
        Outcome(document=SimpleNamespace(simulation=True))
    truth = SimpleNamespace(simulation=True)
    with pytest.raises(TypeError, match="contains true counts"):
        Outcome(document=truth, from_data=(), plain=truth)


@pytest.mark.parametrize("name", each(READ))
def test_what_was_read_off_the_data_makes_a_simulation(name, tmp_path):
    for crowd, change in (("one", unchanged), ("two", other_crowd)):
        files = played(READ[name], tmp_path / crowd, change)
        assert public(files) == {}
        told = json.loads(files["simulation/result.json"])
        flags = [text.rpartition("give ")[2] for text in told["not_covered"]]
        assert set(flags) <= {"--labels", "--max-set", "--candidates"}
        assert told["promise"][1].endswith("; not covered: " + "; ".join(told["not_covered"]) + ".")
        assert "not covered: the " in files["simulation/report.html"].decode().partition("</ul>")[0]


def test_the_answer_that_one_person_gave_is_nowhere_else(tmp_path, cli):
    """The fault itself: the label of one person under a delta of a millionth."""
    people = ["flu"] * 500 + ["cold"] * 500 + ["rare illness"]
    (tmp_path / "rare.csv").write_text("\n".join(["answer", *people]) + "\n")
    with contextlib.chdir(tmp_path):
        done = cli(*shlex.split(f"simulate rare.csv --column answer {END} --out out"))
    second = done.out.splitlines()[1]
    assert "not covered: the list of answers was read from the data; give --labels" in second
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["simulation"]


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ([f"{i} High Street" for i in range(300)], "300 of 300 that only one person gave: it is "
         "likely an identifier"),
        (["yes", "no", "maybe"], "3 of 3 that only one person gave: too few people to hide an "
                                 "answer"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "command", ["simulate", "simulate --winner", "simulate epochs", "simulate memoized"]
)
def test_a_column_of_names_is_refused_without_labels(command, people, said, tmp_path, refused):
    (tmp_path / "who.csv").write_text("\n".join(["address", *people]) + "\n")
    end = {
        "simulate memoized": "--reports 2",
        "simulate epochs": f"--synthetic 2 --join 0 --leave 0 --change 0 {END}",
    }
    end = end.get(command, END)
    with contextlib.chdir(tmp_path):
        line = refused(*shlex.split(f"{command} who.csv --column address {end}"))
        assert line.startswith("mixtally: column 'address': expected answers that several people")
        assert said in line
        assert line.endswith("give the list with --labels")


def test_a_column_is_named_among_attributes(tmp_path, refused):
    people = [f"{i},{'no' if i % 2 else 'yes'}" for i in range(300)]
    (tmp_path / "who.csv").write_text("\n".join(["number,answer", *people]) + "\n")
    with contextlib.chdir(tmp_path):
        asked = f"simulate who.csv --columns answer,number --as attributes {END}"
        assert "column 'number'" in refused(*shlex.split(asked))
