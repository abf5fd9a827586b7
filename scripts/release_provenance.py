"""The provenance of a release, as an in-toto statement of SLSA v1.

``release.py`` writes it. The statement is not signed and says so. It states how to build the same
bytes again, so that anyone can check them. A person who can change the files can change the
statement too. Only an independent build of the same commit protects against that. Another version
of zlib may compress equal files to other bytes, so the statement includes its version.

Source: in-toto attestation framework, Statement v1; SLSA 1.0, "Provenance".
"""

import json
import platform
import zlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from release_build import BUILD, SourceTree, sha256

BUILDER = "local make release"
BACKEND = ("hatchling", "hatch-fancy-pypi-readme", "packaging", "pathspec", "pluggy",
           "trove-classifiers")  # fmt: skip
"""The packages of the build: the backend, its plugin and their requirements."""
UNSIGNED = (
    "none: this statement is not signed; build the commit again and compare the bytes to check it"
)


def list_dependencies(source: SourceTree) -> list[dict[str, Any]]:
    """Return the inputs of the build: the tree of git, Python, and the backend, with versions."""
    commit = {} if source.changed else {"gitCommit": source.commit}
    return [
        {"name": "source", "digest": {**commit, "gitTree": source.tree}},
        {"name": "python", "uri": f"pkg:generic/python@{platform.python_version()}"},
        *({"name": name, "uri": f"pkg:pypi/{name}@{version(name)}"} for name in BACKEND),
    ]


def provenance(source: SourceTree, files: Mapping[str, Path]) -> str:
    """Return the statement about ``files``, as JSON."""
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": name, "digest": {"sha256": sha256(path.read_bytes())}}
            for name, path in sorted(files.items())
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:mixtally:release:v1",
                "externalParameters": {
                    "commit": source.commit,
                    "clean": not source.changed,
                    "changed": list(source.changed),
                },
                "internalParameters": {
                    "commands": [
                        f"git archive --format=tar {source.tree} | tar -x -C FOLDER",
                        f"cd FOLDER && SOURCE_DATE_EPOCH={source.epoch} python {' '.join(BUILD)}",
                    ],
                    "python": f"{platform.python_implementation()} {platform.python_version()}",
                    "zlib": zlib.ZLIB_RUNTIME_VERSION,
                    "platform": platform.platform(),
                },
                "resolvedDependencies": list_dependencies(source),
            },
            "runDetails": {
                "builder": {"id": "urn:mixtally:builder:local-make-release"},
                "metadata": {"mixtally_builder": BUILDER, "mixtally_signature": UNSIGNED},
            },
        },
    }
    return json.dumps(statement, indent=1) + "\n"
