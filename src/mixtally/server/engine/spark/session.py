"""Spark begun for one round, and refused where what it writes or sends would lie open.

Rows of a shuffle are messages beside the order in which envelopes came: whoever reads them on a
disk or a wire undoes the mix. So Spark must encrypt both, and know who takes part.
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
"""Seconds in which a master must take a connection."""
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.adaptive.enabled": "false",  # partitions stay as they are cut
}


@contextmanager
def open_session(cluster: Cluster) -> Iterator["SparkSession"]:
    """Spark at the master, with this package on every machine; it ends with the context.

    Raises ParameterError where Java or PySpark is missing, and where Spark does not encrypt.
    """
    begun = _start_session(cluster)
    try:
        _check(begun, cluster)
        with tempfile.TemporaryDirectory() as folder:
            begun.sparkContext.addPyFile(str(_zip_package(Path(folder))))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # of pandas, which is not used
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
        # What Spark reads nowhere else.
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
                "install Java 17, set JAVA_HOME, and look at the address of the master",
            ) from error
        except Exception as error:  # what Java raised has a type of its own here
            raise _missing(
                "--master",
                "a Spark that can be reached",
                _first_line(error),
                "look at its address and at Spark's own log",
            ) from error


def _check_reachable(master: str) -> None:
    """Raises ParameterError where nobody listens at a master of Spark's own: it would try a minute.

    Other masters (yarn, k8s://) are found by settings that Spark alone reads.
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
        "--master", "a Spark that can be reached", said, "look at its address, spark://HOST:7077"
    )


def _local_settings(master: str) -> dict[str, str]:
    """What is set where Spark runs on this machine alone; elsewhere its operator sets it."""
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
    held = begun.sparkContext.getConf()
    lacking = [name for name in _NEEDED if held.get(name, "false") != "true"]
    if lacking:
        raise ParameterError(
            "--master",
            expected="a cluster that encrypts what it writes and sends: "
            + ", ".join(f"{name}=true" for name in _NEEDED),
            got=f"{cluster.master} without " + ", ".join(lacking),
            do="set them in spark-defaults.conf: rows on its disks and wires would undo the mix",
        )


def _zip_package(folder: Path) -> Path:
    """This package as executors import it."""
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
