"""``mixtally contract``: a plan becomes a contract, which is shown and checked, or refused."""

import hashlib
import json

import pytest

from mixtally.model.contract import format_verifier_key

ASKED = ("plan", "--hops", 2, "--epsilon", 1, "--delta", "1e-6", "--users", 20_000)
NAMES = ("mix1.example", "mix2.example", "collect.example")


def role(name):
    key = format_verifier_key(name, hashlib.sha256(name.encode()).digest())
    return f'name = "{name}"\naddress = "https://{name}"\nkey = "{key}"\noperator = "somebody"\n'


@pytest.fixture
def network(tmp_path):
    *hops, collector = map(role, NAMES)
    file = tmp_path / "network.toml"
    text = 'name = "poll"\n' + "".join(f"[[hops]]\n{hop}" for hop in hops)
    file.write_text(text + f"[collector]\n{collector}")
    return file


@pytest.fixture
def plan_file(cli, tmp_path):
    file = tmp_path / "plan.json"
    assert cli(*ASKED, "--bins", 20, "--out", file).status == 0
    return file


@pytest.fixture
def contract(cli, plan_file, network, tmp_path):
    file = tmp_path / "contract.json"
    outcome = cli("contract", "new", plan_file, "--network", network, "--out", file)
    assert outcome.status == 0, outcome.err
    assert hashlib.sha256(file.read_bytes()).hexdigest() in outcome.out
    return file


def test_a_contract_is_shown_on_one_screen(cli, contract):
    outcome = cli("contract", "show", contract)
    assert outcome.status == 0
    assert "Assumes: any one of the 2 mixes is honest, whatever everybody else does." in (
        outcome.out
    )
    assert outcome.out.splitlines()[1].endswith("each answer is exposed.")
    assert len(outcome.out.splitlines()) <= 45


def test_a_contract_is_checked(cli, contract):
    facts = json.loads(cli("contract", "check", contract, "--json").out)
    assert facts["checked"] is True
    assert facts["delta_derived"] == pytest.approx(facts["delta"], rel=1e-6)
    assert facts["delta"] <= facts["delta_target"]


def test_a_second_program_is_asked_where_that_is_wanted(cli, contract):
    alone, both = (cli("contract", "check", contract, *more) for more in ((), ("--rigorous",)))
    assert alone.status == both.status == 0
    assert "second program" not in alone.out
    assert "Second program: " in both.out
    facts = json.loads(cli("contract", "check", contract, "--rigorous", "--json").out)
    assert facts["rigorous"]


def test_signatures_below_the_text_change_nothing(cli, contract):
    before = json.loads(cli("contract", "show", contract, "--json").out)["fingerprint"]
    contract.write_bytes(contract.read_bytes() + "\n\u2014 mix1.example AAAA\n".encode())
    assert cli("contract", "check", contract, "--fingerprint", before).status == 0


def altered(file, change):
    facts = json.loads(file.read_text())
    change(facts)
    file.write_text(json.dumps(facts, indent=1) + "\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["plan"]["certificate"].update(lower=0.0, upper=1e-9), "its promise is false"),
        (lambda c: c["plan"]["parts"][0]["recipe"].update(shift=20), "its promise is false"),
        (lambda c: c["plan"]["certificate"].update(assumption="none"), "was altered"),
        (lambda c: c["plan"].update(local_epsilon=3.0), "was altered"),
        (lambda c: c["plan"]["certificate"].update(lower=0.0), "was altered"),
        (lambda c: c["plan"].update(hops=3), "hops"),
        (lambda c: c.update(suite=9), "suite"),
        (lambda c: c.update(admission="friends"), "admission"),
        (lambda c: c["hops"].append(c["hops"][0]), "hops"),
        (lambda c: c.update(extra=1), "extra"),
        (lambda c: c["plan"].update(minimum_crowd=20_001), "minimum_crowd"),
        (lambda c: c["envelope_bytes"][0].reverse(), "envelope_bytes"),
    ],
)
def test_an_altered_contract_is_refused(cli, contract, change, said):
    altered(contract, change)
    outcome = cli("contract", "check", contract)
    assert outcome.status == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("command", ["check", "show"])
