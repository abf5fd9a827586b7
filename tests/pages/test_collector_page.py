"""The page of a collector can be read, too.

In a file of its own: while a browser is driven no other event loop can run; a collector has one.
"""

import pytest

from helpers.collector_scene import Office
from pages.browser import browser, faults


@pytest.mark.seconds
def test_the_page_of_a_collector_can_be_read(tmp_path):
    office = Office(tmp_path, hops=2)
    office.begin()
    office.proposed()
    office.send(*office.usual([0, 0, 0, 1, 1, 3]))
    office.collector.tick(office.now)
    html = office.ask("GET", "/").body.decode()
    assert "Messages received" in html
    with browser() as shown:
        assert faults(shown, html) == []
