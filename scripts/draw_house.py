"""Draw the rooms of the package as floors, their sizes, and how often one imports another.

    python scripts/draw_house.py [SOURCE [PICTURE]]

SOURCE is the folder of a package whose pyproject.toml beside ``src`` names its floors; PICTURE the
SVG to write, docs/house.svg by default.
"""

import ast
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT, GAP = 1000, 64, 34
INK, PALE, FILL = "#1b1f24", "#8a929b", "#eef3f8"


def floors(pyproject: Path) -> list[list[str]]:
    """Rooms from the lowest floor up, as the contract of the floors names them."""
    tools = tomllib.loads(pyproject.read_text())["tool"]["importlinter"]
    (layers,) = (one["layers"] for one in tools["contracts"] if one["id"] == "floors")
    return [[room.strip() for room in layer.split("|")] for layer in reversed(layers)]


def measured(package: Path) -> tuple[Counter[str], Counter[str], Counter[tuple[str, str]]]:
    """Lines and files of every room, and how many imports lead from one to another."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    arrows: Counter[tuple[str, str]] = Counter()
    for file in package.rglob("*.py"):
        room = file.relative_to(package).parts[0].removesuffix(".py")
        text = file.read_text()
        lines[room] += text.count("\n")
        files[room] += 1
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mixtally."):
                other = str(node.module).split(".")[1]
                if other != room:
                    arrows[room, other] += 1
    return lines, files, arrows


def drawn(package: Path) -> str:
    """The picture."""
    levels = floors(package.parents[1] / "pyproject.toml")
    lines, files, arrows = measured(package)
    height = len(levels) * (HEIGHT + GAP) + GAP
    places: dict[str, tuple[float, float]] = {}
    boxes = []
    for level, rooms in enumerate(levels):
        y = height - (level + 1) * (HEIGHT + GAP)
        each = (WIDTH - GAP) / len(rooms)
        for place, room in enumerate(rooms):
            x = GAP / 2 + place * each + GAP / 2
            places[room] = (x + (each - GAP) / 2, y)
            boxes.append(
                f'<rect x="{x:.0f}" y="{y}" width="{each - GAP:.0f}" height="{HEIGHT}" rx="6" '
                f'fill="{FILL}" stroke="{INK}"/>'
                f'<text x="{x + 10:.0f}" y="{y + 26}" font-weight="bold">{room}</text>'
                f'<text x="{x + 10:.0f}" y="{y + 48}" fill="{PALE}">{lines[room]:,} lines, '
                f"{files[room]} files</text>"
            )
    paths = []
    for (one, other), count in sorted(arrows.items()):
        if one in places and other in places:
            (x, y), (u, v) = places[one], places[other]
            color = "#c0392b" if v <= y else "#4a7fb5"
            paths.append(
                f'<path d="M{x:.0f},{y + HEIGHT} C{x:.0f},{(y + v) / 2 + HEIGHT:.0f} {u:.0f},'
                f'{(y + v) / 2:.0f} {u:.0f},{v}" fill="none" stroke="{color}" '
                f'stroke-opacity="0.45" stroke-width="{min(9.0, 0.6 + count / 9):.1f}"/>'
            )
    note = f"{sum(lines.values()):,} lines in {sum(files.values())} files; imports go down"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height + 20}" '
        f'font-family="sans-serif" font-size="13" fill="{INK}">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(paths)}{"".join(boxes)}'
        f'<text x="{GAP}" y="{height + 8}" fill="{PALE}">{note}</text></svg>\n'
    )


if __name__ == "__main__":
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src" / "mixtally"
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "house.svg"
    target.write_text(drawn(source))