def test_no_page_calls_a_bound_exact_because_its_file_does(cli, command, tmp_path):
    """The ends of several collections lie apart; a file states that they do not."""
    file, shown = tmp_path / "plan.json", tmp_path / "page.html"
    asked = (*ASKED, "--bins", 20, "--collections", 2, "--protocol", "flip-blank")
    assert cli(*asked, "--out", file).status == 0
    assert "(proved upper bound, " in cli("contract", command, file).out
    altered(file, lambda p: p["certificate"].update(lower=p["certificate"]["upper"]))
    page = ("--out", shown) if command == "show" else ()
    outcome = cli("contract", command, file, *page)
    assert (outcome.status, outcome.out) == (2, "")
    assert "was altered" in outcome.err
    assert not shown.exists()


def with_suite(network, number):
    network.write_text(f"suite = {number}\n{network.read_text()}")


def test_a_network_may_name_the_second_suite(cli, plan_file, network, tmp_path):
    with_suite(network, 2)
    file = tmp_path / "contract.json"
    assert cli("contract", "new", plan_file, "--network", network, "--out", file).status == 0
    facts = json.loads(file.read_text())
    assert facts["suite"] == 2
    assert facts["envelope_bytes"] == [[1 + 1136 * left for left in (3, 2, 1)]]
    shown = cli("contract", "show", file).out
    assert "3,409" in shown
    assert "MLKEM768-X25519, HKDF-SHA256, AES-128-GCM" in shown
    assert cli("contract", "check", file).status == 0
    altered(file, lambda c: c.update(suite=1))
    assert "envelope_bytes" in cli("contract", "check", file).err


def test_a_network_with_another_suite_is_refused(cli, plan_file, network, tmp_path):
    with_suite(network, 3)
    file = tmp_path / "contract.json"
    outcome = cli("contract", "new", plan_file, "--network", network, "--out", file)
    assert outcome.status == 2
    assert "suite of the contract: expected one of [1, 2], got 3" in outcome.err
    assert not file.exists()


def test_another_fingerprint_is_refused(cli, contract):
    outcome = cli("contract", "check", contract, "--fingerprint", "0" * 64)
    assert outcome.status == 2
    assert "expected the file with fingerprint 000" in outcome.err


def test_the_beginning_of_a_fingerprint_is_another_one(cli, contract):
    whole = hashlib.sha256(contract.read_bytes()).hexdigest()
    assert cli("contract", "check", contract, "--fingerprint", whole).status == 0
    for short in (whole[:63], whole[:8], ""):
        assert cli("contract", "check", contract, "--fingerprint", short).status == 2


def test_the_same_contract_in_other_bytes_has_another_fingerprint(cli, contract):
    whole = hashlib.sha256(contract.read_bytes()).hexdigest()
    contract.write_text(json.dumps(json.loads(contract.read_text())))
    assert cli("contract", "check", contract).status == 0
    assert cli("contract", "check", contract, "--fingerprint", whole).status == 2
    shown = json.loads(cli("contract", "show", contract, "--json").out)
    assert shown["fingerprint"] == hashlib.sha256(contract.read_bytes()).hexdigest() != whole


def test_no_contract_is_made_of_a_plan_that_promises_too_much(cli, plan_file, network, tmp_path):
    altered(plan_file, lambda t: t["certificate"].update(lower=0.0, upper=1e-9))
    outcome = cli("contract", "new", plan_file, "--network", network, "--out", tmp_path / "c.json")
    assert outcome.status == 2
    assert "its promise is false" in outcome.err
    assert not (tmp_path / "c.json").exists()


