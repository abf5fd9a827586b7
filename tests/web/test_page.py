"""The page in Chromium, on a phone: every kind of question, and the same bytes only."""

import json
from base64 import b64decode

import pytest

from web.page_person import (
    CODE,
    ENTRY,
    KINDS,
    WRITE,
    answered,
    deliver,
    diary,
    opened,
    person,
    planted,
    send,
    until,
)
from web.page_scene import needs_node

pytestmark = [pytest.mark.seconds, needs_node]


def fill(page, kind):
    match kind:
        case "one":
            page.get_by_label("Zürich").check()
        case "long list":
            page.fill("[type=search]", "PLACE 29")
            page.get_by_label("place 298").check()
            page.fill("[type=search]", "place 1")
            assert page.get_by_label("place 298").is_checked()
            # All 300 labels contain it, and at most 50 are shown.
            page.fill("[type=search]", "p")
            page.get_by_label("p", exact=True).check()
        case "number of a list" | "range" | "grid":
            page.fill("[type=number]", "1")
        case "bits":
            for place in range(3):
                page.locator("[type=radio]").nth(2 * place).check()
        case "attributes":
            page.get_by_label("a=2").check()
            page.get_by_label("b=1").check()
        case "set":
            for one in "abd":
                page.get_by_label(one, exact=True).uncheck()
            page.get_by_label("c", exact=True).check()
            page.get_by_label("k", exact=True).check()
        case "set of numbers":
            page.fill("textarea", "249\n3\n")
        case "nobody's word":
            page.get_by_label("I have no answer").check()
        case "texts":
            page.fill("textarea", "café\n東京")
        case _:
            page.fill("[type=text]", "dab")


UNFIT = {
    "one": lambda _: None,
    "number of a list": lambda page: page.fill("[type=number]", "12"),
    "bits": lambda page: page.locator("[type=radio]").first.check(),
    "set": lambda page: [page.get_by_label(one, exact=True).check() for one in "abcd"],
    "set of numbers": lambda page: page.fill("textarea", "1\ntwo"),
    "grid": lambda _: None,
    "texts": lambda page: page.fill("textarea", "a\nb\nc\nd"),
    "word": lambda _: None,
}


def refuse_unfit(page, hop, kind):
    """An answer that the question does not have costs nothing, and its field is focused."""
    UNFIT[kind](page)
    send(page)
    page.wait_for_selector("#problem:not(:empty)")
    assert page.evaluate("document.activeElement.closest('fieldset') !== null")
    assert diary(page) == {"charges": [], "entries": []}
    assert hop.bodies == []
    page.uncheck(".consent input")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_question_can_be_answered(scene, kind):
    made = scene.made[kind]
    with person(scene) as page:
        opened(page, scene.publish(made))
        if kind in UNFIT:
            refuse_unfit(page, scene.hop, kind)
        fill(page, kind)
        page.click("button.primary")
        page.get_by_text("confirm that you agree").wait_for()
        send(page)
        until(page, "pending")
        assert len(diary(page)["charges"]) == 1
        deliver(page, "taken")
    shapes = made["contract"]["envelope_bytes"]
    assert [len(body) % shapes[0][0] for body in scene.hop.bodies] == [0]


def test_the_same_bytes_are_sent_after_every_failure_and_every_reload(scene):
    with person(scene) as page:
        link = scene.publish(scene.made["plain"])
        opened(page, link)
        page.reload()
        bundle = answered(page, link)["bundle"]
        page.reload()
        until(page, "pending")
        again = "could not be delivered yet"
        scene.hop.answers = [(None,), (503,), (429, ("Retry-After", "5"))]
        page.context.set_offline(True)
        deliver(page, "pending", again)
        assert scene.hop.bodies == []
        page.context.set_offline(False)
        for tries in (1, 2, 3):
            deliver(page, "pending")
            page.wait_for_function(f"{ENTRY}.then((one) => one.tries === {tries + 1})")
            page.reload()
            page.get_by_text(again).wait_for()
        deliver(page, "taken")
        page.reload()
        until(page, "taken")
        assert page.query_selector("form") is None
        assert diary(page)["entries"][0]["bundle"] is None
    assert scene.hop.bodies == 4 * [b64decode(bundle)]


