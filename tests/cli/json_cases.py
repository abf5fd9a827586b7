# ruff: noqa: E501  (a command is one line)
"""Every documented command with JSON, each on its own in a folder with the same small files.

A case is one line: the last command's JSON is looked at, those before it (``&&``) prepare.
``{seed}`` marks what depends on chance.
"""

from collections.abc import Iterator
from pathlib import Path

from mixtally.cli.app import COMMANDS
from mixtally.model.contract import format_verifier_key

PLANNED = "plan --epsilon 1 --delta 1e-6 --users 1000 --bins 20 --out plan.json"
LEDGER = "budget open me.ledger --epsilon 3 --delta 1e-5"
CHARGED = f"{PLANNED} && {LEDGER} && budget charge me.ledger plan.json --times 2 --note spring"
HASHED = (
    "plan --open --hash-seed 00112233445566778899aabbccddeeff --name answer --users 1000 "
    "--epsilon 1 --delta 1e-6 --mix-fakes --out p.json"
)
SHARDS = (
    "plan --epsilon 1 --delta 1e-6 --users 1000 --labels words.txt --out plan.json && "
    "batch randomize survey.csv --column answer --plan plan.json --out devices"
)
NOISE = "--permanent 0.5 --p 0.5 --q 0.75 --hashes 1 --reports 5"
ROW = "plan --hops 3 --epsilon 1 --delta 1e-6 --users 1e5 --minimum-crowd 5e4"
OPINION = f"{ROW} --labels words.txt --name opinion --out plan.json"
CONTRACT = f"{OPINION} && contract new plan.json --network network.toml --out contract.json"
SMALL = (
    "plan --hops 3 --epsilon 1 --delta 1e-6 --users 1000 --labels words.txt --out plan.json && "
    "contract new plan.json --network network.toml --out small.json"
)
FEW = "--runs 100 --drawn 1000 --seed {seed} --json"
DIARY = "--epoch-column week --person-column who"
END = "--delta 1e-6 --seed {seed} --json"

_PLANS = f"""
plan --epsilon 1 --delta 1e-6 --users 1e6 --bins 1000 --json
plan --epsilon 1 --delta 1e-6 --users 1e6 --bins 100000 --mix-fakes --json
plan --epsilon 0.5 --delta 1e-9 --users 2e5 --bins 50 --honest-share 0.8 --json
plan --epsilon 1 --delta 1e-6 --users 1e6 --bins 100 --explain --json
plan --epsilon 1 --delta 1e-6 --users 1e5 --bins 20 --out plan.json --json
plan --epsilon 1 --delta 1e-6 --users 1e5 --bins 100 --protocol flip --json
plan --epsilon 1 --delta 1e-6 --users 1e4 --bins 100 --protocol flip-uniform --json
plan --epsilon 1 --delta 1e-6 --users 1e4 --bins 100 --messages-per-user 1 --error-at 0.01 --explain --json
{ROW} --bins 100 --json
{ROW} --number 0,100 --mix-messages 1e4 --json
{ROW} --number 0,100 --bins 20 --json
{ROW} --prefixes 9 --longest 8 --json
{ROW} --collections 4 --labels words.txt --name opinion --network network.toml --out contract.json --json
{CONTRACT} --json
page build --out page && {CONTRACT} --client-files page --json
{CONTRACT} && contract show contract.json --json
{CONTRACT} && contract check contract.json --json
{CONTRACT} && contract check contract.json --rigorous --json
plan --open --name word --users 1e5 --epsilon 1 --delta 1e-6 --mix-fakes --out p.json --json
plan --epsilon 1 --delta 1e-6 --users 2000 --labels words.txt --out plan.html --approval approval.toml --json
"""

