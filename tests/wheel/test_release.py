"""A release is reproducible and complete: what differs between builds is found, by name.

Builds of the whole repository are few and slow; what is planted is planted in a small project.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement

from mixtally.version import VERSION
from wheel.test_metadata import PROJECT

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"
ME = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
SMALL = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "small"
version = "1"
license = "MIT"
requires-python = ">=3.11"
[tool.hatch.build.targets.wheel]
packages = ["src/small"]
"""
HOOK = """
import os, time
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        with open(os.path.join(self.root, "src", "small", "made.txt"), "w") as file:
            file.write(repr({}))
"""
PLANTED = {
    "the clock": "time.time_ns()",
    "the time zone": "time.tzname",
    "the folder": "self.root",
    "the times of files": "os.stat(os.path.join(self.root, 'pyproject.toml')).st_mtime_ns",
    "the order of a set": "[*{str(number) for number in range(100)}]",
    "the language": "os.environ['LC_ALL']",
}


@pytest.fixture(scope="module")
def scripts():
    """The programs that make a release, which lie beside each other."""
    sys.path.insert(0, str(SCRIPTS))
    import release
    import release_build

    yield release, release_build
    sys.path.remove(str(SCRIPTS))


def committed(folder):
    """Makes a folder a repository with one commit of all that is in it."""
    for line in (("init", "-q"), ("add", "-A"), (*ME, "commit", "-qm", "everything")):
        subprocess.run(["git", *line], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def small(tmp_path):
    """Makes a small project; ``planted`` is an expression whose value its build writes."""

    def make(planted=None, more=""):
        folder = tmp_path / "small"
        (folder / "src" / "small").mkdir(parents=True)
        (folder / "src" / "small" / "__init__.py").write_text("")
        if planted:
            more += '[tool.hatch.build.hooks.custom]\npath = "hook.py"\n'
            (folder / "hook.py").write_text(HOOK.format(planted))
        (folder / "pyproject.toml").write_text(SMALL + more)
        return committed(folder)

    return make


@pytest.fixture(scope="module")
def released(scripts, tmp_path_factory):
    """The files of a release of this repository as it lies here, after their source."""
    folder = tmp_path_factory.mktemp("release")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not a repository: there is no commit to release")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / "here" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / "here" / name)
    source = scripts[1].source_of(committed(folder / "here"), allow_dirty=False)
    return source, scripts[0].release(source, folder / "dist")


def read(released, end):
    (path,) = (path for name, path in released[1].items() if name.endswith(end))
    return path


@pytest.mark.seconds
def test_this_repository_is_built_twice_to_the_same_bytes(released):
    assert sorted(released[1]) == [
        "SHA256SUMS",
        f"mixtally-{VERSION}-py3-none-any.whl",
        f"mixtally-{VERSION}.cdx.json",
        f"mixtally-{VERSION}.provenance.json",
        f"mixtally-{VERSION}.tar.gz",
    ]


@pytest.mark.seconds
def test_the_sums_are_those_of_all_other_files(released):
    lines = dict(line.split("  ")[::-1] for line in read(released, "SUMS").read_text().splitlines())
    assert {*lines} == {*released[1]} - {"SHA256SUMS"}
    for name, digest in lines.items():
        assert hashlib.sha256(released[1][name].read_bytes()).hexdigest() == digest


@pytest.mark.seconds
def test_the_bill_is_valid_and_has_every_direct_requirement(released):
    text = read(released, ".cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    wheel = read(released, ".whl")
    (digest,) = bill["metadata"]["component"]["hashes"]
    assert digest["content"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    parts = {one["bom-ref"]: one for one in bill["components"]}
    extras = PROJECT["optional-dependencies"]
    for extra in {*extras} - {"bench", "dev", "docs", "examples"}:
        for one in map(Requirement, extras[extra]):
            if one.name != "mixtally":
                part = parts[one.name.lower()]
                told = {held["name"]: held["value"] for held in part["properties"]}
                assert (part["version"], part["scope"]) == (version(one.name), "optional")
                assert str(one.specifier) in told["mixtally:range"]
                assert extra in told["mixtally:extras"].split(", ")
    assert parts["cryptography"]["scope"] == "required"
    below = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    assert {*below[f"mixtally@{VERSION}"]} > {"cryptography", "numpy"}
    assert "cffi" in below["cryptography"]
    assert "cffi" not in below[f"mixtally@{VERSION}"]
    assert not {"pytest", "ruff", "mkdocs", "pure-ldp", "mixtally"} & {*parts}


@pytest.mark.seconds
def test_the_schema_refuses_a_bill_without_its_format(released):
    """Twin: the validation above can fail."""
    bill = json.loads(read(released, ".cdx.json").read_text())
    del bill["bomFormat"]
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is not None


@pytest.mark.seconds
def test_the_provenance_names_the_commit_and_the_bytes_and_that_nobody_signed(released):
    source, files = released
    told = json.loads(read(released, "provenance.json").read_text())
    assert told["_type"] == "https://in-toto.io/Statement/v1"
    assert told["predicateType"] == "https://slsa.dev/provenance/v1"
    subjects = {one["name"]: one["digest"]["sha256"] for one in told["subject"]}
    assert len(subjects) == 3
    for name, digest in subjects.items():
        assert hashlib.sha256(files[name].read_bytes()).hexdigest() == digest
    made, run = told["predicate"]["buildDefinition"], told["predicate"]["runDetails"]
    assert made["externalParameters"] == {"commit": source.commit, "clean": True, "changed": []}
    went_in = {one["name"]: one for one in made["resolvedDependencies"]}
    assert went_in["source"]["digest"] == {"gitCommit": source.commit, "gitTree": source.tree}
    assert went_in["hatchling"]["uri"] == f"pkg:pypi/hatchling@{version('hatchling')}"
    assert f"SOURCE_DATE_EPOCH={source.epoch}" in made["internalParameters"]["commands"][1]
    assert run["metadata"]["mixtally_builder"] == "local make release"
    assert "not signed" in run["metadata"]["mixtally_signature"]


@pytest.mark.seconds
def test_a_small_project_is_built_twice_to_the_same_bytes(small, scripts, tmp_path):
    """What makes the tests below mean what they say: without anything planted all is well."""
    source = scripts[1].source_of(small(), allow_dirty=False)
    found = scripts[1].build_twice(source, tmp_path / "desk")
    assert sorted(found) == ["small-1-py3-none-any.whl", "small-1.tar.gz"]


@pytest.mark.seconds
@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_planted_nondeterminism_is_found(planted, small, scripts, tmp_path):
    release, build = scripts
    source = build.source_of(small(planted), allow_dirty=False)
    with pytest.raises(
        build.ReleaseError, match=r"the same bytes from two builds, got .*made\.txt"
    ):
        release.release(source, tmp_path / "dist")
    assert not (tmp_path / "dist").exists()


@pytest.mark.seconds
def test_an_sdist_that_gives_another_wheel_is_found(small, scripts, tmp_path):
    more = '[tool.hatch.build.targets.sdist]\nexclude = ["/src/small/data.txt"]\n'
    folder = small(more=more)
    (folder / "src" / "small" / "data.txt").write_text("of the repository alone")
    source = scripts[1].source_of(committed(folder), allow_dirty=False)
    with pytest.raises(scripts[1].ReleaseError, match=r"a build from the sdist, got .*data\.txt"):
        scripts[1].build_twice(source, tmp_path / "desk")


@pytest.mark.seconds
def test_a_build_that_fails_says_why(small, scripts, tmp_path):
    source = scripts[1].source_of(small("1 / 0"), allow_dirty=False)
    with pytest.raises(scripts[1].ReleaseError, match=r"a build that ends.*division by zero"):
        scripts[1].build_twice(source, tmp_path / "desk")


@pytest.mark.parametrize("name", ["new.py", "pyproject.toml"])
def test_a_dirty_tree_is_refused(name, small, scripts, capsys):
    folder = small()
    (folder / name).write_text(SMALL + "# changed\n")
    assert scripts[0].main(["--root", str(folder)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "expected a clean tree" in said.err
    assert name in said.err
    assert not (folder / "dist").exists()


@pytest.mark.seconds
def test_a_dirty_tree_that_is_allowed_is_told(small, scripts, tmp_path, capsys):
    folder = small()
    module = folder / "src" / "small" / "__init__.py"
    module.write_text("CHANGED = True\n")
    out = tmp_path / "dist"
    assert scripts[0].main(["--root", str(folder), "--out", str(out), "--allow-dirty"]) == 0
    assert "with changes" in capsys.readouterr().out
    told = json.loads((out / "small-1.provenance.json").read_text())["predicate"]
    assert told["buildDefinition"]["externalParameters"]["clean"] is False
    (went_in,) = (one for one in told["buildDefinition"]["resolvedDependencies"]
                  if one["name"] == "source")  # fmt: skip
    assert {*went_in["digest"]} == {"gitTree"}
    assert module.read_text() == "CHANGED = True\n"
    with zipfile.ZipFile(out / "small-1-py3-none-any.whl") as packed:
        assert packed.read("small/__init__.py") == b"CHANGED = True\n"


def test_a_folder_that_is_no_repository_is_refused(scripts, tmp_path):
    with pytest.raises(scripts[1].ReleaseError, match="expected a git repository"):
        scripts[1].source_of(tmp_path, allow_dirty=False)


def test_what_is_cited_is_this_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= {*cited}  # what the schema requires
    assert (str(cited["version"]), cited["title"]) == (VERSION, PROJECT["name"])
    assert cited["license"] == PROJECT["license"]
    assert cited["authors"] == PROJECT["authors"]
    assert {*cited["keywords"]} <= {*PROJECT["keywords"]}
