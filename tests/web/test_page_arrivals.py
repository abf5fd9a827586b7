"""The page says at which roles an answer arrived, keeps tags until then, and accuses nobody."""

import json

import pytest

from web.page_person import AFTER, answered, deliver, diary, person, planted, until
from web.page_scene import needs_node

pytestmark = [pytest.mark.seconds, needs_node]
SILENT = ["Mix 1: no answer yet", "Mix 2: no answer yet", "Collector: no answer yet"]


def said(page, text):
    """Wait for a text about arrivals, and return the first line on every role."""
    page.locator("#arrivals").get_by_text(text).wait_for()
    return [one.split("\n")[0] for one in page.locator("#arrivals li").all_inner_texts()]


def watched(page):
    return diary(page)["entries"][0].get("watched")


def watching(scene, page):
    """Answer, watch, and let the bundle be delivered."""
    link = scene.publish(scene.made["plain"])
    answered(page, link, watch=True)
    deliver(page, "taken")
    return link


def destroy(scene):
    """Let the first hop say that it has destroyed the round."""
    made = scene.made["plain"]
    path = f"/contracts/{made['fingerprint']}/rounds/1/manifests"
    scene.hop.served[path] = json.dumps([made["manifest"]]).encode()


def test_nobody_who_does_not_ask_for_it_is_watched(scene):
    with person(scene) as page:
        entry = answered(page, scene.publish(scene.made["plain"]))
        assert "watched" not in entry
        deliver(page, "taken")
        page.clock.fast_forward(AFTER)
        page.reload()
        until(page, "taken")
        assert page.inner_text("#arrivals") == ""
        page.click("summary")
        assert "Erase the tags" not in page.inner_text("details")
    assert not [path for path in scene.hop.asked if path.endswith("/manifests")]


def test_silent_roles_are_asked_again_and_not_accused(scene):
    with person(scene) as page:
        watching(scene, page)
        assert said(page, "The round closes on") == []
        assert not [path for path in scene.hop.asked if path.endswith("/manifests")]
        page.context.set_offline(True)
        page.clock.fast_forward(AFTER)
        assert said(page, "seems to be offline") == []
        page.context.set_offline(False)
        assert said(page, "Not everybody has answered yet") == SILENT
        page.reload()
        assert said(page, "at the latest on") == SILENT
        assert "lost" not in page.inner_text("#arrivals")
        asked = len(scene.hop.asked)
        page.clock.fast_forward(1_300_000)  # an open page asks again
        for _ in range(600):
            page.wait_for_timeout(100)
            if len(scene.hop.asked) > asked:
                break
            page.clock.fast_forward(20_000)  # its sleep may have begun after the clock was moved
        assert len(scene.hop.asked) > asked
        assert watched(page)


def test_tags_are_erased_unchecked_by_a_button_and_when_lists_are_gone(scene):
    with person(scene) as page:
        watching(scene, page)
        assert watched(page)
        page.click("summary")
        assert "tags are kept" in page.inner_text("details")
        page.click("text=Erase the tags unchecked")
        page.wait_for_selector("#arrivals:empty", state="attached")
        assert watched(page) is None
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
        planted(page, {"watched": [["00" * 8] * 3], "watched_until": 10})
        page.reload()
        until(page, "taken")
        page.wait_for_function("document.querySelector('details li')")
        assert watched(page) is None


def test_a_destroyed_round_is_said_to_be_destroyed_in_two_tabs(scene):
    with person(scene) as one:
        link = watching(scene, one)
        other = one.context.new_page()
        other.goto(link)
        said(other, "The round closes on")
        destroy(scene)
        one.clock.fast_forward(AFTER)
        for page in (one, other):
            assert said(page, "too few people took part") == []
        assert watched(one) is None
        one.reload()
        assert said(one, "destroyed") == []
