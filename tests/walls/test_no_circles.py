"""No file imports itself by way of others, be it late, within a function, or for types alone."""

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


def in_order(imports):
    """Files, each behind all that it imports; raises CycleError where there is no such order."""
    return list(TopologicalSorter(imports).static_order())


def test_there_is_no_circle():
    graph = grimp.build_graph("mixtally", cache_dir=None)
    imports = {one: graph.find_modules_directly_imported_by(one) for one in graph.modules}
    assert len(in_order(imports)) == len(graph.modules) > 500


def test_a_circle_is_found():
    with pytest.raises(CycleError, match="a"):
        in_order({"a": {"b"}, "b": {"c"}, "c": {"a"}})
