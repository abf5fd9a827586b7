"""The tables of the pages are computed again: what stands there is what the code says today."""

import json
import math
import re
import shlex
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import mixtally
from helpers import randomizers
from mixtally.accounting.baselines import local_standard_error
from mixtally.accounting.budget import compose
from mixtally.accounting.curves import find_epsilon
from mixtally.accounting.divergence.matrix import Randomizer
from mixtally.accounting.divergence.memoized import loss
from mixtally.cli.app import app
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.lab.formulas import fakes_per_bin
from mixtally.lab.formulas.shuffle_bounds import blanket_hoeffding, clones_epsilon
from mixtally.model.guarantee import Guarantee
from mixtally.model.matrix import make_matrix
from mixtally.model.mechanism.memoized import make_memoized
from mixtally.model.question import Question
from mixtally.planning import PlanRequest, choose
from mixtally.protocol.estimate.memoized import recovery
from mixtally.report.numbers import at_most

ROOT = Path(__file__).parents[2]
PROMISE = "--epsilon 1 --delta 1e-6"


@cache
def page(name):
    return (ROOT / name).read_text()


def cells(name, start):
    """What stands behind the first cell in the one row of ``name`` that begins with ``start``."""
    (line,) = (line for line in page(name).splitlines() if line.startswith(f"| {start} |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def near(stated):
    """Half a unit of the last digit that is stated, such as 127, 9.5 or 0.0133."""
    _, _, decimals = stated.partition(".")
    return pytest.approx(float(stated), abs=0.5001 * 10.0 ** -len(decimals))


@cache
def facts(command):
    done = CliRunner().invoke(app, [*shlex.split(command), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def planned(options):
    return facts(f"plan {PROMISE} --users 1e5 {options}")


KINDS = {
    "one of 100 bins": ("--bins 100", "--mix-fakes"),
    "a set of at most 3 of 100": ("--bins 100 --max-set 3", "--messages-per-user 2"),
    "a single bit": ("--bits 1", "--mix-fakes"),
    "5 free bits": ("--bits 5", "--messages-per-user 2"),
    "attributes of 10, 20, 5": ("--attributes 10,20,5", "--messages-per-user 2"),
    "a number, 25 points": ("--number 0,100", "--mix-fakes"),
    "a word of an open domain": ("--open", "--mix-fakes"),
}


@pytest.mark.seconds
@pytest.mark.parametrize(("kind", "options"), KINDS.items(), ids=KINDS)
def test_errors_of_the_kinds_of_questions(kind, options):
    *_, usual, other = cells("docs/how-to/kinds.md", kind)
    found = planned(options[0])
    assert found["standard_error"] == near(re.match(r"[\d.]+", usual)[0])
    for messages in re.findall(r"at ([\d.]+) messages", usual):
        assert found["messages_per_user"] == near(messages)
    if options[1]:
        found, stated = planned(" ".join(options)), re.match(r"[\d.]+", other)[0]
        assert found["standard_error"] == near(stated)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 16])
def test_what_sets_in_clear_take(size):
    a_bin, error, messages = cells("docs/explanation/accounting.md", str(size))
    told = "check noise --protocol clear-uniform --bins 1000 --users 1e6"
    fakes = facts(f"{told} {PROMISE} --max-set {size}")["fakes"]
    cells_named = 1000 + size * (size > 1)
    assert fakes / cells_named == near(a_bin)
    assert (fakes / cells_named) ** 0.5 == near(error)
    assert size + fakes / 10**6 == near(messages)


@pytest.mark.seconds
def test_points_and_errors_of_means():
    users = [cell.replace(",", "") for cell in cells("docs/how-to/kinds.md", "people")]
    points = cells("docs/how-to/kinds.md", "points at (1, 1e-6)")
    errors = cells("docs/how-to/kinds.md", "standard error of the mean, in 10^-6 ranges")
    for crowd, many, stated in zip(users, points, errors, strict=True):
        found = facts(f"plan {PROMISE} --users {crowd} --number 0,1")["mean"]
        assert found["points"] == int(many)
        assert found["standard_error"] * 1e6 == pytest.approx(float(stated), rel=0.005)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("start", "mechanism"),
    [("flip-blank, composed", "flip-blank"), ("clear-shaped, composed", "clear-shaped")],
)
def test_what_collections_compose_to(start, mechanism):
    wish = PlanRequest(
        question=Question(name="answer", bins=100),
        guarantee=Guarantee(epsilon=1.0, delta=1e-6),
        users=10**6,
        protocol=mechanism,
        mix_fakes=True,
    )
    plan = choose(wish).plan
    times = [int(cell) for cell in cells("docs/explanation/composition.md", "collections")]
    for count, stated in zip(times, cells("docs/explanation/composition.md", start), strict=True):
        if stated == "over 20":
            with pytest.raises(InfeasibleError):
                compose.epsilon_of([(plan, count)], 1e-5)
        else:
            assert compose.epsilon_of([(plan, count)], 1e-5).epsilon == near(stated)


def test_what_shapes_cost_a_mix():
    collections = cells("docs/how-to/plan.md", "collections")
    rows = [
        cells("docs/how-to/plan.md", row)
        for row in ("shape", "error, a mix draws", "fakes per bin")
    ]
    for times, shape, error, fakes in zip(collections, *rows, strict=True):
        found = planned(f"--bins 100 --mix-fakes --collections {times}")
        assert found["standard_error"] == near(error)
        assert found["shape_shift"] == int(fakes)
        assert shape == ("Gaussian" if "shape_variance" in found else "Laplace")


def test_what_memoized_answers_lose():
    *reports, _ = cells("docs/how-to/memoize.md", "reports")
    *stated, most = cells("docs/how-to/memoize.md", "epsilon")
    losses = [loss(make_memoized(2, 0.5, 0.5, 0.75), int(count)) for count in reports]
    for found, epsilon in zip(losses, stated, strict=True):
        assert found.eps_T == near(epsilon)
        assert found.eps_inf == near(most)


def test_what_averaging_finds_out():
    *reports, _ = cells("docs/how-to/memoize.md", "reports averaged")
    mechanism = make_memoized(2, 0.5, 0.5, 0.75)
    for what, stated in (("memoized", "memoized bit wrong"), ("true", "true bit wrong")):
        for count, wrong in zip(reports, cells("docs/how-to/memoize.md", stated), strict=False):
            assert getattr(recovery(mechanism, int(count)), what) == near(wrong)


REPEATS = {
    1: "single-bit --epsilon 1 --users 2e4 --fakes 0",
    2: "flip --epsilon 2 --users 5000 --bits 5",
}
TIMES = [
    ("once", 1),
    pytest.param("twice", 2, marks=pytest.mark.seconds),
    pytest.param("five times", 5, marks=pytest.mark.seconds),
]


@pytest.mark.parametrize("column", REPEATS)
@pytest.mark.parametrize(("sent", "times"), TIMES)
def test_what_repeats_gain(column, sent, times):
    found = facts(f"check noise --protocol {REPEATS[column]} --delta 1e-6 --repeats {times}")
    told = cells("docs/explanation/accounting.md", sent)
    assert found["standard_error"] == near(told[column - 1])
    once = cells("docs/explanation/accounting.md", "once")[column - 1]
    assert float(once) / times**0.5 == near(told[2].split(", ")[column - 1])


def test_what_splitting_gains():
    found = facts(f"check noise --protocol {REPEATS[2]} --delta 1e-6 --split")
    assert found["standard_error"] == near(
        cells("docs/explanation/accounting.md", "split into five")[1]
    )


def test_the_errors_that_the_readme_tells():
    text = " ".join(page("README.md").split())
    told = re.search(
        r"count is ([\d.]+); with a trusted server .*? be ([\d.]+), with .*? ([\d,]+)\.", text
    )
    own, central, local = (number.replace(",", "") for number in told.groups())
    wish = f"plan {PROMISE} --users 336776 --bins 105"
    assert facts(wish)["standard_error"] == near(own)
    assert facts(f"{wish} --mix-fakes")["standard_error"] == near(central)
    assert local_standard_error(1.0, 336_776, 105) == near(local)


TAKEN = re.findall(
    r"^\| (.*?) \| (`--.*`) \| (.*) \| ([\d.]+)(.*?) \|$", page("docs/how-to/plan.md"), re.M
)


@pytest.mark.seconds
@pytest.mark.parametrize(("asked", "options", "sent", "error", "more"), TAKEN)
def test_what_the_page_says_is_taken(asked, options, sent, error, more):
    found = facts(f"plan {PROMISE} --users 1e6 {options.strip('`')}")
    part = found["plan"]["parts"][0]
    if named := re.search(r"`(.*)`", sent):
        assert found["protocol"] == named[1]
    assert ("grid" in found["plan"] and found["plan"]["grid"] is not None) == ("points" in sent)
    if "points" in sent:
        assert f"one of {found['mean']['points']} points" in sent
        assert found["mean"]["standard_error"] == near(error)
        return
    assert found["standard_error"] == near(error)
    if told := re.search(r"([\d.]+) for a bin with ([\d,]+)", more):
        assert found["standard_error_at"] == near(told[1])
        assert found["error_at"] == int(told[2].replace(",", ""))
    if share := re.search(r"1 in (\d+) people also sends a fake", sent):
        own = found["messages_per_user"] - part["most_set"]
        assert 1.0 / own == near(share[1])
    if share := re.search(r"in ([\d.]+) % of cases", sent):
        assert 100.0 * found["replace_probability"] == near(share[1])
    if many := re.search(r"(\d+) fakes per bin", sent):
        assert found["shape_shift"] == int(many[1])
    planes = "plane" in sent or sent == "the same"
    assert (part["planes"] is not None) == planes
    if planes:
        assert found["messages_per_user"] == pytest.approx(2.0, abs=1e-3)


FACTORS = re.findall(
    r"\| holds: ([\d.]+)(?:, error ([\d.]+))?[^|]*\| `([^`]*)` \|",
    page("docs/reference/formulas.md"),
)


@pytest.mark.parametrize(("noise", "error", "rest"), FACTORS, ids=[row[2] for row in FACTORS])
def test_the_factors_of_the_formulas(noise, error, rest):
    seen = facts(f"check formula {PROMISE} --formula {rest}")["seen"][0]
    assert seen["noise_factor"] == near(noise)
    if error:
        assert seen["error_factor"] == near(error)


def test_what_hashes_cost_beside_planes():
    """Fakes of all as the formula has them, over n / ln n buckets and primes above 10^7 values."""
    text = re.search(
        r"hashed_error`\): ([\d.]+) at .* for ([\d,]+) people, ([\d,]+) buckets and ([\d.]+) fakes "
        r"each; with as many messages planes have ([\d.]*\d)",
        " ".join(page("docs/reference/formulas.md").split()),
    )
    own, users, buckets, each, planes = (float(one.replace(",", "")) for one in text.groups())
    assert buckets == math.floor(users / math.log(users))
    fakes = fakes_per_bin.luo_wang_yi(1.0, 1e-6, int(users))
    assert fakes * buckets / users == near(str(each))
    assert fakes_per_bin.hashed_error(int(users), fakes, int(buckets), 10_000_019) == near(str(own))
    budget = f"--users {int(users)} --bins 1e7 --messages-per-user {1 + each}"
    assert facts(f"plan {PROMISE} {budget}")["standard_error"] == near(str(planes))


PRICED = {
    "10-ary response": randomizers.kary(10, 3),
    "100-ary response": randomizers.kary(100, 3),
    "Hadamard response, 8 messages": randomizers.hadamard(8, 3),
    "Subset selection, 2 of 6": randomizers.subsets(6, 2, 3),
    "Unary encoding, 5 bits": randomizers.unary(5, 3),
}
PRICES = "docs/how-to/randomizer.md"
CROWDS = (1_000, 1_000_000)


@pytest.mark.parametrize("name", PRICED)
def test_what_shuffling_makes_of_a_randomizer(name):
    for users, stated in zip(CROWDS, cells(PRICES, name), strict=True):
        found = mixtally.epsilon(PRICED[name], users=users, delta=1e-6, normalize=True)
        assert at_most(found.epsilon, 4) == stated


def published(users):
    """Epsilon by three published bounds, each as the page names it."""
    with suppress(ParameterError):
        yield "Hiding among the clones (2021), closed form", clones_epsilon(3, 1e-6, users)
    one = Randomizer(make_matrix(randomizers.kary(2, 3), normalize=True), users)
    one._two_rows = None  # the blanket alone: what is proved of two answers is more than the bound
    bound = find_epsilon(lambda epsilon: one._any_upper(epsilon, 0.0).value, 1e-6, 20.0)
    yield "Stronger clones (2023): blanket of two answers", bound
    off, grow = 1 / (math.exp(3) + 9), math.exp(3)

    def hoeffding(epsilon):
        spread = (1 + math.exp(epsilon)) * (grow - 1) * 10 * off
        return blanket_hoeffding(epsilon, users, 10 * off, spread)

    bound = find_epsilon(lambda epsilon: hoeffding(max(epsilon, 1e-2)), 1e-6, 20.0)
    yield "Blanket (2019) with Hoeffding, 10-ary response", bound


@pytest.mark.parametrize(("place", "users"), [*enumerate(CROWDS)])
def test_what_published_bounds_make_of_a_randomizer(place, users):
    found = dict(published(users))
    assert len(found) == 2 + place
    for name, bound in found.items():
        shown = "above 20" if bound == math.inf else at_most(bound, 4)
        assert cells(PRICES, name)[place] == shown


def test_no_table_is_skipped():
    """Patterns that find nothing would pass: so many rows there are."""
    assert len(FACTORS) == 12
    assert len(TAKEN) == 7


def test_a_number_that_is_off_is_noticed():
    assert planned("--bins 100")["standard_error"] != near("6.6")
    assert planned("--bins 100 --max-set 3")["standard_error"] != near("127")
