"""The software bill of materials (SBOM) of the wheel, as CycloneDX 1.6 in JSON.

``release.py`` writes it. The requirements of the wheel, with and without each extra, come from its
metadata. Their versions and their own requirements come from the environment of the build. Another
installation may have other versions in the same ranges, so every direct requirement has its range.
A distribution that is not installed here has a range and no version. Extras for the development of
the repository are not included.

The file is reproducible: its time is that of the commit, and its serial number is derived from the
digest of the wheel.

Source: CycloneDX 1.6, ECMA-424 first edition.
"""

import uuid
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_string
from email.message import Message
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.model.lifecycle import LifecyclePhase, PredefinedLifecycle
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from release_build import sha256

OF_THE_REPOSITORY = {"bench", "dev", "docs", "examples"}
"""Extras for work on the repository, which are of no use with an installed wheel."""
WRITER = "cyclonedx-python-lib"


@dataclass(slots=True)
class Distribution:
    """A distribution that the wheel requires, directly or not.

    Attributes
    ----------
    ranges : set of str
        The versions that the wheel itself allows; empty if only other distributions require it.
    extras : set of str
        The extras that require it; the empty name stands for the wheel without extras.
    needs : set of str
        The names of its own requirements.
    """

    name: str
    ranges: set[str] = field(default_factory=set)
    extras: set[str] = field(default_factory=set)
    needs: set[str] = field(default_factory=set)


def metadata_of(wheel: Path) -> Message:
    """Return the metadata of the wheel."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_string(packed.read(name).decode())


def lines_of(name: str) -> list[str]:
    """Return the requirements of a distribution; empty if it is not installed."""
    try:
        return distribution(name).requires or []
    except PackageNotFoundError:
        return []


def parse_requirements(lines: Iterable[str], extra: str) -> list[Requirement]:
    """Return the requirements that apply in this environment with ``extra``."""
    found = [Requirement(line) for line in lines]
    return [one for one in found if one.marker is None or one.marker.evaluate({"extra": extra})]


def collect_distributions(metadata: Message) -> dict[str, Distribution]:
    """Return everything that the wheel requires, by name."""
    ours = canonicalize_name(metadata["Name"])
    lines = metadata.get_all("Requires-Dist") or []
    found: dict[str, Distribution] = {}
    for extra in ("", *(metadata.get_all("Provides-Extra") or [])):
        if extra not in OF_THE_REPOSITORY:
            follow(ours, lines, extra, found)
    return found


def follow(ours: str, lines: list[str], extra: str, found: dict[str, Distribution]) -> None:
    """Add to ``found`` everything that the requirements of the wheel lead to with ``extra``."""
    left: list[tuple[str, str]] = [(ours, extra)]
    seen = set[tuple[str, str]]()
    while left:
        name, under = left.pop()
        if (name, under) in seen:
            continue
        seen.add((name, under))
        for one in parse_requirements(lines if name == ours else lines_of(name), under):
            below = canonicalize_name(one.name)
            left += [(below, more) for more in ("", *one.extras)]
            if below == ours:
                continue  # The extra includes another extra of the wheel.
            held = found.setdefault(below, Distribution(below))
            held.extras.add(extra)
            if name == ours:
                held.ranges.add(str(one.specifier))
            else:
                found[name].needs.add(below)


def component(one: Distribution) -> Component:
    """Return the entry of a distribution, as installed here or with its range alone."""
    try:
        here: str | None = version(one.name)
    except PackageNotFoundError:
        here = None
    extras = ", ".join(sorted(one.extras - {""}))
    told = {
        "mixtally:range": " or ".join(sorted(one.ranges)),
        "mixtally:extras": "" if "" in one.extras else extras,
        "mixtally:version": "of the environment of the build" if here else "not installed there",
    }
    return Component(
        name=one.name,
        type=ComponentType.LIBRARY,
        bom_ref=one.name,
        version=here,
        scope=ComponentScope.REQUIRED if "" in one.extras else ComponentScope.OPTIONAL,
        purl=PackageURL("pypi", None, one.name, here),
        licenses=licenses(one.name) if here else (),
        properties=[Property(name=name, value=text) for name, text in told.items() if text],
    )


def licenses(name: str) -> list[LicenseExpression]:
    """Return the SPDX expression that a distribution states; empty if it states none."""
    stated = distribution(name).metadata.json.get("license_expression")
    return [LicenseExpression(str(stated))] if stated else []


def sbom(wheel: Path, epoch: int) -> str:
    """Return the SBOM of the wheel as JSON, dated ``epoch`` seconds after 1970."""
    metadata, digest = metadata_of(wheel), sha256(wheel.read_bytes())
    name, number = metadata["Name"], metadata["Version"]
    found = collect_distributions(metadata)
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"sha256:{digest}"))
    bom.metadata.timestamp = datetime.fromtimestamp(epoch, UTC)
    bom.metadata.lifecycles = [PredefinedLifecycle(phase=LifecyclePhase.BUILD)]
    bom.metadata.tools.components.add(
        Component(name=WRITER, version=version(WRITER), type=ComponentType.LIBRARY)
    )
    root = Component(
        name=name,
        type=ComponentType.LIBRARY,
        bom_ref=f"{name}@{number}",
        version=number,
        description=metadata["Summary"],
        purl=PackageURL("pypi", None, name, number, {"file_name": wheel.name}),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        licenses=[LicenseExpression(metadata["License-Expression"])],
    )
    bom.metadata.component = root
    parts = {one.name: component(one) for one in found.values()}
    bom.components.update(parts.values())
    bom.register_dependency(root, [parts[one.name] for one in found.values() if one.ranges])
    for one in found.values():
        bom.register_dependency(parts[one.name], [parts[below] for below in sorted(one.needs)])
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"