def test_too_few_hops_are_refused(cli, plan_file, network, tmp_path):
    text = network.read_text()
    first, second = text.index("[[hops]]"), text.rindex("[[hops]]")
    network.write_text(text[:first] + text[second:])
    outcome = cli("contract", "new", plan_file, "--network", network, "--out", tmp_path / "c.json")
    assert outcome.status == 2
    assert "expected 2 hops, as in the plan, got 1" in outcome.err
    assert not (tmp_path / "c.json").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--prefixes", 10), "one kind of question"),
        (("--number", "0,1", "--prefixes", 10), "one kind of question"),
        (("--number", "0,1", "--longest", 10), "--prefixes with it"),
    ],
)
def test_a_question_is_asked_in_one_way(cli, more, said):
    outcome = cli(*ASKED, "--bins", 20, *more)
    assert outcome.status == 2
    assert said in outcome.err


def test_mix_messages_need_mixes_that_draw(refused):
    asked = ("plan", "--epsilon", 1, "--delta", "1e-6", "--users", 9, "--bins", 2)
    assert "Add --hops" in refused(*asked, "--mix-messages", 3)


def test_numbers_have_their_edges_in_the_plan(cli, tmp_path):
    file = tmp_path / "plan.json"
    assert cli(*ASKED, "--number", "0,100", "--bins", 4, "--out", file).status == 0
    assert json.loads(file.read_text())["edges"] == [0.0, 25.0, 50.0, 75.0, 100.0]


def test_numbers_have_their_grid_in_the_plan(cli, tmp_path):
    file = tmp_path / "plan.json"
    outcome = cli(*ASKED, "--number", "0,100", "--out", file)
    assert outcome.status == 0, outcome.err
    plan = json.loads(file.read_text())
    assert plan["edges"] is None
    assert plan["grid"] == {"low": 0.0, "high": 100.0, "points": plan["question"]["bins"]}
    assert "mean has a standard error of" in outcome.out.replace("\n", " ")
    told = json.loads(cli(*ASKED, "--number", "0,100", "--points", 7, "--json").out)
    assert told["mean"]["points"] == 7
    assert told["mean"]["standard_error"] == pytest.approx(100 * told["mean"]["share_of_range"])


def test_points_are_not_chosen_for_a_crowd_that_is_to_be_found(refused):
    asked = ("plan", "--number", "0,1", "--epsilon", 1, "--delta", "1e-6", "--target-share", 0.01)
    assert "--points with --number" in refused(*asked)
    assert "--number with it" in refused(*asked[:1], *asked[3:], "--bins", 9, "--points", 3)


@pytest.fixture
def numbers(cli, network, tmp_path):
    """A contract that asks for a number from 0 to 100, and a column of them."""
    plan, file, column = (tmp_path / name for name in ("t.json", "n.json", "ages.csv"))
    assert cli(*ASKED, "--number", "0,100", "--bins", 4, "--out", plan).status == 0
    assert cli("contract", "new", plan, "--network", network, "--out", file).status == 0
    column.write_text("age\n" + "".join(f"{row % 100}.5\n" for row in range(20_000)))
    return file, ("simulate", column, "--column", "age", "--seed", 1, "--json")


def test_numbers_are_cut_at_the_edges_of_the_contract(cli, numbers, tmp_path):
    file, play = numbers
    outcome = cli(*play, "--contract", file, "--out", tmp_path / "out")
    assert outcome.status == 0, outcome.err
    assert [row["truth"] for row in json.loads(outcome.out)["releases"][0]["estimates"]] == [
        5000
    ] * 4
    altered(file, lambda c: c["plan"].update(edges=[0.0, 10.0, 50.0, 75.0, 100.0]))
    outcome = cli(*play, "--contract", file, "--out", tmp_path / "other")
    assert outcome.status == 2
    assert "expected bins of equal width" in outcome.err
    assert not (tmp_path / "other").exists()