_LAWS = f"""
check delta --protocol flip-blank --epsilon 1 --fakes 999999 --flip 4.27e-5 --json
check delta --protocol flip-blank --epsilon 1 --fakes 1e6 --flip 0.0065 --max-set 2 --json
check delta --protocol flip-blank --epsilon 1 --fakes 1e6 --flip 1e-4 --repeats 3 --json
check delta --protocol flip-blank --epsilon 1 --fakes 1e6 --flip 1e-4 --max-set 3 --split --json
check delta --protocol flip-uniform --epsilon 1 --users 1e4 --fakes 1e4 --bins 1000 --flip 0.004 --json
check delta --protocol clear-uniform --epsilon 1 --fakes 4261 --bins 100 --json
check delta --protocol kary-response --epsilon 1 --users 1e4 --bins 100 --replaced 0.2346 --json
check delta --protocol clear-uniform --epsilon 1 --bins 1000 --max-set 4 --fakes 145529 --json
check delta --protocol clear-shaped --epsilon 1 --shape-decay 0.5 --shape-shift 25 --json
check delta --protocol clear-shaped --epsilon 1 --shape-variance 36 --shape-shift 36 --json
check delta --protocol clear-shaped --epsilon 1 --paired --shape-decay 1 --shape-shift 14 --json
check delta --protocol single-bit --epsilon 1 --users 1e6 --fakes 0 --flip 3.41e-5 --ones 10 --json
check delta --protocol flip --epsilon 2 --users 5000 --bits 5 --flip 0.15 --background zero --json
check delta --protocol memory --epsilon 1 {NOISE} --json
check delta --protocol clear-uniform --bins 4 --max-set 2 --slots 1 --fakes 1 --epsilon 1 --json
check delta --matrix matrix.csv --users 1000 --epsilon 0.5 --fakes 500 --fake-row uniform --rounds 3 --curve --json
check noise --protocol flip-blank --epsilon 1 --delta 1e-6 --fakes 1e6 --json
check noise --protocol flip-uniform --epsilon 1 --delta 1e-6 --users 1e4 --fakes 1e4 --bins 1000 --json
check noise --protocol clear-uniform --epsilon 1 --delta 1e-6 --bins 100 --json
check noise --protocol kary-response --epsilon 1 --delta 1e-6 --users 1e4 --bins 100 --json
check noise --protocol clear-uniform --epsilon 1 --delta 1e-6 --bins 1000 --max-set 4 --users 1e6 --json
check noise --protocol clear-shaped --epsilon 1 --delta 1e-6 --json
check noise --protocol single-bit --epsilon 1 --delta 1e-6 --users 1e6 --fakes 0 --json
check noise --protocol flip --epsilon 1 --delta 1e-6 --users 1e6 --bins 100 --json
check noise --protocol flip --epsilon 1 --delta 1e-6 --users 1e4 --observer sums --json
check noise --protocol memory --epsilon 1 --delta 1e-6 --p 0.5 --q 0.75 --hashes 1 --reports 5 --json
check sufficient --users 5000 --bits 5 --epsilon 2 --sigmas 3 --json
check sufficient --users 5000 --bits 5 --epsilon 2 --eta 0.001 --json
check sufficient --users 5000 --bits 5 --epsilon 2 --flip 0.15 --json
{LEDGER} && budget show me.ledger --json
{CHARGED} && budget show me.ledger --json
{CHARGED} && budget show me.ledger --plan plan.json --json
"""

_FORMULAS = """
check formula --list --json
check formula --formula notes-4.48 --epsilon 1 --delta 1e-6 --users 1e6 --fakes 0 --json
check formula --formula notes-5.10 --epsilon 1 --delta 1e-6 --bins 100 --json
check formula --formula notes-5.16 --epsilon 1 --delta 1e-6 --users 1e5 --fakes 0 --json
check formula --formula notes-5.26 --epsilon 1 --delta 1e-6 --fakes 1e7 --json
check formula --formula notes-5.26 --epsilon 1 --delta 1e-6 --users 1e6 --fakes 1e6 --json
check formula --formula sufficient-4.2 --epsilon 0.693147 --delta 1e-6 --bits 5 --json
check formula --formula sufficient-3.12 --epsilon 2 --delta 1e-6 --users 5000 --bits 5 --json
check formula --formula sufficient-3.15 --epsilon 0.693147 --delta 1e-6 --users 5000 --bits 5 --json
check formula --formula sufficient-5 --epsilon 2 --delta 1e-6 --users 1e5 --json
check formula --formula repeats-4.45 --epsilon 0.693147 --delta 1e-6 --users 1000 --json
check formula --formula repeats-5.24 --epsilon 1 --delta 1e-6 --users 1e5 --repeats 5 --json
check formula --formula voting --epsilon 1.0644 --delta 1e-6 --json
check formula --formula cheu-zhilyaev --epsilon 1 --delta 1e-6 --fakes 1e6 --json
check formula --formula luo-wang-yi --epsilon 1 --delta 1e-6 --users 1e6 --json
check formula --formula balcer-cheu --epsilon 1 --delta 1e-6 --users 1e6 --json
check formula --formula balcer-cheu-bit --epsilon 1 --delta 1e-6 --users 1e6 --json
check formula --formula poisson --epsilon 1 --delta 1e-6 --json
check formula --formula negative-binomial --epsilon 0.5 --delta 1e-6 --json
check formula --formula sageo --epsilon 1 --delta 1e-6 --json
check formula --formula s1geo --epsilon 1 --delta 1e-6 --json
"""

_ATTACKS = f"""
check attack --matrix matrix.csv --users 1000 --epsilon 0.5 --delta 1e-6 {FEW}
check attack --protocol memory {NOISE} --bits 1000 {FEW}
"""

