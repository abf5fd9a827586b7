"""How answering by the page can fail: what a person reads, and that nothing is sent."""

import pytest

from web.page_person import (
    AFTER,
    CODE,
    HOSTILE,
    WINDOW,
    answered,
    deliver,
    diary,
    opened,
    person,
    send,
    until,
)
from web.page_scene import needs_node

pytestmark = [pytest.mark.seconds, needs_node]

ENDS = {
    "full": (
        (429, ("Retry-After", str(2 * WINDOW[1]))),
        "refused",
        "all the answers that it can take",
    ),
    "refused": ((403,), "refused", "status 403"),
    "over": ((503,), "over", "closed before the message was delivered"),
    "late": ((410,), "refused", "Please check whether it is right"),
    "codes, unknown": ((403,), "refused", "does not know your code"),
    "codes, spent": ((409,), "refused", "Your code was used for another answer"),
}


@pytest.mark.parametrize("name", ENDS)
def test_how_a_bundle_ends_is_said(scene, name):
    answer, state, text = ENDS[name]
    with person(scene) as page:
        made = "codes" if name.startswith("codes") else "plain"
        link = scene.publish(scene.made[made]) + (f".{CODE}" if made == "codes" else "")
        scene.hop.answers = [answer] * 50
        answered(page, link)
        if state == "over":
            page.clock.fast_forward(AFTER)
        assert text in deliver(page, state)
        assert diary(page)["entries"][0]["bundle"] is None


