"""Spark sessions, which are refused unless Spark encrypts its files and its network traffic.

The rows of a shuffle contain messages together with the order in which envelopes arrived. Anyone
who reads them on a disk or a network can undo the mixing. So Spark must encrypt both and
authenticate all machines.
"""

import os
import socket
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mixtally import version
from mixtally.errors import ParameterError
from mixtally.primitives.chance import SecureChance
from mixtally.server.engine.engine import Cluster
from mixtally.server.node.wrapping import secret_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NEEDED = ("spark.authenticate", "spark.network.crypto.enabled", "spark.io.encryption.enabled")
_CONNECT_SECONDS = 5.0
"""Seconds within which a master must accept a connection."""
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # Adaptive execution would merge partitions, on whose number the job relies.
    "spark.sql.adaptive.enabled": "false",
}


@contextmanager
def open_session(cluster: Cluster) -> Iterator["SparkSession"]:
    """Start Spark for a block, with this package on every machine, and stop it afterwards.

    Raises
    ------
    ParameterError
        If Java or PySpark is missing, the master cannot be reached, or Spark does not encrypt.
    """
    begun = _start_session(cluster)
    try:
        _check(begun, cluster)
        with tempfile.TemporaryDirectory() as folder:
            begun.sparkContext.addPyFile(str(_zip_package(Path(folder))))
            with warnings.catch_warnings():
                # PySpark warns about pandas, which is not used.
                warnings.simplefilter("ignore", FutureWarning)
                yield begun
    finally:
        begun.stop()


def _start_session(cluster: Cluster) -> "SparkSession":
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        raise _missing(
            "--engine", "PySpark", "not installed", "pip install 'mixtally[engine]'"
        ) from error
    _check_reachable(cluster.master)
    if cluster.master.startswith("local"):
        # Spark reads these two settings only from the environment.
        os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master(cluster.master).appName("mixtally")
    for name, value in (_QUIET | _local_settings(cluster.master)).items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return builder.getOrCreate()
        except (PySparkException, OSError) as error:
            raise _missing(
                "--master",
                "a Spark that starts, with Java 17 or newer",
                str(error).splitlines()[0],
                "install Java 17, set JAVA_HOME, and check the address of the master",
            ) from error
        # Deliberately every exception: errors raised by Java have no common type in Python.
        except Exception as error:
            raise _missing(
                "--master",
                "a Spark that can be reached",
                _first_line(error),
                "check its address and Spark's own log",
            ) from error


def _check_reachable(master: str) -> None:
    """Raise ParameterError if no process listens at the address of a standalone master.

    Spark itself would try for a minute. Other masters (yarn, k8s://) are not checked, because their
    addresses are in settings that only Spark reads.
    """
    kind, _, places = master.partition("://")
    if kind != "spark":
        return
    said = "none"
    for place in places.split(","):
        host, _, port = place.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        except (OSError, ValueError, OverflowError) as error:
            said = str(error)
        else:
            return
    raise _missing(
        "--master", "a Spark that can be reached", said, "check its address, spark://HOST:7077"
    )


def _local_settings(master: str) -> dict[str, str]:
    """Return the settings for Spark on this machine, or {} for a cluster, which has its own."""
    if not master.startswith("local"):
        return {}
    secret = secret_bytes(SecureChance(), 32).hex()
    return {
        **dict.fromkeys(_NEEDED, "true"),
        "spark.authenticate.secret": secret,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }


def _check(begun: "SparkSession", cluster: Cluster) -> None:
    configuration = begun.sparkContext.getConf()
    lacking = [name for name in _NEEDED if configuration.get(name, "false") != "true"]
    if lacking:
        raise ParameterError(
            "--master",
            expected="a cluster that encrypts what it writes and sends: "
            + ", ".join(f"{name}=true" for name in _NEEDED),
            got=f"{cluster.master} without " + ", ".join(lacking),
            do="set them in spark-defaults.conf: unencrypted rows would undo the mixing",
        )


def _zip_package(folder: Path) -> Path:
    """Write this package to a zip file, which executors import."""
    root = Path(version.__file__).parent
    path = folder / "mixtally.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for source in sorted(root.rglob("*.py")):
            file.write(source, source.relative_to(root.parent))
    return path


def _missing(subject: str, expected: str, got: str, do: str) -> ParameterError:
    return ParameterError(subject, expected=expected, got=got, do=do)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