_PLAYED = f"""
batch doctor --envelopes 1e6 --hops 2 --json
{SHARDS} --json
{SHARDS} && batch mix devices --plan plan.json --out mixed --json
{SHARDS} && batch mix devices --plan plan.json --out mixed && batch tally mixed --plan plan.json --tallies kept --out result --json
{HASHED} && batch randomize survey.csv --column answer --plan p.json --out devices --seed {{seed}} && batch mix devices --plan p.json --out mixed --seed {{seed}} && batch tally mixed --plan p.json --candidates list.txt --tallies kept --out result --json
simulate counted.csv --column answer --labels words.txt --counts people --epsilon 1 {END}
simulate survey.csv --column answer --labels words.txt --counts-only --epsilon 1 {END}
example made-up.csv --json
example --all made-up --json
simulate survey.csv --column answer --labels words.txt --epsilon 1 --out result {END}
simulate survey.csv --column answer --labels words.txt --epsilon 1 --mix-fakes {END}
simulate survey.csv --column answer --labels words.txt --epsilon 1 --project simplex {END}
{PLANNED} && simulate pages.csv --column page --plan plan.json --seed {{seed}} --json
simulate survey.csv --column likes --labels drinks.txt --max-set 3 --set ';' --epsilon 1 --pairs {END}
simulate survey.csv --column likes --set ';' --epsilon 1 {END}
simulate survey.csv --columns smokes,drives --labels habits.txt --as attributes --epsilon 2 --pairs {END}
simulate survey.csv --column age --number 0,100 --epsilon 1 --mix-fakes {END}
simulate survey.csv --column age --number 0,100 --bins 20 --epsilon 1 --mix-fakes {END}
simulate survey.csv --column answer --candidates list.txt --epsilon 1 --mix-fakes {END}
{HASHED} && simulate survey.csv --column answer --plan p.json --candidates list.txt --seed {{seed}} --json
simulate memoized survey.csv --column answer --labels words.txt --reports 5 --epsilon 1 --out result --seed {{seed}} --json
simulate memoized survey.csv --column answer --labels words.txt --epsilon 1 --state kept.key --json
simulate gaps.csv --column answer --labels words.txt --epsilon 1 --missing drop {END}
simulate diary.csv --column color --labels colors.txt --person-column who --several last --epsilon 1 {END}
simulate diary.csv --column color --labels colors.txt --max-set 3 --person-column who --several set --epsilon 1 --mix-fakes {END}
simulate diary.csv --winner --column color --labels colors.txt --person-column who --several first --epsilon 1 {END}
{SMALL} && simulate survey.csv --column answer --contract small.json --out played --seed {{seed}} --json
{SMALL} && simulate survey.csv --column answer --contract small.json --dishonest 1,3 --leave-out 0.5 --json
simulate --winner --example --seed {{seed}} --json
simulate survey.csv --winner --column answer --labels words.txt --epsilon 1 --out vote-result {END}
simulate survey.csv --winner --column answer --labels words.txt --keep-probability 0.63 --mix-fakes {END}
simulate memoized survey.csv --column answer --labels words.txt --reports 5 --state crowd.key --out result --json
simulate memoized survey.csv --column answer --labels words.txt --permanent 0.5 --p 0.5 --q 0.75 --reports 5 --epsilon 1 --seed {{seed}} --json
simulate memoized survey.csv --column answer --reports 5 --bloom-bits 64 --candidates list.txt --seed {{seed}} --json
"""

_SECONDS = f"""
{ROW} --collections 4 --labels words.txt --name opinion --out plan.json --json
plan --epsilon 1 --delta 1e-6 --users 1e5 --bins 20 --target-error 8 --json
check noise --protocol flip --epsilon 2 --delta 1e-6 --users 5000 --bits 5 --split --json
check formula --formula blanket --epsilon 1 --delta 1e-6 --users 1e6 --json
check formula --formula clones --epsilon 1 --delta 1e-6 --users 1e6 --json
simulate survey.csv --columns smokes,drives --as bits --epsilon 2 --observer sums {END}
simulate epochs diary.csv --column age --number 0,100 {DIARY} --epsilon 1 {END}
simulate epochs survey.csv --column answer --labels words.txt --synthetic 4 --counts-only --epsilon 1 {END}
plan --epsilon 2 --delta 1e-6 --users 5000 --bits 5 --messages-per-user 5 --json
plan --epsilon 1 --delta 1e-6 --users 1e6 --bins 50 --collections 12 --json
plan --epsilon 1 --delta 1e-6 --users 1e6 --attributes 10,20,5 --messages-per-user 6 --json
plan --epsilon 1 --delta 1e-6 --bins 20 --target-share 0.01 --json
plan --epsilon 0.01 --delta 1e-15 --users 10 --bins 20 --json
check noise --protocol flip --epsilon 2 --delta 1e-6 --users 5000 --bits 5 --repeats 10 --json
{PLANNED} && check attack plan.json --out attacked {FEW}
{SMALL} && check attack small.json {FEW}
{SMALL} && check attack small.json --only poisoning {FEW}
demo --out demo-result --seed {{seed}} --json
simulate epochs survey.csv --column answer --labels words.txt --synthetic 4 --epsilon 1 --out over-time {END}
simulate epochs survey.csv --column answer --labels words.txt --synthetic 3 --join 0.1 --leave 0.1 --change 0.2 --counts-only --epsilon 1 {END}
{LEDGER} && simulate epochs diary.csv --column color --labels colors.txt {DIARY} --epsilon 1 --ledger me.ledger {END}
simulate places homes.csv --latitude lat --longitude lon --box 40,44,-76,-70 --resolution 3 --epsilon 1 --out places {END}
simulate baskets survey.csv --column likes --labels drinks.txt --max-set 3 --set ';' --epsilon 2 --confidence 0.5 --out baskets {END}
simulate baskets diary.csv --column color --labels colors.txt --max-set 3 --person-column who --several set --epsilon 4 {END}
simulate words survey.csv --column answer --epsilon 2 --top 2 --out found {END}
simulate words survey.csv --column answer --epsilon 1 --top 3 --longest 6 {END}
"""