def test_the_back_button_shows_no_form_again(scene):
    with person(scene) as page:
        answered(page, scene.publish(scene.made["plain"]))
        deliver(page, "taken")
        page.goto("about:blank")
        page.go_back()
        until(page, "taken")
        assert page.query_selector("form") is None
    assert len(scene.hop.bodies) == 1


def test_two_tabs_send_one_answer(scene):
    with person(scene) as one:
        link = scene.publish(scene.made["plain"])
        other = one.context.new_page()
        for page in (one, other):
            opened(page, link)
        one.get_by_label("Zürich").check()
        other.get_by_label("none").check()
        send(one)
        until(one, "pending")
        # The other tab follows the diary without being asked.
        until(other, "pending")
        assert other.query_selector("form") is None
        assert len(diary(one)["entries"]) == 1
        deliver(one, "taken")
        until(other, "taken")
    assert len(scene.hop.bodies) == 1


def test_two_tabs_that_do_not_hear_each_other_send_one_answer(scene):
    mute = "BroadcastChannel.prototype.postMessage = () => {}"
    with person(scene, script=mute) as one:
        link = scene.publish(scene.made["plain"])
        other = one.context.new_page()
        for page in (one, other):
            opened(page, link)
            page.get_by_label("Zürich").check()
        send(one)
        until(one, "pending")
        bundle = diary(one)["entries"][0]["bundle"]
        send(other)
        other.get_by_text("in another tab").wait_for()
        assert [entry["bundle"] for entry in diary(one)["entries"]] == [bundle]


@pytest.mark.parametrize("name", ["own", "another"])
def test_what_is_entered_stays_when_another_tab_sends(scene, name):
    """Also without a network, and if the diary has an earlier round of this survey."""
    made = scene.made["rounds"]
    earlier = {
        "name": made["contract"]["name"] if name == "own" else "another", "round": 0,
        "contract": made["fingerprint"], "serial": 1, "state": "taken", "closes": 1, "made": 1,
    }  # fmt: skip
    with person(scene) as page:
        opened(page, scene.publish(made))
        page.get_by_label("Zürich").check()
        page.evaluate(WRITE, {"charges": [], "entries": [earlier]})
        page.context.set_offline(True)
        page.evaluate("new BroadcastChannel('mixtally').postMessage('changed')")
        page.wait_for_selector("details li", state="attached")
        page.wait_for_timeout(300)
        assert page.get_by_label("Zürich").is_checked()
        send(page)
        until(page, "pending")


def test_a_survey_without_a_name_has_a_title(scene):
    with person(scene) as page:
        opened(page, scene.publish(scene.made["nameless"]))
        assert (page.title(), page.inner_text("h1")) == ("Private survey", "Private survey")


def test_a_closed_tab_while_sealing_spends_the_round_and_sends_nothing(scene):
    with person(scene) as page:
        link = scene.publish(scene.made["rounds"])
        answered(page, link)
        planted(page, {"state": "drawing", "bundle": None})
        page.reload()
        assert "counts as answered" in until(page, "drawing")
        assert page.query_selector("form") is None
        assert "later round" in page.inner_text("#status")
    assert scene.hop.bodies == []


def test_the_page_calls_its_host_and_the_roles_only(scene):
    link = scene.publish(scene.made["plain"])
    with person(scene) as page:
        opened(page, link)
        call = "(url) => fetch(url, { mode: 'no-cors' }).then(() => 'sent', () => 'refused')"
        assert page.evaluate(call, f"{scene.hop.address}/status") == "sent"
        # A server on another port, which the policy of index.html alone would allow.
        assert page.evaluate(call, f"{scene.stranger.address}/status") == "refused"
        assert page.evaluate(call, "https://mix.example/") == "refused"
        ran = """() => {
          const one = document.createElement("script");
          one.textContent = "window.ran = 1";
          document.head.append(one);
          return window.ran;
        }"""
        assert page.evaluate(ran) is None


