"""`make release`: wheel, sdist, digests, contents and provenance that others can check.

    .venv/bin/python scripts/release.py                # the last commit, from a clean tree
    .venv/bin/python scripts/release.py --allow-dirty  # a trial with changed files

The program writes five files to dist:

- the wheel and the sdist, each built twice with equal bytes (release_build.py);
- an SBOM of the wheel (release_sbom.py) and a provenance statement (release_provenance.py);
- SHA256SUMS of all of them, for `sha256sum --check`.

The same commit in the same environment gives the same five files. If any check fails, nothing is
written. Nothing is signed.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from release_build import ReleaseError, SourceTree, build_twice, sha256, source_of
from release_provenance import UNSIGNED, provenance
from release_sbom import sbom

ROOT = Path(__file__).parents[1]
SUMS = "SHA256SUMS"


def release(source: SourceTree, out: Path) -> dict[str, Path]:
    """Make all files of a release in ``out`` and return their paths by name.

    Raises
    ------
    ReleaseError
        Before anything is written to ``out``.
    """
    with tempfile.TemporaryDirectory(prefix="mixtally-release-") as name:
        desk = Path(name)
        files = build_twice(source, desk)
        (wheel,) = (path for path in files.values() if path.suffix == ".whl")
        stem = "-".join(wheel.stem.split("-")[:2])
        files |= write_text(desk / f"{stem}.cdx.json", sbom(wheel, source.epoch))
        files |= write_text(desk / f"{stem}.provenance.json", provenance(source, files))
        files |= write_text(desk / SUMS, sums(files))
        out.mkdir(parents=True, exist_ok=True)
        return {name: Path(shutil.copyfile(path, out / name)) for name, path in files.items()}


def write_text(path: Path, text: str) -> dict[str, Path]:
    """Write ``text`` to a file and return its path by name."""
    path.write_text(text, encoding="utf-8")
    return {path.name: path}


def sums(files: dict[str, Path]) -> str:
    """Return the lines of `sha256sum` for ``files``."""
    return "".join(f"{sha256(files[name].read_bytes())}  {name}\n" for name in sorted(files))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit status: 2 if no release is possible."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--allow-dirty", action="store_true", help="release changed files too")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument("--out", type=Path, help="the folder for the files (default: dist)")
    asked = parser.parse_args(arguments)
    try:
        source = source_of(asked.root, allow_dirty=asked.allow_dirty)
        files = release(source, asked.out or asked.root / "dist")
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"commit {source.commit}, {'with changes' if source.changed else 'clean'}; the same bytes"
          " from two builds and from the sdist")  # fmt: skip
    for path in files.values():
        print(f"{path}  {path.stat().st_size:,} bytes")
    print(f"signature: {UNSIGNED}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