REFUSED = {
    "storage": (
        "indexedDB.open = () => { throw new DOMException('no', 'SecurityError'); };",
        "stores nothing",
    ),
    "storage fails": (
        """IDBFactory.prototype.open = () => {
          const one = {};
          setTimeout(() => one.onerror(), 1);
          return one;
        };""",
        "stores nothing",
    ),
    "no X25519": (
        """const make = crypto.subtle.generateKey.bind(crypto.subtle);
        crypto.subtle.generateKey = (kind, ...more) => kind.name === "X25519"
          ? Promise.reject(new DOMException("no", "NotSupportedError")) : make(kind, ...more);""",
        "lacks the encryption",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_browser_that_cannot_take_part_is_told_and_nothing_is_fetched(scene, name):
    script, text = REFUSED[name]
    link = scene.publish(scene.made["plain"])
    with person(scene, script=script) as page:
        page.goto(link)
        assert text in until(page, "failed")
    assert scene.hop.asked == []


def test_a_body_that_cannot_be_iterated_is_read(scene):
    """As in Safari."""
    script = """delete ReadableStream.prototype[Symbol.asyncIterator];
    delete ReadableStream.prototype.values;"""
    with person(scene, script=script) as page:
        opened(page, scene.publish(scene.made["plain"]))


def test_storage_that_is_erased_while_a_person_reads_is_said(scene):
    with person(scene) as page:
        opened(page, scene.publish(scene.made["plain"]))
        page.get_by_label("Zürich").check()
        devtools = page.context.new_cdp_session(page)
        where = {"origin": scene.address, "storageTypes": "indexeddb"}
        devtools.send("Storage.clearDataForOrigin", where)
        send(page)
        assert "stores nothing" in until(page, "failed")
        assert scene.hop.bodies == []
        page.click("text=Look again")
        page.wait_for_selector("form")


def test_a_contract_of_suite_2_is_refused_before_anything_is_asked(scene):
    link = scene.publish(scene.made["suite 2"])
    with person(scene) as page:
        page.goto(link)
        assert "suite 2" in until(page, "failed")
    assert scene.hop.asked == []


def test_the_page_seals_nothing_without_a_secure_context(scene):
    link = scene.publish(scene.made["plain"])
    with person(scene) as page:

        def serve(route):
            name = route.request.url.split("/", 3)[3].split("#")[0] or "index.html"
            route.fulfill(path=str(scene.folder / name))

        page.route("http://survey.example/**", serve)
        page.goto(link.replace(scene.address, "http://survey.example"))
        assert "https" in until(page, "failed")
    assert scene.hop.asked == []


def test_the_page_is_not_shown_inside_another(scene):
    link = scene.publish(scene.made["plain"])
    with person(scene) as page:
        (scene.folder / "frame.html").write_text(f"<iframe src='{link}'></iframe>")
        page.goto(f"{scene.address}/frame.html")
        page.frame_locator("iframe").get_by_text("inside another page").wait_for()
    assert scene.hop.asked == []


def test_another_contract_than_that_of_the_link_is_refused(scene):
    foreign = scene.made["other"]["fingerprint"]
    link = scene.publish(scene.made["plain"])
    with person(scene) as page:
        for fragment, text in (
            (foreign, "another survey"),
            ("", "incomplete"),
            ("12ab", "incomplete"),
        ):
            page.goto("about:blank")
            page.goto(f"{link.split('#')[0]}#{fragment}")
            assert text in until(page, "failed")
        assert scene.hop.asked == []
        # The complete link is read at once, without a reload by hand.
        page.goto(link)
        page.wait_for_selector("form")


def test_a_sheet_that_not_all_have_signed_is_refused(scene):
    with person(scene) as page:
        page.goto(scene.publish(scene.made["unsigned"]))
        assert "has signed it" in until(page, "failed")
        assert diary(page) == {"charges": [], "entries": []}


def test_a_second_contract_of_a_name_is_refused_once_the_first_was_answered(scene):
    with person(scene) as page:
        answered(page, scene.publish(scene.made["plain"]))
        deliver(page, "taken")
        page.goto("about:blank")
        page.goto(scene.publish(scene.made["other"]))
        assert "different people different surveys" in until(page, "failed")
        assert len(diary(page)["charges"]) == 1
    assert scene.hop.bodies == []


def test_a_contract_that_not_all_have_signed_is_refused(scene):
    link = scene.publish(scene.made["plain"])
    note = scene.folder / "contract.json"
    note.write_text("\n".join(note.read_text().splitlines()[:-1]) + "\n")
    with person(scene) as page:
        page.goto(link)
        assert "has signed it" in until(page, "failed")
    assert scene.hop.asked == []


CLOSED = {
    "future": ("future", {"state": "signed"}, 0, "next round opens"),
    "past": ("past", {"state": "closed"}, 0, "last round closed"),
    "slow clock": ("plain", {}, -86_400, "clock of this device"),
    "fast clock": ("plain", {}, 2 * WINDOW[1], "clock of this device"),
    "clock slow by less than the window": (
        "plain",
        {"state": "closed"},
        0,
        "takes no more answers",
    ),
}


@pytest.mark.parametrize("name", CLOSED)
def test_a_round_that_is_not_open_takes_no_answer(scene, name):
    made, listed, offset, text = CLOSED[name]
    link = scene.publish(scene.made[made], **listed)
    with person(scene, offset=offset) as page:
        page.goto(link)
        assert text in until(page, "closed")
        assert page.query_selector("form") is None


def test_a_round_that_closes_while_a_person_reads_takes_no_answer(scene):
    link = scene.publish(scene.made["plain"])
    with person(scene) as page:
        opened(page, link)
        page.get_by_label("Zürich").check()
        page.clock.fast_forward(AFTER)
        scene.hop.rounds[0]["state"] = "closed"
        send(page)
        assert "last round closed" in until(page, "closed")
        assert diary(page) == {"charges": [], "entries": []}


def test_a_round_that_follows_while_a_person_reads_is_another_form(scene):
    made = scene.made["rounds"]
    link = scene.publish(made)
    with person(scene) as page:
        opened(page, link)
        page.get_by_label("Zürich").check()
        page.clock.fast_forward(AFTER)
        scene.hop.serve_next(made)
        send(page)
        page.get_by_text("This is the form of another round").wait_for()
        assert page.get_by_label("Zürich").is_checked() is False
        assert page.evaluate("document.activeElement.id") == "status"
        assert diary(page) == {"charges": [], "entries": []}
        page.get_by_label("Zürich").check()
        send(page)
        until(page, "pending")
        assert diary(page)["entries"][0]["round"] == 2


def test_a_first_hop_that_does_not_serve_is_said(scene):
    link = scene.publish(scene.made["plain"])
    scene.hop.served = {}
    with person(scene) as page:
        page.goto(link)
        assert "Are you online?" in until(page, "failed")
        page.context.set_offline(True)
        page.evaluate("window.kept = true")
        page.click("text=Look again")
        page.wait_for_timeout(300)
        assert "Are you online?" in until(page, "failed")
        assert page.evaluate("window.kept")
        page.context.set_offline(False)
        scene.hop.serve(scene.made["plain"])
        page.click("text=Look again")
        page.wait_for_selector("form")


def test_texts_of_others_are_shown_as_they_are_written(scene):
    made = scene.made["hostile"]
    with person(scene) as page:
        dialogs = []
        page.on("dialog", lambda one: dialogs.append(one) or one.dismiss())
        opened(page, scene.publish(made))
        assert page.query_selector("img") is None
        assert page.locator("form").count() == 1
        shown = page.inner_text("main")
        assert all(label in shown for label in made["contract"]["plan"]["question"]["labels"])
        assert page.title() == f"name {HOSTILE}"
        assert (shown.count(HOSTILE), dialogs) == (3, [])