def test_a_code_is_taken_from_the_link_or_typed_and_shown_to_nobody(scene):
    link = scene.publish(scene.made["codes"])
    with person(scene) as page:
        opened(page, f"{link}.{CODE}")
        assert page.input_value("[type=text]") == CODE
        assert f"'{link}'" in page.inner_text("code")
        assert CODE not in page.inner_text("main")
        page.get_by_label("Zürich").check()
        page.check(".consent input")
        for unfit in ("", CODE[::-1]):
            page.fill("[type=text]", unfit)
            page.click("button.primary")
            page.get_by_text("as you received it").wait_for()
            assert page.evaluate("document.activeElement.type") == "text"
            assert page.inner_text("#status") == ""
        page.fill("[type=text]", CODE)
        send(page)
        until(page, "pending")


def test_a_code_leaves_the_address_and_stays_in_the_tab_until_it_is_used(scene):
    """Neither the address bar nor the back button shows it to others who use the browser."""
    link = scene.publish(scene.made["codes"])
    stored = "JSON.stringify(sessionStorage)"
    with person(scene) as page:
        page.goto("about:blank")
        opened(page, f"{link}.{CODE}")
        assert page.url == link
        page.reload()
        page.wait_for_selector("form")
        assert (page.url, page.input_value("[type=text]")) == (link, CODE)
        opened(page, f"{link}.{CODE[::-1]}")  # another link in the same tab
        page.wait_for_function(f"document.querySelector('[type=text]')?.value === '{CODE[::-1]}'")
        page.fill("[type=text]", CODE)
        page.get_by_label("Zürich").check()
        send(page)
        until(page, "pending")
        assert diary(page)["entries"][0]["code"] == CODE
        assert page.evaluate(stored) == "{}"
        for before in (link, "about:blank"):
            page.go_back()
            assert page.url == before
        other = page.context.new_page()
        other.goto(link)
        assert until(other, "pending")
        assert other.evaluate(stored) == "{}"


def test_a_language_keeps_what_was_entered(scene):
    with person(scene, locale="de-AT") as page:
        opened(page, scene.publish(scene.made["plain"]))
        assert page.inner_text("legend") == "Ihre Antwort"
        page.get_by_label("Zürich").check()
        page.click("text=English")
        assert page.inner_text("legend") == "Your answer"
        assert page.get_attribute("html", "lang") == "en"
        assert page.get_by_label("Zürich").is_checked()


def test_the_diary_is_shown_saved_and_erased(scene):
    with person(scene, accept_downloads=True) as page:
        link = scene.publish(scene.made["plain"])
        answered(page, link)
        page.click("summary")
        assert "epsilon 1, delta 0.000001" in page.inner_text("details")
        with page.expect_download() as saved:
            page.click("text=Save a copy")
        with open(saved.value.path()) as file:
            (entry,) = json.load(file)["entries"]
        # A field that is undefined is not in the copy.
        assert entry.items() <= diary(page)["entries"][0].items()
        assert entry["state"] == "pending"
        page.click("text=Erase the diary")
        assert "asked twice" in page.inner_text("details")
        page.click("text=Keep the diary")
        assert len(diary(page)["entries"]) == 1
        page.click("text=Erase the diary")
        page.click("text=Erase everything")
        page.wait_for_selector("form")
        assert diary(page) == {"charges": [], "entries": [], "rotations": []}


def test_the_keyboard_is_enough(scene):
    with person(scene) as page:
        opened(page, scene.publish(scene.made["plain"]))
        passed = []
        for _ in range(12):
            page.keyboard.press("Tab")
            passed.append(
                page.evaluate("document.activeElement.type ?? document.activeElement.tagName")
            )
            if passed[-1] == "radio":
                page.keyboard.press("ArrowDown")
            if passed[-1] == "checkbox":
                page.keyboard.press("Space")
            if passed[-1] == "submit":
                break
        assert passed == ["button", "button", "radio", "checkbox", "checkbox", "submit"]
        page.keyboard.press("Enter")
        until(page, "pending")
        assert page.evaluate("document.activeElement.id") == "status"
