"""Search sentences for words that make them hard to read, and the sources for vague names.

``make check`` runs this program. Usage: ``check_words.py [PATH]...``; without paths it reads the
whole project. Each entry of ``WORDS`` is a habit that made readers read a sentence twice, with the
words to write instead. ``NAMES`` are not used in ``src``, because each named many different things.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = ["src", "scripts", "bench", "literature", "examples", "docs"]
PLACES += sorted(path.name for path in ROOT.glob("*.md"))
SUFFIXES = {".py", ".md", ".html", ".js", ".ipynb"}

WORDS = {
    r"whoever|whomever": "anyone who, the person, the reader",
    r"of whom|from whom|to whom": "who",
    r"what [^.;:]{0,60}\bcomes? (to|of)": "the sum, the cost, the result",
    r"(is|are|was|were|be|being|been) told": "receives, follows the protocol",
    r"besides?": "next to, with, in addition to",
    r"(by )?a hair": "slightly",
    r"alike": "in the same way, equal",
    r"(?<!tell-)(?<!`)apart": "distinguish, except, separately",  # not the names of options
    r"as (one|you) likes?": "any",
    r"at all": "(leave it out)",
    r"so many|so much": "this number of, how many",
    r"that (are|is) there": "existing",
    r"laid|lays|lies (beside|next)": "compared with",
    r"as (it|they) came|(what|that|who) came": "received",
    r"gives? or takes?|give-or-take": "standard error",
    r"for good|all the same|none the less|never mind": "(say when, or leave it out)",
    r"the house|house style|front door|a room of (its|their) own": "(no metaphors)",
    r"wanted": "expected",
}

NAMES = r"_*(told|came|apart|sure|held|wish|wanted|beside|together|alone|looked|meets|likely)"
NAMES += r"|_*(foremost|outlook)"
BINDERS = {ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg", ast.alias: "asname"}
BINDERS |= dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), "name")
BINDERS |= dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar), "name")

# Files, and a pattern of the sentences and names in them that may stay.
EXCEPTIONS = [
    ("scripts/check_words.py", ""),  # the list itself
    ("src/mixtally/app/words.py", "together"),  # a value of an option
    ("src/mixtally/accounting/", "keep (the messages|them)"),  # assumptions, stored in plans
    ("SPEC.md", "flips-beside-mixes"),  # the name of a refusal, which clients compare
    ("src/mixtally/lab/attacks/outsiders.py", "tell-apart"),  # the name of an attack
    ("src/mixtally/lab/attacks/difference.py", "tell-apart"),
    ("src/mixtally/device/client/net/entries.py", "left"),  # these three are stored in files
    ("src/mixtally/server/collector/stored.py", "came"),
    ("src/mixtally/server/engine/shards/shard_tally.py", "came"),
]


def python_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each comment, and of each string that has more than one word."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=str(text)) if " " in text.strip():
                yield node.lineno, text


def vague_names(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name where one of ``NAMES`` is defined, or ``left`` without ``right``."""
    for statement in ast.parse(source).body:
        bound = [
            (node.lineno, name)
            for node in ast.walk(statement)
            if isinstance(getattr(node, "ctx", ast.Store()), ast.Store)
            and (name := getattr(node, BINDERS.get(type(node), ""), None))
        ]
        vague = NAMES if "right" in dict(map(reversed, bound)) else f"{NAMES}|_*left"
        yield from (one for one in bound if re.fullmatch(vague, one[1]))


def may_stay(text: str, name: str) -> bool:
    """Return whether the file ``name`` has an exception for ``text``."""
    return any(name.startswith(file) and re.search(may, text) for file, may in EXCEPTIONS)


def findings(path: Path, name: str) -> Iterator[str]:
    """Yield one line of report for each word of ``WORDS`` and each vague name in the file."""
    source = path.read_text()
    if path.suffix == ".py" and name.startswith("src/"):
        for line, vague in (one for one in vague_names(source) if not may_stay(one[1], name)):
            yield f"{name}:{line}: the name {vague!r}; write: what it contains"
    for line, text in python_texts(source) if path.suffix == ".py" else [(1, source)]:
        for word, instead in WORDS.items():
            for hit in re.finditer(rf"\b({word})\b", text, re.IGNORECASE):
                sentence = text[max(0, hit.start() - 60) : hit.end() + 60]
                if not may_stay(sentence, name):
                    place = line + text.count("\n", 0, hit.start())
                    yield f"{name}:{place}: {hit.group()!r}; write: {instead}"


def main(arguments: list[str]) -> int:
    """Print the findings in the given files and folders; return 1 if there are any."""
    found: list[str] = []
    for place in [ROOT / argument for argument in arguments or PLACES]:
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        for file in files:
            if file.suffix in SUFFIXES and "__pycache__" not in file.parts:
                found += findings(file, str(file.relative_to(ROOT)))
    print(*found, sep="\n", end="\n" if found else "")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
