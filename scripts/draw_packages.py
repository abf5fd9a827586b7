"""Draw the packages of mixtally as layers, with their sizes and the imports between them.

    python scripts/draw_packages.py [SOURCE [PICTURE]]

SOURCE is the folder of a package; the pyproject.toml next to ``src`` names its layers. PICTURE is
the SVG to write, by default docs/packages.svg.
"""

import ast
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT, GAP = 1000, 78, 34
INK, PALE, FILL = "#1b1f24", "#5f6872", "#eef3f8"
DOWN, UP = "#4a7fb5", "#c0392b"


def read_floors(pyproject: Path) -> list[list[str]]:
    """Return the packages of each layer, from the lowest layer up."""
    tools = tomllib.loads(pyproject.read_text())["tool"]["importlinter"]
    (layers,) = (one["layers"] for one in tools["contracts"] if one["id"] == "floors")
    return [[name.strip() for name in layer.split("|")] for layer in reversed(layers)]


def measure(package: Path) -> tuple[Counter[str], Counter[str], Counter[tuple[str, str]]]:
    """Count the lines and files of each package, and the imports between two packages."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    arrows: Counter[tuple[str, str]] = Counter()
    for file in package.rglob("*.py"):
        name = file.relative_to(package).parts[0].removesuffix(".py")
        text = file.read_text()
        lines[name] += text.count("\n")
        files[name] += 1
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mixtally."):
                other = str(node.module).split(".")[1]
                if other != name:
                    arrows[name, other] += 1
    return lines, files, arrows


def draw(package: Path) -> str:
    """Return the picture as SVG."""
    floors = read_floors(package.parents[1] / "pyproject.toml")
    lines, files, arrows = measure(package)
    height = len(floors) * (HEIGHT + GAP) + GAP
    places: dict[str, tuple[float, float]] = {}
    boxes = []
    for level, names in enumerate(floors):
        y = height - (level + 1) * (HEIGHT + GAP)
        each = (WIDTH - GAP) / len(names)
        for place, name in enumerate(names):
            x = GAP / 2 + place * each + GAP / 2
            places[name] = (x + (each - GAP) / 2, y)
            inside = ", ".join(
                sorted(path.parent.name for path in (package / name).glob("*/__init__.py"))
            )
            boxes.append(
                f'<rect x="{x:.0f}" y="{y}" width="{each - GAP:.0f}" height="{HEIGHT}" rx="6" '
                f'fill="{FILL}" stroke="{INK}"/>'
                f'<text x="{x + 10:.0f}" y="{y + 24}" font-weight="bold">{name}</text>'
                f'<text x="{x + 10:.0f}" y="{y + 45}">{inside}</text>'
                f'<text x="{x + 10:.0f}" y="{y + 66}" fill="{PALE}">{lines[name]:,} lines, '
                f"{files[name]} files</text>"
            )
    paths = []
    for (one, other), count in sorted(arrows.items()):
        if one in places and other in places:
            (x, y), (u, v) = places[one], places[other]
            paths.append(
                f'<path d="M{x:.0f},{y + HEIGHT} C{x:.0f},{(y + v) / 2 + HEIGHT:.0f} {u:.0f},'
                f'{(y + v) / 2:.0f} {u:.0f},{v}" fill="none" stroke="{UP if v <= y else DOWN}" '
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
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "packages.svg"
    target.write_text(draw(source))
