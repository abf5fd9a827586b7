"""The walkthrough of docs/how-to/network.md is played, on free ports and with a longer window.

A device's three commands, which docs/how-to/device.md has, are played in the same round.
"""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from scripts.network_roles import free_ports

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to/network.md").read_text()
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
ERRORS = re.findall(r"```console\n\$ (.*?)\n(.*?)\n```", PAGE, re.DOTALL)
"""A command that fails, and what it prints, which may be cut by two dots."""
WINDOW, OPEN = 60, 100
"""Seconds that a round is open: on the page, and here, where a slow machine needs more of them."""
DEVICE, WATCHED = re.findall(
    r"```text\n(mixtally client .*?)```", (DOCS / "how-to/device.md").read_text(), re.DOTALL
)
"""What a person types who answers, and who watches whether the answer arrives."""
OPERATED = re.findall(
    r"```text\n(mixtally mix (?:status|backup|intake) .*?)```",
    (DOCS / "how-to/operate.md").read_text(),
    re.DOTALL,
)
AT_A_TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"


def device():
    """What device.md tells a person to type; the answer and the consent are typed, too."""
    show, send, log = DEVICE.splitlines()
    watched, _ = WATCHED.splitlines()
    yield from (
        "curl -sSf $opinion > contract.note",
        "curl -sSf $opinion/rounds/1 > sheet.note",
        """echo "fingerprint = '${opinion##*/}'" > trust.toml""",
        show,
        f"printf 'no\\nyes\\n' | {sys.executable} -c '{AT_A_TERMINAL}' {send} --now",
        log,
        f"printf 'no\\nyes\\n' | {sys.executable} -c '{AT_A_TERMINAL}' {watched} --now "
        "--diary watcher.db",
    )


def script():
    """All blocks of the page, the device's commands after the three people's, and the end."""
    for block in BLOCKS:
        yield block
        if "client send" in block:
            yield from device()
    yield f"{WATCHED.splitlines()[1]} --diary watcher.db"
    # Its processes of intake begin last.
    yield from OPERATED
    yield 'until [ "$(grep -c "^accepting bundles at " said)" = 2 ]; do sleep 0.1; done'
    yield "kill -TERM $(jobs -p)"
    yield "wait $(jobs -p)"


def elsewhere(text):
    """Two walks at once do not meet, and a slow machine answers in time, too."""
    ports = sorted(set(re.findall(r"\b70\d\d\b", text)))
    for port, free in zip(ports, free_ports(len(ports)), strict=True):
        text = re.sub(rf"\b{port}\b", str(free), text)
    return text.replace(f"_seconds = {WINDOW}", f"_seconds = {OPEN}")


def play(text, place, seconds):
    """What the script printed, which ends well; no process is left, whatever happens."""
    own = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with (place / "said").open("wb") as said:
        shell = subprocess.Popen(
            ["bash", "-e", "-o", "pipefail", "-c", text], cwd=place, stdin=subprocess.DEVNULL,
            stdout=said, stderr=said, env={**os.environ, "PATH": own, "HOME": str(place)},
            start_new_session=True,
        )  # fmt: skip
        try:
            status = shell.wait(seconds)
        finally:
            with suppress(ProcessLookupError):  # all of them have ended
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
    assert status == 0, (place / "said").read_text()
    return (place / "said").read_text()


def failure(command, place):
    """The status of a command of the page in the folder of the walk, and what it says of it."""
    own = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", command], cwd=place, env={**os.environ, "PATH": own, "HOME": str(place)},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def test_a_script_that_fails_or_takes_too_long_is_noticed(tmp_path):
    """Twins: a command that fails, a server that has ended, one that is waited for too long."""
    for text in ("false\necho on", "false &\nwait $!", "echo begun; false | cat"):
        with pytest.raises(AssertionError):
            play(text, tmp_path, 100)
    with pytest.raises(subprocess.TimeoutExpired):
        play("sleep 60 &\nwait", tmp_path, 0.2)
    assert play("sleep 60 &\nkill -TERM $(jobs -p)", tmp_path, 100) == ""


@pytest.mark.slow
def test_the_walkthrough_ends_in_a_result(tmp_path):
    said = play(elsewhere("\n".join(script())), tmp_path, 1800)
    assert said.count("opinion round 1: taken (201)") == 6  # five people, and the diary of one
    assert len(re.findall(r"^serving at ", said, re.M)) == 4
    assert len(re.findall(r"^accepting bundles at ", said, re.M)) == 2
    assert "opinion round 1: mix1.example yes, mix2.example yes, mix3.example yes" in said
    assert (tmp_path / "round-1" / "report.html").is_file()
    assert "Traceback" not in said
    assert len(ERRORS) == 3
    for command, printed in ERRORS:
        status, told = failure(command, tmp_path)
        assert (status, told[: len(printed.removesuffix(" .."))]) == (
            2, printed.removesuffix(" .."),
        ), command  # fmt: skip
