"""A page as its reader sees it: tags that must be balanced, attributes and text."""

import re
from html.parser import HTMLParser

RAW = "<!-- simulation: holds raw counts -->\n"
SVG_NAME = "http://www.w3.org/2000/svg"


class Reader(HTMLParser):
    """Checks that tags are balanced; keeps tags, attributes and text in their order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def self_contained(text):
    """The page's reader, once it is seen to be whole, to need nothing else and to run nothing."""
    reader = Reader(text)
    assert text.removeprefix(RAW).startswith("<!doctype html>\n")
    names = {name for name, _ in reader.attributes}
    assert not names & {"src", "href", "xlink:href", "style", "srcset", "action"}
    assert not any(name.startswith("on") for name in names)
    assert not {"script", "link", "iframe"} & set(reader.tags)
    assert "@import" not in text
    assert "url(" not in text
    assert set(re.findall(r"https?://[^\"'<\s]*", text)) <= {SVG_NAME}
    assert "nan" not in re.findall(r"[\w.]+", " ".join(v or "" for _, v in reader.attributes))
    return reader