_SLOW = f"""
check attack --network --only own-sheet --runs 100 --json
check attack --protocol flip --users 1e3 --bins 10 --flip 0.03047 --epsilon 1 --delta 1e-6 {FEW}
check attack --protocol flip --users 1e5 --bins 10 --flip 0.003047 --epsilon 1 --delta 1e-6 {FEW}
simulate epochs diary.csv --column likes --labels drinks.txt --max-set 3 --set ';' {DIARY} --epsilon 4 {END}
"""


def command_of(line: str) -> str:
    """The command that a line calls: a word, or two."""
    first, *rest = line.split()
    two = " ".join([first, *rest[:1]])
    return two if two in COMMANDS else first


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.strip().splitlines())


FAST = tuple(line for t in (_PLANS, _LAWS, _FORMULAS, _ATTACKS, _PLAYED) for line in _lines(t))
SECONDS = _lines(_SECONDS)
SLOW = _lines(_SLOW)


def _network() -> Iterator[str]:
    """Three mixes and a collector, with keys that nobody has."""
    yield 'name = "opinion"'
    for place in range(1, 5):
        name = f"role{place}.example"
        yield "[collector]" if place > 3 else "[[hops]]"
        yield f'name = "{name}"\naddress = "https://{name}"\noperator = "somebody"'
        yield f'key = "{format_verifier_key(name, bytes([place]) * 32)}"'


def lay_out(desk: Path) -> None:
    """The files that the cases read, written into ``desk``."""
    (desk / "matrix.csv").write_text(",red,green\nred,3/4,1/4\ngreen,1/4,3/4\n")
    answers = ["yes"] * 700 + ["no"] * 250 + ["unsure"] * 50
    likes, colors = ("tea", "tea;cake", "cake;milk"), ("red", "green", "blue")
    survey = [
        f"{answer},{likes[i % 3]},{int(i % 5 == 0)},{i % 2},{i % 90}"
        for i, answer in enumerate(answers)
    ]
    diary = [
        f"p{i},{week},{colors[(i + week * (i % 7 == 0)) % 3]},{likes[i % 3]},{i % 90}"
        for week in range(3)
        for i in range(1000)
    ]
    pages = [str(i % 20) for i in range(1000)]
    for name, head, rows in (
        ("survey.csv", ["answer,likes,smokes,drives,age"], survey),
        ("diary.csv", ["who,week,color,likes,age"], diary),
        ("pages.csv", ["page"], pages),
        ("homes.csv", ["lat,lon"], [f"{41 + i % 3},{-73 + i % 2}" for i in range(1000)]),
        (
            "gaps.csv",
            ["answer,n"],
            [f"{'' if i % 9 == 0 else answer},{i}" for i, answer in enumerate(answers)],
        ),
        ("counted.csv", ["answer,people"], ["yes,6000000000", "no,3999999999"]),
        ("list.txt", [], ["yes", "no", "perhaps"]),
        ("words.txt", [], ["yes", "no", "unsure"]),
        ("drinks.txt", [], ["cake", "milk", "tea"]),
        ("colors.txt", [], colors),
        ("habits.txt", [], ["smokes=0", "smokes=1", "drives=0", "drives=1"]),
        ("network.toml", [], [*_network()]),
        ("approval.toml", [], ['purpose = "Decide whether the market opens on Sundays."']),
    ):
        (desk / name).write_text("\n".join([*head, *rows]) + "\n")
