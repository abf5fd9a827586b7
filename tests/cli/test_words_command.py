"""``mixtally simulate words``: words of a column, one promise for all rounds."""

import csv
import json

import pytest

from mixtally.app import words as app_words
from mixtally.lab.simulation.heavy import rounds
from report.reader import self_contained

WORDS = ["yes"] * 3000 + ["no"] * 1500 + ["maybe"] * 400 + ["é"] * 90 + ["rare"] * 10
GIVEN = (
    "--column",
    "answer",
    "--epsilon",
    1,
    "--delta",
    "1e-6",
    "--longest",
    6,
    "--symbols",
    1,
    "--top",
    2,
)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("answer\n" + "\n".join(WORDS) + "\n", encoding="utf-8")
    return path


@pytest.mark.seconds
def test_json_holds_words_rounds_and_the_promise(cli, data):
    outcome = cli("simulate words", data, *GIVEN, "--seed", 3, "--json")
    assert (outcome.status, outcome.err) == (0, "")
    facts = json.loads(outcome.out)
    assert [row["word"] for row in facts["words"]] == ["yes", "no"]
    for row in facts["words"]:
        assert row["lower_simultaneous"] <= row["truth"] <= row["upper_simultaneous"]
    assert facts["delta"] <= 1e-6
    assert (facts["epsilon"], facts["recall"], facts["ghosts"]) == (1.0, 1.0, 0)
    assert facts["promised"][0].startswith("All 6 rounds together: epsilon = 1, delta <= ")
    assert 1 <= facts["rounds_played"] == len(facts["rounds"]) <= 6
    again = cli("simulate words", data, *GIVEN, "--seed", 3, "--json")
    assert json.loads(again.out) == facts


def test_the_table_shows_words_truth_and_promise(cli, data):
    outcome = cli(
        "simulate words", data, *GIVEN, "--seed", 3, "--way", "apart", "--error-rate", "0.2"
    )
    assert outcome.status == 0
    for text in ("│ yes", "80 % interval, all bins", "100 % are among", "in exactly one"):
        assert text in outcome.out


@pytest.mark.seconds
@pytest.mark.parametrize("more", [(), ("--way", "apart"), ("--error-rate", "0.5")], ids=str)
def test_the_files_hold_what_is_printed(cli, data, tmp_path, more):
    out = tmp_path / "out" / "simulation"
    outcome = cli("simulate words", data, *GIVEN, *more, "--seed", 3, "--json", "--out", out.parent)
    assert (outcome.status, outcome.err) == (0, "")
    facts = json.loads(outcome.out)
    assert json.loads((out / "result.json").read_text()) == facts
    with (out / "words.csv").open(newline="", encoding="utf-8") as file:
        assert "holds raw counts" in next(file)
        rows = list(csv.DictReader(file))
    assert [row["word"] for row in rows] == [row["word"] for row in facts["words"]]
    for row in rows:
        assert float(row["lower_simultaneous"]) <= float(row["upper_simultaneous"])
    text = " ".join(self_contained((out / "report.html").read_text()).texts)
    for part in ("5,000 rows of answers.csv", "Round by round", *facts["promise"], "100 %"):
        assert part in text
    assert "Words missed" not in text
    told = cli("simulate words", data, *GIVEN, *more, "--seed", 3, "--out", out.parent).out
    assert f"wrote {out / 'report.html'}" in told


