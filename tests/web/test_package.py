"""The package as ``npm pack`` makes it, in a folder that has nothing else of the project."""

import json
import shutil
import subprocess
import tarfile

import pytest

from web.page_scene import WEB, needs_node

pytestmark = [pytest.mark.seconds, needs_node]

PROGRAM = """\
import { answer, checkArrivals, deliverUntilAnswered, memoryStorage, Refusal } from "mixtally";
import type { Contract, Entry, Options, Storage, Trust } from "mixtally";
import { browserStorage } from "mixtally/browser-storage";

const budget = { epsilon: 1, delta: 1e-5 };
const trust: Trust = { fingerprint: "0", limits: { epsilon: 0.5 }, budget };
const isPage = typeof indexedDB !== "undefined";
const storage: Storage = isPage ? await browserStorage() : memoryStorage();
let asked: Contract | undefined;
const consent: Options["consent"] = ({ contract }, sheet) => {
  asked = contract;
  return contract.plan.question.labels?.length === 2 && sheet.closes > 0;
};
const options: Options = { trust, storage, consent, atOnce: true };
try {
  const entry: Entry = await answer("https://mix.invalid/contracts/0", "tea", options);
  const { state, status } = await deliverUntilAnswered(entry, options);
  console.log(state, status?.toFixed());
  if (asked) console.log((await checkArrivals(entry, { contract: asked, storage })).lost.length);
} catch (error) {
  if (error instanceof Refusal) console.log(error.reason);
}
"""
WRONG = PROGRAM.replace("epsilon: 0.5", "epsilons: 0.5")


def run(folder, *command):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with the package, what it depends on, and TypeScript."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(WEB, folder / "web", ignore=shutil.ignore_patterns("node_modules", "types"))
    (folder / "web/node_modules").symlink_to((WEB / "node_modules").resolve())
    shutil.copy(WEB.parent / "LICENSE", folder)
    packed = run(folder, "npm", "pack", "./web", "--silent")
    assert packed.returncode == 0, packed.stderr
    project = folder / "project"
    (project / "node_modules").mkdir(parents=True)
    with tarfile.open(folder / packed.stdout.split()[-1]) as tar:
        tar.extractall(project / "node_modules", filter="data")
    (project / "node_modules/package").rename(project / "node_modules/mixtally")
    (project / "node_modules/@hpke").mkdir()
    for name in ("core", "common"):
        (project / "node_modules/@hpke" / name).symlink_to(
            (WEB / "node_modules/@hpke" / name).resolve()
        )
    (project / "package.json").write_text(json.dumps({"type": "module"}))
    return project


def compile_strictly(project, program, *more):
    (project / "main.ts").write_text(program)
    compiler = WEB / "node_modules/typescript/bin/tsc"
    strict = ("--strict", "--exactOptionalPropertyTypes", "--target", "es2022")
    return run(project, "node", str(compiler), "main.ts", *strict, "--lib", "es2022,dom", *more)


@pytest.mark.parametrize(
    "modules", [("nodenext", "nodenext"), ("esnext", "bundler")], ids=lambda one: one[1]
)
def test_a_strict_program_compiles_and_runs(project, modules):
    kind, resolution = modules
    more = ("--module", kind, "--moduleResolution", resolution)
    compiled = compile_strictly(project, PROGRAM, *more)
    assert (compiled.returncode, compiled.stdout) == (0, "")
    assert run(project, "node", "main.js").stdout == "no-answer-from-role\n"
    assert "'epsilons' does not exist" in compile_strictly(project, WRONG, *more).stdout


def test_the_package_has_its_licence_and_a_module_for_suite_2_is_named(project):
    package = project / "node_modules/mixtally"
    assert (package / "LICENSE").read_text() == (WEB.parent / "LICENSE").read_text()
    program = (
        "import('mixtally').then((m) => m.SUITES[2].load()).catch((e) => console.log(e.message))"
    )
    said = run(project, "node", "--eval", program).stdout
    assert said == "unsupported: suite 2 needs the package @hpke/hybridkem-x-wing\n"
