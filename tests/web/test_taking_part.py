"""Programs in JavaScript take part in a round of real roles: the examples, in Node and Chromium.

Nobody waits for a random time or for the end of the round: the clocks of pages and roles are turned
forward, so that a round can be open for much longer than a busy machine needs.
"""

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from mixtally.device.client.net.requests import fetch
from mixtally.device.contract.fields import fingerprint_of, text_of
from pages.browser import CHROMIUM, browser
from scripts.file_server import serve
from scripts.leaping_clock import command, leap
from scripts.network_roles import Role, free_ports, mixtally
from web.page_person import ENTRY

ROOT = Path(__file__).parents[2]
WEB, EXAMPLES = ROOT / "web", ROOT / "examples/web"
EARLY = ROOT / "scripts/early_sending.js"
PEOPLE, WINDOW = 6, 600
SECONDS = 300
"""Patience with a busy machine."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("node") is None or not (WEB / "node_modules").is_dir(),
        reason="needs Node and the packages that `make web` installs",
    ),
]


def run(folder, *arguments):
    done = mixtally(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def succeeds(folder, *arguments):
    return mixtally(*arguments, cwd=folder).returncode == 0


@pytest.fixture(scope="module")
def round_address(tmp_path_factory):
    """A contract whose first round is open: its address, fingerprint, folder and roles."""
    folder = tmp_path_factory.mktemp("roles")
    names = ["mix-1", "mix-2", "collector"]
    addresses = [f"http://127.0.0.1:{port}" for port in free_ports(3)]
    lines = ['name = "clicks"']
    for name, at in zip(names, addresses, strict=True):
        kind = name.split("-")[0]
        lines.append(
            run(folder, kind, "init", name, "--name", name, "--address", at, "--operator", "a test")
        )
    lines += ["[rounds]", f"open_seconds = {WINDOW}", f"every_seconds = {WINDOW}"]
    (folder / "network.toml").write_text("\n".join(lines) + "\n")
    (folder / "labels.txt").write_text("blue\ngreen\nE_TIMEOUT\n")
    run(
        folder, "plan", "--hops", "2", "--epsilon", "1", "--delta", "1e-6", "--users", "1000",
        "--minimum-crowd", "3", "--labels", "labels.txt", "--name", "clicks", "--out", "plan.json",
    )  # fmt: skip
    run(
        folder, "contract", "new", "plan.json", "--network", "network.toml",
        "--out", "contract.json",
    )  # fmt: skip
    for name in names[:2]:
        run(folder, "mix", "sign", name, "contract.json")
    roles = [
        Role(name.split("-")[0], folder / name, program=command(folder / "ahead")) for name in names
    ]
    for role in roles:
        role.start()
    try:
        until(lambda: all(role.serves for role in roles))
        until(lambda: succeeds(folder, "collector", "sign", "collector", "contract.json"))
        until(
            lambda: succeeds(folder, "collector", "propose", "collector", "--expires-after", "6000")
        )
        fingerprint = fingerprint_of((folder / "contract.json").read_bytes())
        mix = addresses[0]
        address = f"{mix}/contracts/{fingerprint}"
        until(lambda: is_open(mix))
        yield address, fingerprint, folder, roles
    finally:
        for role in roles:
            role.end()


def is_open(mix):
    rounds = json.loads(fetch(f"{mix}/status"))["rounds"]
    return bool(rounds) and rounds[0]["state"] == "open"


def until(happens, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.5)


def new_page(shown, **more):
    """A page of a new person, whose clock the test moves."""
    context = shown.new_context(**more)
    context.set_default_timeout(1000 * SECONDS)
    context.add_init_script(path=EARLY)
    page = context.new_page()
    page.clock.install()
    return page


def click(shown, page_address, address, fingerprint):
    """Click the blue button, and return a function that waits for what the page says at the end."""
    page = new_page(shown)
    page.goto(f"{page_address}/clicks.html#{address}%20{fingerprint}")
    page.click("text=Blue")
    page.wait_for_function("document.querySelector('output').value")

    def wait():
        page.clock.fast_forward(1000 * WINDOW // 2)
        page.wait_for_function(
            "['taken', 'refused', 'over'].includes(document.querySelector('output').value)"
            " || document.querySelector('output').value.includes(': ')"
        )
        return page.eval_on_selector("output", "one => one.value")

    return wait


def answer(shown, page_address, fingerprint):
    """Answer by the page on a phone and watch.

    Return a function that waits until the answer was sent, and one that waits until the page says
    where it arrived.
    """
    page = new_page(shown, viewport={"width": 390, "height": 844})
    page.goto(f"{page_address}/#{fingerprint}")
    page.get_by_label("green").check()
    page.get_by_label("Check later whether my answer arrived").check()
    page.check(".consent input")
    page.click("button.primary")
    # The random time may be now.
    page.wait_for_selector("#status:is([data-state='pending'], [data-state='taken'])")
    page.reload()

    def wait():
        page.clock.fast_forward(1000 * WINDOW // 2)
        states = ("taken", "refused", "over", "failed")
        page.wait_for_selector(", ".join(f"#status[data-state='{one}']" for one in states))
        return page.get_attribute("#status", "data-state")

    def watch():
        page.clock.fast_forward(1000 * WINDOW)
        page.reload()
        page.wait_for_selector("#arrivals section")
        until(lambda: has_arrived(page))
        page.reload()  # what was found stays, and nothing is kept
        page.wait_for_selector("#arrivals section[data-state='arrived']")
        stored = page.evaluate(ENTRY)
        return page.locator("#arrivals li").all_inner_texts(), stored["watched"]

    return wait, watch


def has_arrived(page):
    page.evaluate("document.querySelector('#arrivals button')?.click()")
    return page.locator("#arrivals section[data-state='arrived']").is_visible()


def take_part_in_chromium(round_address, tmp_path):
    """Answer by the example and by the page, while the second mix is killed and restarted."""
    address, fingerprint, folder, roles = round_address
    clicks = tmp_path / "clicks"
    shutil.copytree(WEB / "src", clicks / "mixtally")
    shutil.copytree(WEB / "node_modules/@hpke", clicks / "hpke")
    shutil.copy(EXAMPLES / "clicks.html", clicks)
    run(folder, "page", "build", address, "--out", str(tmp_path / "page"))
    with serve(clicks) as example, serve(tmp_path / "page") as page:
        with browser() as shown:
            wait, watch = answer(shown, page, fingerprint)
            waiting = [wait, click(shown, example, address, fingerprint)]
            roles[1].kill()
            said = [wait() for wait in waiting]
            roles[1].start()
            leap(folder / "ahead", WINDOW)
            arrived, tags = watch()
        # What a host serves is what the package has.
        assert "0 differ" in run(folder, "page", "check", f"{page}/#{fingerprint}")
    assert said == ["taken", "taken"]
    places = ("Mix 1", "Mix 2", "Collector")
    assert [one.split("\n")[0] for one in arrived] == [f"{one}: arrived" for one in places]
    assert tags is None
    return len(said)


def test_people_in_javascript_are_counted(round_address, tmp_path):
    """In Node at once, and in a browser at a random time of the window, if Chromium is here."""
    address, fingerprint, folder, _ = round_address
    for person in range(PEOPLE):
        sent = subprocess.run(
            ["node", str(EXAMPLES / "send-error.js"), address, fingerprint, "E_TIMEOUT",
             str(tmp_path / f"{person}.json"), "now"],
            capture_output=True, text=True, timeout=SECONDS,
        )  # fmt: skip
        assert sent.stdout == "round 1: taken\n", sent.stderr
    people = PEOPLE
    if CHROMIUM is not None:
        people += take_part_in_chromium(round_address, tmp_path)
    leap(folder / "ahead", WINDOW)  # also without Chromium
    again = subprocess.run(
        ["node", str(EXAMPLES / "send-error.js"), address, fingerprint, "blue",
         str(tmp_path / "0.json"), "now"],
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert "round-answered" in again.stderr or "round-not-open" in again.stderr
    publish = ["collector", "publish", "collector", "--round", "1", "--out", str(tmp_path / "out")]
    until(lambda: succeeds(folder, *publish))
    manifest = json.loads(text_of(fetch(f"{address}/rounds/1/manifests/1")))
    assert (manifest["bundles"], manifest["left_out"]) == (people, 0)
