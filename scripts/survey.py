"""`make survey`: three mixes, a collector and the page of a survey, all on this machine.

It prints the link of the page. Then 100 people answer by the page in Chromium, each with a browser
profile of their own, and 1,000 people by the same code in Node. When the round is closed, anyone's
check of the round is made, and the released counts are compared with what these people answered.
Without Chromium nobody answers by the page, and the program says so. With --hurry, the clocks of
pages and roles are turned forward.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from file_server import serve
from playwright.sync_api import Browser, sync_playwright

from network import LEVEL, ROOT, Network, count_contradictions, say

LABELS = ["tea", "coffee", "water", "juice"]
WEIGHTS = [4, 5, 2, 1]
"""The labels, and how often people choose each of them."""
IN_CHROMIUM, IN_NODE = 100, 1000
PHONE = {"width": 390, "height": 844}
_STATES = ", ".join(f"[data-state='{state}']" for state in ("taken", "refused", "over"))


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium, and end it after the block."""
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
            timeout=180_000,
        )
        yield browser
        browser.close()


def answer_by_page(
    browser: Browser, link: str, values: list[str], seconds: float, ahead: float
) -> Counter[str]:
    """Answer by the page, once for each value, and count the states in which people end.

    The clocks of the pages are then turned forward by ``ahead`` seconds.
    """
    states, pages = Counter[str](), []
    for value in values:
        # A context has storage of its own, as a person's browser has.
        context = browser.new_context(viewport=PHONE, locale="en-GB")
        context.set_default_timeout(1000 * seconds)
        context.add_init_script(path=Path(__file__).with_name("early_sending.js"))
        page = context.new_page()
        if ahead:
            page.clock.install()
        page.goto(link)
        page.get_by_label(value, exact=True).check()
        page.check(".consent input")
        page.click("button.primary")
        page.wait_for_selector("#status[data-state]")
        pages.append(page)
        if len(pages) % 20 == 0:
            say(f"{len(pages)} people have answered by the page")
    for page in pages:
        if ahead:
            page.clock.fast_forward(int(1000 * ahead))
        found = page.wait_for_selector(f"#status:is({_STATES})", timeout=1000 * seconds)
        states[found.get_attribute("data-state")] += 1
    return states


def answer_in_node(url: str, fingerprint: str, values: list[str]) -> subprocess.Popen[str]:
    """Start a process in which people answer, and return it."""
    node = subprocess.Popen(
        ["node", str(ROOT / "scripts" / "survey_crowd.js"), url, fingerprint],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert node.stdin is not None
    node.stdin.write("\n".join(values) + "\n")
    node.stdin.close()
    return node


def play(network: Network, people: list[str], browsers: int) -> int:
    """Run the survey, and return the number of failed checks."""
    network.run("page", "build", "--out", "page")
    fingerprint = network.contract("drinks", LABELS, rounds=1, more=("--client-files", "page"))
    say(f"four roles are initialized; contract {fingerprint[:16]}... is signed by its mixes")
    network.start("--keep-messages")
    network.run("collector", "sign", "collector", "contract.json", tries=20)
    path = f"/contracts/{fingerprint}"
    url = network.addresses[0] + path
    network.run("page", "build", url, "--out", "page")
    with (
        serve(network.folder / "page") as host,
        chromium() if browsers else nullcontext() as browser,
    ):
        link = f"{host}/#{fingerprint}"
        network.run("page", "check", link)
        say(f"every file of the page is as the contract states; open it: {link}")
        # The round opens last, so that a slow start of Chromium takes none of its time.
        network.propose(f"{path}/rounds/1", (), 20)
        network.get(network.addresses[0], f"{path}/rounds/1")
        begun = time.monotonic()
        node = answer_in_node(url, fingerprint, people[browsers:])
        try:
            states = Counter[str]()
            if browser:
                ahead = network.window / 2 if network.hurry else 0.0
                pages = people[:browsers]
                states += answer_by_page(browser, link, pages, network.window + 60, ahead)
            assert node.stdout is not None
            states += Counter(json.loads(node.stdout.read()))
            node.wait()
        finally:
            node.kill()
    seconds = time.monotonic() - begun
    say(f"{len(people):,} people answered in {seconds:.0f} s: {dict(states)}")
    if states != {"taken": len(people)}:
        print(f"WRONG: not every answer was taken: {dict(states)}")
        return 1
    if network.hurry:
        network.wait_until(int(network.clock.now()) + network.window)
    network.get(network.addresses[-1], f"{path}/rounds/1/result")
    print(network.run("collector", "publish", "collector", "--round", "1"))
    result = network.run("collector", "publish", "collector", "--round", "1",
                         "--level", str(LEVEL), "--json")  # fmt: skip
    failed = count_contradictions(1, json.loads(result), Counter(people), Counter())
    network.run("collector", "export", "collector", "--round", "1", "--out", "round")
    print(network.run("check", "round", "round"))
    return failed


def main() -> None:
    """Run the survey and exit with status 1 if a check failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", type=int, default=IN_CHROMIUM, help="people by the page")
    parser.add_argument("--node", type=int, default=IN_NODE, help="people in Node")
    parser.add_argument("--window", type=int, default=120, help="seconds that the round is open")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "survey")
    parser.add_argument("--hurry", action="store_true", help="wait for no time of the round")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if shutil.which("node") is None:
        sys.exit("the survey needs Node 20; none was found")
    browsers = given.chromium if shutil.which("chromium") else 0
    if browsers < given.chromium:
        say("no Chromium was found: nobody answers by the page")
    shutil.rmtree(given.out, ignore_errors=True)
    given.out.mkdir(parents=True)
    say(f"seed {given.seed}, in {given.out}")
    chance = random.Random(given.seed)
    people = chance.choices(LABELS, WEIGHTS, k=browsers + given.node)
    network = Network(given.out, len(people), given.window, given.seed, hurry=given.hurry)
    try:
        failed = play(network, people, browsers)
    finally:
        network.end()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