def test_a_hop_that_cheats_leaves_out_everybody_it_can(cli, numbers, tmp_path):
    file, play = numbers
    cheats = (*play, "--contract", file, "--dishonest", 1)
    came = []
    for place, more in enumerate(((), ("--leave-out", 1), ("--leave-out", 0))):
        outcome = cli(*cheats, *more, "--out", tmp_path / str(place))
        (facts,) = json.loads(outcome.out)["releases"]
        assert "messages of people in part 1" in facts["refusal"]
        assert "estimates" not in facts
        came.append(facts["received"]["parts"][0]["received"])
    assert came[0] == came[1] < came[2] - 19_000


def test_words_have_their_prefixes_in_the_plan(cli, tmp_path):
    file = tmp_path / "plan.json"
    assert cli(*ASKED, "--prefixes", 9, "--out", file).status == 0
    read = json.loads(file.read_text())
    assert read["prefixes"]["most"] == 9
    assert read["question"]["bins"] == 9 * (len(read["prefixes"]["alphabet"]) + 2) + 1


def test_a_plan_with_its_network_becomes_the_contract(cli, network, tmp_path, refused):
    """The same bytes as in two commands; without a name it is called as its question."""
    network.write_text(network.read_text().removeprefix('name = "poll"\n'))
    asked = ("plan", "--epsilon", 1, "--delta", "1e-6", "--users", 1000, "--bins", 5, "--hops", 2)
    named = ("--name", "tea", "--minimum-crowd", 500)
    one, two, plan = (tmp_path / name for name in ("one.json", "two.json", "tea.json"))
    outcome = cli(*asked, *named, "--network", network, "--out", one)
    assert f"contract written to {one}" in outcome.out
    assert cli(*asked, *named, "--out", plan).status == 0
    assert cli("contract", "new", plan, "--network", network, "--out", two).status == 0
    assert one.read_bytes() == two.read_bytes()
    assert json.loads(one.read_text())["name"] == "tea"
    assert "expected --out with it" in refused(*asked, "--network", network)


@pytest.fixture
def page(tmp_path):
    folder = tmp_path / "page"
    (folder / "src").mkdir(parents=True)
    for name in ("index.html", "src/main.js", "contract.json"):
        (folder / name).write_text(name)
    return folder


def with_page(cli, plan_file, network, page):
    file = page.parent / "contract.json"
    arguments = ("--network", network, "--out", file, "--client-files", page)
    return cli("contract", "new", plan_file, *arguments), file


def test_the_files_of_a_page_are_stated_except_its_contract(cli, plan_file, network, page):
    outcome, file = with_page(cli, plan_file, network, page)
    assert outcome.status == 0, outcome.err
    stated = json.loads(file.read_text())["client_files"]
    names = ["index.html", "src/main.js"]
    digests = [hashlib.sha256(name.encode()).hexdigest() for name in names]
    assert stated == [
        {"path": name, "sha256": digest} for name, digest in zip(names, digests, strict=True)
    ]
    assert json.loads(cli("contract", "check", file, "--json").out)["client_files"] == stated


def test_a_contract_that_the_page_refuses_does_not_state_its_files(cli, plan_file, network, page):
    (page / "page").mkdir()
    (page / "page/page.js").write_text("")
    usual = network.read_text()
    network.write_text(f"suite = 2\n{usual}")
    outcome, file = with_page(cli, plan_file, network, page)
    assert (outcome.status, file.exists()) == (2, False)
    assert "got suite 2" in outcome.err
    network.write_text(usual)
    assert with_page(cli, plan_file, network, page)[0].status == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda page: (page / ".DS_Store").write_text(""), "client_files"),
        (lambda page: (page / "a b.js").write_text(""), "client_files"),
        (lambda page: [(page / f"{n}.js").write_text("") for n in range(127)], "128 files"),
        (lambda page: (page / "gone.js").symlink_to("nothing"), "a folder with the files of a"),
        (lambda page: page.rename(page.with_name("other")), "a folder with the files of a page"),
    ],
)
def test_a_folder_that_is_no_page_is_refused(cli, plan_file, network, page, change, said):
    change(page)
    outcome, file = with_page(cli, plan_file, network, page)
    assert (outcome.status, file.exists()) == (2, False)
    assert said in outcome.err
