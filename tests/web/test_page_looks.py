"""The page can be read at every width, is small, and seals quickly."""

import json

import pytest

from mixtally.app.page_files import compressed_size, generic_files
from pages.browser import LOOK, accessibility
from web.page_person import answered, deliver, opened, person, planted, until
from web.page_scene import needs_node

pytestmark = [pytest.mark.seconds, needs_node]


def seen_faults(page):
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in (320, 360, 390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            seen = page.evaluate(LOOK, {"print": False, "smallest": 12})
            found += [f"{width} px, {scheme}: {one}" for one in seen]
    return found + [f"axe: {one}" for one in accessibility(page)]


LONG = "Donaudampfschifffahrtsgesellschaftskapitänswitwenrentenauszahlungsstelle"


@pytest.mark.parametrize(
    ("locale", "kinds"),
    [("en-GB", ("long list", "bits", "attributes")), ("de-DE", ("set", "grid", "hostile"))],
)
def test_the_page_can_be_read_everywhere(scene, locale, kinds):
    with person(scene, locale=locale) as page:
        for kind in kinds:
            opened(page, scene.publish(scene.made[kind]))
            page.click("button.primary")
            page.wait_for_selector("#problem:not(:empty)")
            assert seen_faults(page) == [], kind
        # Twin: a long word that does not break, and a pale text.
        page.evaluate("document.body.style.overflowWrap = 'normal'")
        page.evaluate(f"document.querySelector('h1').textContent = '{LONG}'")
        page.evaluate("document.querySelector('legend').style.color = '#bbb'")
        found = "\n".join(seen_faults(page))
        assert "320 px, light: the page itself moves sideways" in found
        assert "contrast" in found
        answered(page, scene.publish(scene.made["plain"]))
        page.click("summary")
        page.locator("details p.buttons button").nth(1).click()
        assert seen_faults(page) == []
        scene.hop.answers = [(403,)]
        deliver(page, "refused")
        assert seen_faults(page) == []
        page.goto("about:blank")
        page.goto(scene.publish(scene.made["unsigned"]))
        until(page, "failed")
        assert seen_faults(page) == []


def role(place, state):
    return {"name": f"role{place}.example", "state": state}


FOUND = {
    "waiting": {"roles": [role(1, "yes"), role(2, "no answer"), role(3, "refused")]},
    "arrived": {"roles": [role(place, "yes") for place in (1, 2, 3)]},
    "lost": {
        "roles": [role(1, "yes"), role(2, "no"), role(3, "no")],
        "lost": [{"after": "role1.example", "before": "role2.example"}] * 2
        + [{"after": None, "before": "role1.example"}],
        "faults": [
            {"name": "role2.example", "reason": "signed-twice"},
            {"name": "role3.example", "reason": "tags-unsorted"},
        ],
    },
    "ended": {"ended": "ended: the disk of this mix was destroyed, and we are sorry"},
    "unclear": {"roles": [role(1, "no"), role(2, "no"), role(3, "no")]},
}


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_what_arrived_can_be_read_everywhere(scene, locale):
    with person(scene, locale=locale) as page:
        answered(page, scene.publish(scene.made["plain"]), watch=True)
        page.click("summary")
        page.wait_for_selector("#arrivals section")
        assert seen_faults(page) == []
        names = [one["name"] for one in scene.made["plain"]["contract"]["hops"]]
        names.append(scene.made["plain"]["contract"]["collector"]["name"])
        planted(page, {"state": "taken", "bundle": None, "closes": 10})
        for state, found in FOUND.items():
            text = json.dumps({"roles": [], "lost": [], "faults": [], "ended": None, **found})
            for place, name in enumerate(names, 1):
                text = text.replace(f"role{place}.example", name)
            kept = {} if state == "waiting" else {"watched": None}
            planted(page, {**kept, "arrivals": json.loads(text)})
            page.reload()
            page.wait_for_selector(f"#arrivals section[data-state='{state}']")
            page.click("summary")
            assert seen_faults(page) == [], state


MOST_COMPRESSED = 100_000


def test_what_is_loaded_before_consent_is_small_and_of_one_host(scene):
    loaded = []
    with person(scene) as page:
        page.on("response", lambda one: loaded.append((one.url, one.status)))
        opened(page, scene.publish(scene.made["plain"]))
    mine = [url for url, _ in loaded if url.startswith(scene.address)]
    others = {url for url, _ in loaded} - {*mine}
    assert all(status == 200 for _, status in loaded)
    assert all(url.startswith(scene.hop.address) for url in others)
    names = [url.removeprefix(scene.address + "/").split("#")[0] or "index.html" for url in mine]
    assert {*names} - {"contract.json"} <= {*generic_files()}
    size = sum(compressed_size((scene.folder / name).read_bytes()) for name in {*names})
    print(f"{len(names)} files, {size} bytes compressed")
    assert size < MOST_COMPRESSED


MOST_MILLISECONDS = 50
SEALING = """async (suite) => {
  const [{ Sealer }, { keyConfiguration, SUITES }] = await Promise.all(
    ["envelope", "suite"].map((name) => import(`${location.origin}/src/${name}.js`)));
  const hpke = await SUITES[1].load();
  const keys = [];
  for (let i = 0; i < 4; i++) {
    const { publicKey } = await hpke.kem.generateKeyPair();
    keys.push(keyConfiguration(1, new Uint8Array(await hpke.kem.serializePublicKey(publicKey))));
  }
  const times = [];
  for (let i = 0; i < 20; i++) {
    const begun = performance.now();
    const sealer = await Sealer.of(1, { keys, hash: "00".repeat(32) });
    for (let k = 0; k < 2; k++) await sealer.seal(new Uint8Array(4), 0);
    times.push(performance.now() - begun);
  }
  return times;
}"""


def test_two_messages_are_sealed_through_four_layers_quickly(scene):
    context = scene.shown.new_context()
    page = context.new_page()
    page.goto(scene.publish(scene.made["plain"]))
    page.wait_for_selector("form")
    times = sorted(page.evaluate(SEALING))
    context.close()
    print(f"sealed in {times[0]:.1f} ms, median {times[10]:.1f} ms")
    assert times[0] < MOST_MILLISECONDS
