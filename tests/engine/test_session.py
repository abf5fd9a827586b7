"""Spark is refused where it is not there, where it lies open, and where machines differ."""

import os
import shutil
import socket
import subprocess
import sys

import pytest

from engine.sealed import at_a_mix, cluster_of, mixed
from mixtally.errors import DataError, MessageError, ParameterError
from mixtally.server.engine.engine import Cluster, Engine
from mixtally.server.engine.spark import session as sessions
from mixtally.server.engine.spark import work
from mixtally.server.engine.spark.session import open_session
from mixtally.server.engine.spark.tasks import check_versions, runtime_versions
from mixtally.server.engine.spark.work import errors_of_spark

JAVA = pytest.mark.skipif(shutil.which("java") is None, reason="no Java: Spark cannot be begun")
QUIET = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

BEGIN = """
from mixtally.server.engine.engine import Cluster
from mixtally.server.engine.spark.session import open_session
open_session(Cluster("local[1]", "", "")).__enter__()
"""


class Conf:
    def __init__(self, **held):
        self.held = held

    def get(self, name, default):
        return self.held.get(name.replace(".", "_"), default)


class Begun:
    """What is asked of Spark before it is used."""

    def __init__(self, **held):
        self.sparkContext = self
        self.getConf = lambda: Conf(**held)


SAFE = dict.fromkeys(
    ("spark_authenticate", "spark_network_crypto_enabled", "spark_io_encryption_enabled"), "true"
)


def test_a_cluster_that_encrypts():
    sessions._check(Begun(**SAFE), Cluster("spark://host:7077", "", ""))


@pytest.mark.parametrize("lacking", SAFE)
def test_a_cluster_that_leaves_something_open(lacking):
    held = {name: value for name, value in SAFE.items() if name != lacking}
    with pytest.raises(ParameterError, match=lacking.replace("_", ".")):
        sessions._check(Begun(**held), Cluster("spark://host:7077", "", ""))
    with pytest.raises(ParameterError, match=lacking.replace("_", ".")):
        sessions._check(Begun(**held, **{lacking: "false"}), Cluster("yarn", "", ""))


