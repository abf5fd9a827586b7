"""A person with a browser of their own, whose clock the test moves, and what they are asked."""

import time
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256

from web.page_scene import UNIFORM

PHONE = {"width": 390, "height": 844}
WINDOW = (-60, 99_999_900)
LATER = """{
  const put = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function (pages, ...more) {
    const soon = Date.now() / 1000 + 1e6;
    for (const one of pages?.entries ?? []) {
      if (one.state === "pending" && !one.tries && one.due > 0 && one.due < soon) one.due += 2e6;
    }
    return put.call(this, pages, ...more);
  };
}"""
"""No random time of sending falls into a test: one in the first of a hundred parts is moved."""
AFTER = 1000 * (WINDOW[1] + 1000)
"""Milliseconds, past the end of the window."""
KINDS = {
    "one": (UNIFORM, {}),
    "long list": (
        "messages-number-two-bytes",
        {"question": {"labels": [*(f"place {i}" for i in range(299)), "p"]}},
    ),
    "number of a list": ("messages-flips-of-oneself", {}),
    "bits": ("messages-bits-split", {}),
    "attributes": ("messages-attributes-split-labels", {}),
    "set": ("messages-set-in-clear-of-one", {"question": {"labels": list("abcdefghijkl")}}),
    "set of numbers": ("messages-set-in-clear-two-bytes", {}),
    "range": ("messages-number-on-an-edge", {"plan": {"collections": 2}}),
    "grid": ("messages-rounded-up", {}),
    "text": ("messages-hashed-one-form", {}),
    "texts": ("messages-set-of-texts-of-one", {}),
    "word": ("messages-prefix-first-round", {"plan": {"collections": 2}}),
    "nobody's word": ("messages-prefix-first-round", {"plan": {"collections": 2}}),
}  # fmt: skip
HOSTILE = '<img src="x" onerror="document.title=\'taken over\'">'
CASES = {
    "plain": {},
    "other": {"question": {"name": "another question"}},
    "rounds": {"plan": {"collections": 3}},
    "hostile": {
        "question": {
            "name": f"name {HOSTILE}",
            "labels": [HOSTILE, "</form>", "א  ב", "&lt;", "{times}"],
        },
        "roles": [{"operator": HOSTILE}, {}, {}],
    },
    "unsigned": {"unsigned": 2},
    "codes": {"contract": {"admission": "codes"}},
    "nameless": {"question": {"name": " "}},
    "suite 2": {"contract": {"suite": 2, "envelope_bytes": [[3409, 2273, 1137]]}},
    "future": {"window": (86_400, 86_700)},
    "past": {"window": (-900, -600)},
}


@contextmanager
def person(scene, *, offset=0, script="", **more):
    """A browser of a new person, whose clock the test moves."""
    context = scene.shown.new_context(viewport=PHONE, locale=more.pop("locale", "en-GB"), **more)
    # More than the longest sleep of a page, which may begin after a test has moved the clock.
    context.set_default_timeout(180_000)
    context.add_init_script(LATER)
    if script:
        context.add_init_script(script)
    page = context.new_page()
    page.clock.install(time=datetime.fromtimestamp(time.time() + offset, UTC))
    try:
        yield page
    finally:
        context.close()


def until(page, state):
    page.wait_for_selector(f"#status[data-state='{state}']")
    return page.inner_text("#status")


def opened(page, link):
    page.goto(link)
    page.wait_for_selector("form")


def send(page):
    page.check(".consent input")
    page.click("button.primary")


def answered(page, link, label="Zürich", *, watch=False):
    """Answer, and return the entry of the diary whose bundle waits."""
    opened(page, link)
    page.get_by_label(label, exact=True).check()
    if watch:
        page.check("[aria-describedby='watch-hint']")
    send(page)
    until(page, "pending")
    return diary(page)["entries"][-1]


def make_code(secret):
    """A one-time code: 128 secret bits and 12 check bits, in base 32."""
    number = int.from_bytes(secret + sha256(secret).digest()[:2], "big") >> 4
    return "".join(
        "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[number >> 5 * k & 31] for k in range(27, -1, -1)
    )


CODE = make_code(b"sixteen bytes ..")

READ = """new Promise((resolve) => {
  indexedDB.open("mixtally", 1).onsuccess = ({ target: { result } }) => {
    const found = result.transaction("pages").objectStore("pages").get("diary");
    found.onsuccess = () => (result.close(), resolve(found.result ?? null));
  };
})"""
ENTRY = f"{READ}.then((pages) => pages.entries[0])"


WRITE = """(pages) => new Promise((resolve) => {
  indexedDB.open("mixtally", 1).onsuccess = ({ target: { result } }) => {
    const moved = result.transaction("pages", "readwrite");
    moved.objectStore("pages").put(pages, "diary");
    moved.oncomplete = () => (result.close(), resolve());
  };
})"""


def diary(page):
    """What is stored, read without the page."""
    return page.evaluate(READ)


def planted(page, change):
    """Change the first entry of the diary as another program could."""
    page.evaluate(
        """(change) => new Promise((resolve) => {
          indexedDB.open("mixtally", 1).onsuccess = ({ target: { result } }) => {
            const moved = result.transaction("pages", "readwrite");
            const store = moved.objectStore("pages");
            store.get("diary").onsuccess = ({ target: { result: pages } }) => {
              Object.assign(pages.entries[0], change);
              store.put(pages, "diary");
            };
            moved.oncomplete = () => (result.close(), resolve());
          };
        })""",
        change,
    )


def deliver(page, state, text=""):
    """Let the time come at which the bundle is sent, and wait for what the page says of it."""
    planted(page, {"due": 0})
    page.clock.fast_forward(61_000)  # more than the longest sleep
    if text:
        page.get_by_text(text).wait_for()
    return until(page, state)
