"""The files of the page: vendored modules are those of the packages, and the policy fits them."""

import re
from base64 import b64encode
from hashlib import sha256

from mixtally.app.page_files import generic_files
from scripts.vendor_web import IMPORT, vendored_files
from web.page_scene import WEB, needs_node

HTML = (WEB / "page/index.html").read_text()


@needs_node
def test_vendored_modules_are_those_of_the_packages():
    folder = WEB / "vendor"
    vendored = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert vendored == vendored_files(WEB)
    assert {"@hpke/core/LICENSE", "@hpke/common/LICENSE"} <= {*vendored}


def test_the_policy_has_the_hash_of_the_import_map():
    (text,) = re.findall(r'<script type="importmap">(.*?)</script>', HTML, re.DOTALL)
    digest = b64encode(sha256(text.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in HTML


def test_nothing_else_is_inline():
    assert re.findall(r"<script(?![^>]*(?:importmap|src=))|<style|style=|\son\w+=", HTML) == []


def missing(files):
    """Modules that a file of the page imports and the page lacks."""
    found = []
    for name, data in files.items():
        folder = name.rpartition("/")[0].split("/")
        for target in IMPORT.findall(data.decode()) if name.endswith(".js") else ():
            parts = list(folder)
            for step in target.split("/"):
                if step == "..":
                    parts.pop()
                elif step != ".":
                    parts.append(step)
            if "/".join(parts) not in files:
                found.append((name, target))
    return found


def test_every_import_leads_to_a_file_of_the_page():
    files = generic_files()
    assert missing(files) == []
    files.pop("src/diary.js")
    assert ("src/client.js", "./diary.js") in missing(files)


def test_a_contract_can_name_all_files():
    """At most 128, by paths without a dot at the beginning of a segment."""
    segment = "[A-Za-z0-9_@+~-][A-Za-z0-9._@+~-]*"
    assert len(generic_files()) < 128
    assert all(re.fullmatch(rf"{segment}(/{segment})*", name) for name in generic_files())