@pytest.mark.seconds
def test_no_java(tmp_path):
    """In a process of its own: one that Spark ran in before has its Java already."""
    begun = subprocess.run(
        [sys.executable, "-c", BEGIN],
        env=os.environ | {"JAVA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert "ParameterError" in begun.stderr.splitlines()[-1]
    assert "Java 17 or newer" in begun.stderr.splitlines()[-1]


def test_no_pyspark(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyspark.errors", None)
    with pytest.raises(ParameterError, match=r"pip install 'mixtally\[engine\]'"):
        open_session(Cluster("local[1]", "", "")).__enter__()


def test_another_python_or_package():
    check_versions(runtime_versions())
    with pytest.raises(DataError, match=r"expected Python 3\.99, mixtally 9, got Python 3"):
        check_versions("Python 3.99, mixtally 9")


@JAVA
@pytest.mark.seconds
@QUIET
def test_another_package_on_executors_is_said_in_a_line(monkeypatch, tmp_path):
    """The driver claims another version than the one that it sends."""
    monkeypatch.setattr(work, "runtime_versions", lambda: "Python 3.99, mixtally 9")
    with pytest.raises(DataError, match=r"executor: expected Python 3\.99") as raised:
        mixed(at_a_mix(3), Engine(0, cluster_of(tmp_path)), tmp_path)
    assert "\n" not in str(raised.value)
    assert "Traceback" not in str(raised.value)


@JAVA
@pytest.mark.seconds
@QUIET
def test_nothing_came(tmp_path):
    nothing = at_a_mix(0, copies=0, junk=0, fakes=0)
    assert mixed(nothing, Engine(0, cluster_of(tmp_path)), tmp_path) == ((0, 0, 0, 0), b"")
    few = at_a_mix(0, copies=0, junk=0, fakes=3)
    counts, made = mixed(few, Engine(0, cluster_of(tmp_path)), tmp_path)
    assert (counts, made) == mixed(few, Engine(), tmp_path)
    assert len(made) == 3 * few.expected


@JAVA
@pytest.mark.seconds
@QUIET
def test_a_driver_that_was_killed_begins_again(monkeypatch, tmp_path):
    """What it left in the store is removed, and the same bytes leave."""
    sealed = at_a_mix(50)
    cluster = cluster_of(tmp_path)
    run = work.run_job

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("mixtally.server.engine.spark.mixing.run_job", killed)
    with pytest.raises(KeyboardInterrupt):
        mixed(sealed, Engine(0, cluster), tmp_path)
    assert list((tmp_path / "store").rglob("in-*"))
    monkeypatch.setattr("mixtally.server.engine.spark.mixing.run_job", run)
    assert mixed(sealed, Engine(0, cluster), tmp_path) == mixed(sealed, Engine(), tmp_path)
    assert list((tmp_path / "store").iterdir()) == []


def test_no_key_of_the_engine(tmp_path):
    cluster = cluster_of(tmp_path)._replace(key=str(tmp_path / "none"))
    from mixtally.server.engine.spark.mixing import SparkMixer

    with pytest.raises(DataError, match="none"):
        SparkMixer(None, cluster, at_a_mix(1).secrets, None, "round")


def test_fakes_and_secrets_lie_wrapped_in_the_store(tmp_path):
    """Whoever reads the store sees what others sealed, and nothing of the round."""
    from mixtally.primitives.chance import SecureChance
    from mixtally.server.engine.spark.work import ClusterPart, Export
    from mixtally.server.node.wrapping import read_master

    sealed = at_a_mix(20, fakes=30)
    cluster = cluster_of(tmp_path)
    part = ClusterPart(
        cluster,
        sealed.secrets,
        read_master(cluster.key, {}),
        SecureChance(),
        "round",
        0,
        sealed.size,
        sealed.expected,
    )
    export = Export(part)
    assert export.write_envelopes(iter(sealed.envelopes)) == len(sealed.envelopes)
    export.write_fakes(sealed.fakes)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "store" / "round").iterdir())
    assert all(one in stored for one in sealed.envelopes)
    size = sealed.expected
    assert not any(sealed.fakes[i : i + size] in stored for i in range(0, len(sealed.fakes), size))
    job = repr(part.job(4)).encode()
    for secret in (sealed.secrets.private, sealed.secrets.sort_key):
        assert secret not in stored + job
        assert secret.hex().encode() not in stored + job
        assert repr(secret)[2:-1].encode() not in job


class TestErrorsOfSpark:
    def test_our_own_errors_pass(self):
        with pytest.raises(MessageError), errors_of_spark():
            raise MessageError("a", expected="b", got="c", do="d")

    def test_what_a_task_said_is_what_is_told(self):
        text = (
            "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
            '  File "x.py", line 1\nmixtally.errors.DataError: store: expected a, got b. Do c\n'
            "pyspark.errors.Wrapped: more\n"
        )
        with (
            pytest.raises(DataError, match=r"got store: expected a, got b. Do c"),
            errors_of_spark(),
        ):
            raise RuntimeError(text)

    def test_without_it_the_last_error_is(self):
        with pytest.raises(DataError, match="ValueError: no room"), errors_of_spark():
            raise RuntimeError("one\nTraceback:\nValueError: no room\n  at java.lang\n")
        with pytest.raises(DataError, match="got lost connection"), errors_of_spark():
            raise RuntimeError("lost connection")
        with pytest.raises(DataError, match="got RuntimeError"), errors_of_spark():
            raise RuntimeError


@pytest.mark.parametrize(
    "place", ["127.0.0.1:{}", "127.0.0.1:x", "127.0.0.1", "", "127.0.0.1:99999"]
)
def test_a_master_that_nobody_hears_is_refused_before_spark_begins(place):
    with socket.socket() as free:  # bound and not listening: nobody else can answer there
        free.bind(("127.0.0.1", 0))
        master = f"spark://{place.format(free.getsockname()[1])}"
        with pytest.raises(ParameterError, match="a Spark that can be reached"):
            sessions._check_reachable(master)


def test_the_twin_that_listens_is_reached():
    with socket.create_server(("127.0.0.1", 0)) as there:
        sessions._check_reachable(f"spark://127.0.0.1:1,127.0.0.1:{there.getsockname()[1]}")
    sessions._check_reachable("yarn")
    sessions._check_reachable("local[2]")
