"""Copy the HPKE modules that the page imports from web/node_modules to web/vendor.

Usage: ``vendor_web.py``, after ``npm ci`` with other versions of the packages. The modules are
copied byte for byte, each package with its licence and its ``package.json``.
"""

import re
import shutil
from pathlib import Path

WEB = Path(__file__).parents[1] / "web"
PACKAGES = ("@hpke/core", "@hpke/common")
IMPORT = re.compile(r"""^(?:import|export)\s[\w\s{},*$]*["'](\.[^"']+)["'];$""", re.MULTILINE)


def vendored_files(web: Path) -> dict[str, bytes]:
    """Return the modules that page/hpke-*.js lead to, with licences, by path below vendor."""
    packages, vendor = (web / "node_modules").resolve(), web.resolve() / "vendor"
    found: dict[str, bytes] = {}
    waiting = [
        (file.parent / target).resolve().relative_to(vendor)
        for file in web.glob("page/hpke-*.js")
        for target in IMPORT.findall(file.read_text())
    ]
    while waiting:
        name = waiting.pop()
        if name.as_posix() not in found:
            data = found[name.as_posix()] = (packages / name).read_bytes()
            below = [(packages / name.parent / target) for target in IMPORT.findall(data.decode())]
            waiting += [path.resolve().relative_to(packages) for path in below]
    for package in PACKAGES:
        for extra in ("LICENSE", "package.json"):
            found[f"{package}/{extra}"] = (packages / package / extra).read_bytes()
    return found


def main() -> None:
    """Replace web/vendor."""
    shutil.rmtree(WEB / "vendor", ignore_errors=True)
    for name, data in vendored_files(WEB).items():
        path = WEB / "vendor" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