@pytest.mark.seconds
def test_a_search_that_misses_or_finds_nothing_says_so(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(app_words, "check_frequency", lambda *_: None)  # refuses it beforehand
    few = tmp_path / "few.csv"
    few.write_text("answer\n" + "".join(f"<b>{i}\n" for i in range(200)) * 10)
    out = tmp_path / "out" / "simulation"
    given = (*GIVEN, "--alphabet", "<>b0123456789", "--seed", 3)
    outcome = cli("simulate words", few, *given, "--json", "--out", out.parent)
    facts = json.loads(outcome.out)
    assert facts["words"] == []
    assert facts["covered"] is None
    assert [row["word"] for row in facts["missed"]] == ["<b>0", "<b>1"]
    text = (out / "report.html").read_text()
    assert "No word was held by enough people" in text
    assert "&lt;b&gt;0" in text
    self_contained(text)
    assert (out / "words.csv").read_text().count("\n") == 2
    told = cli("simulate words", few, *given).out
    assert "The most frequent words of answer: none was found." in " ".join(told.split())
    assert "--candidates" in told


def test_words_too_rare_for_the_threshold_are_refused_before_a_round(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(rounds, "play", None)
    few = tmp_path / "few.csv"
    few.write_text("answer\n" + "".join(f"w{i}\n" for i in range(200)) * 10)
    line = refused(cli("simulate words", few, *GIVEN))
    assert "column 'answer': expected a word that about " in line
    assert line.endswith("or count a list of words with `mixtally simulate --candidates FILE`.")


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (["www.host1.example", "www.host2.example"], (), "Give --longest 17, or count a list"),
        (["привет", "да", "спасибо"], ("--longest", 8), "in a rehearsal --alphabet-from-data"),
        (["yes", "no"], ("--alphabet", "yesno."), None),
        (["yes", "no"], ("--alphabet", "abb"), "got 'b' more than once"),
        (
            ["yes", "no"],
            ("--alphabet", "ab", "--alphabet-from-data"),
            "expected --alphabet without --alphabet-from-data, got both",
        ),
        (["yes", "no"], ("--longest", 600), "in 64 rounds, got 600 symbols"),
        (["yes", "no"], ("--outside", 7), "outside: expected an integer in [0, 6], got 7"),
    ],
)
def test_words_that_do_not_fit_are_refused_before_a_round(
    cli, tmp_path, words, options, said, monkeypatch
):
    monkeypatch.setattr(rounds, "play", None)  # a round that is played fails
    path = tmp_path / "words.csv"
    rows = [words[place % len(words)] for place in range(900)]
    path.write_text("answer\n" + "\n".join(rows) + "\n", encoding="utf-8")
    run = ("simulate words", path, *GIVEN, *options)
    if said is None:
        with pytest.raises(TypeError):
            cli(*run)
        return
    assert said in refused(cli(*run))


@pytest.mark.seconds
def test_an_alphabet_read_from_the_words_finds_them_and_makes_no_release(cli, tmp_path):
    words, out = ["привет", "да", "спасибо"], tmp_path / "out"
    path = tmp_path / "words.csv"
    rows = [words[place % 3] for place in range(900)]
    path.write_text("answer\n" + "\n".join(rows) + "\n", encoding="utf-8")
    run = (*GIVEN[:6], "--longest", 7, "--top", 3, "--alphabet-from-data", "--json")
    outcome = cli("simulate words", path, *run, "--out", out)
    facts = json.loads(outcome.out)
    assert sorted(row["word"] for row in facts["words"]) == sorted(words)
    assert facts["alphabet"] == "абвдеиопрст"
    assert facts["not_covered"] == ["the alphabet was read from the data; give --alphabet"]
    assert [one.name for one in out.iterdir()] == ["simulation"]


def test_a_page_that_cannot_be_written_leaves_what_was_there(cli, data, tmp_path):
    place = tmp_path / "place"
    place.write_text("mine")
    assert "expected a new or an existing folder" in refused(
        cli("simulate words", data, *GIVEN, "--out", place)
    )
    assert place.read_text() == "mine"


@pytest.mark.parametrize(
    ("more", "subject"),
    [
        (("--way", "nope"), "way: expected together or apart"),
        (("--alphabet", "aa"), "alphabet: expected"),
        (("--longest", 0), "longest: expected"),
        (("--top", 0), "top: expected"),
        (("--error-rate", 0.9), "false-positive rate: expected"),
        (("--epsilon", 0), "epsilon: expected"),
        (("--messages-per-user", 0.5), "messages per user: expected"),
        (("--column", "nope"), "expected a column 'nope'"),
    ],
)
def test_bad_options_are_refused_in_a_line(cli, data, more, subject):
    assert subject in refused(cli("simulate words", data, *GIVEN, *more))


@pytest.mark.parametrize(
    ("content", "subject"),
    [
        (b"answer\n\xff\xfe\n", "expected UTF-8 text, got byte 0xff in line 2"),
        (b"answer\nyes\n\nno\n", "got a missing one"),
        (b"answer\nyes\nyes\n", "expected at least two distinct values"),
        (b"answer\n", "expected at least two rows"),
    ],
)
def test_bad_data_is_refused_in_a_line(cli, tmp_path, content, subject):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    assert subject in refused(cli("simulate words", path, *GIVEN))


def refused(outcome):
    """The one line of a refusal."""
    assert (outcome.status, outcome.out) == (2, "")
    (line,) = outcome.err.strip().splitlines()
    assert line.startswith("mixtally: ")
    return line
