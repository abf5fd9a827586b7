"""Pages as a browser shows them: on a phone, a tablet and a desk, light and dark, and printed."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
LOOK = (Path(__file__).parent / "looked_at.js").read_text()
WIDTHS = (360, 390, 768, 1280)
SCHEMES = ("light", "dark")
PRINTED = 718
"""Pixels between the margins of A4."""
MOST_MILLISECONDS = 300_000
"""For the start of a browser, and for a page to load; an idle machine needs a second."""
SMALLEST_PRINTED = 9.0
"""Letters of a chart on paper, in pixels of 1/96 inch: 6.75 points. All others have 12 pixels."""
_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip


@contextmanager
def browser() -> Iterator:
    """A Chromium that is gone afterwards; skips the test, saying why, where there is none."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium to look at pages with: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="there is no playwright: pip")
    with playwright.sync_playwright() as driver:
        shown = driver.chromium.launch(
            executable_path=CHROMIUM, args=_ARGUMENTS, timeout=MOST_MILLISECONDS
        )
        try:
            yield shown
        finally:
            shown.close()


def faults(shown, html: str, widths=WIDTHS, schemes=SCHEMES, *, axe=True) -> list[str]:
    """What is wrong with a page, everywhere it is looked at; each sentence says where that was."""
    found = []
    for scheme in schemes:
        context = shown.new_context(color_scheme=scheme, offline=True)
        page = context.new_page()
        page.set_content(html, timeout=MOST_MILLISECONDS)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            seen = page.evaluate(LOOK, {"print": False, "smallest": 12})
            found += [f"{width} px, {scheme}: {one}" for one in seen]
        if axe and scheme == "light":  # contrast in the dark is looked at above
            found += [f"axe: {one}" for one in accessibility(page)]
        page.emulate_media(media="print")
        page.set_viewport_size({"width": PRINTED, "height": 900})
        seen = page.evaluate(LOOK, {"print": True, "smallest": SMALLEST_PRINTED})
        found += [f"printed, {scheme}: {one}" for one in seen]
        context.close()
    return found


def accessibility(page) -> list[str]:
    """Violations that axe finds, best practices among them."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="there is no axe: pip"
    )
    said = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response
    return [f"{one['id']}: {one['nodes'][0]['html'][:80]}" for one in said["violations"]]
