"""The data that ships with the package is the data its provenance names."""

import gzip
import hashlib
import re
from importlib.resources import files

from mixtally.lab.data.flights import flights

DATA = files("mixtally.lab.data") / "files"


def test_every_flight_is_a_person_with_one_of_105_airports():
    people = flights()
    assert len(people.codes) == 336_776
    assert people.question.name == "dest"
    assert people.question.bins == len(people.question.labels) == 105
    assert people.truth.sum() == 336_776
    assert people.truth.min() >= 1


def test_the_busiest_airports_are_known_ones():
    people = flights()
    counts = dict(zip(people.question.labels, people.truth.tolist(), strict=True))
    assert (counts["ORD"], counts["ATL"], counts["LAX"]) == (17_283, 17_215, 16_174)


def test_unpacked_bytes_have_the_stated_sum():
    unpacked = gzip.decompress((DATA / "flights_2013_dest.csv.gz").read_bytes())
    stated = re.search(r"`([0-9a-f]{64})`", (DATA / "PROVENANCE.md").read_text())
    assert hashlib.sha256(unpacked).hexdigest() == stated[1]
    assert unpacked.count(b"\n") == 336_777
