"""In which words the end of a case is told, and all cases by their groups."""

import json
from types import SimpleNamespace

from mixtally.errors import InputError, RefusedError
from mixtally.server.node.calls import SilentError
from mixtally.server.node.refusal import OldStateError, ProblemError
from network import answers, clocks, forms, keys, layers, load, order, replay, roles, sockets

GROUPS = {
    "bytes and formats": [forms],
    "keys and sheets": [keys],
    "replay and copies": [replay],
    "order of events": [order],
    "clocks": [clocks],
    "load": [load, sockets],
    "hostile roles": [roles, layers, answers],
}
"""Group -> modules with ``SHARED`` and ``ALONE``: name -> what is done, what is to come of it.

What is done gets a stage, and gives an answer, or what came of it in words, or raises. Cases of
``SHARED`` are done on one stage, and none may leave a trace in what any role remembers; those of
``ALONE`` have a stage each, made as their third part says.
"""


def cases(kind):
    """All of a kind: "GROUP: NAME" -> row."""
    found = {}
    for group, modules in GROUPS.items():
        for module in modules:
            for name, row in getattr(module, kind, {}).items():
                assert f"{group}: {name}" not in found
                found[f"{group}: {name}"] = row
    return found


def came_of(act, stage):
    """The end of a case: "STATUS PROBLEM", "refused REASON", "stops", "silence", or own words."""
    try:
        said = act(stage)
    except RefusedError as error:
        return f"refused {error.reason}"
    except OldStateError:
        return "stops"
    except ProblemError as error:
        return f"{error.problem.value.status} {error.problem.path.rpartition('/')[2]}"
    except InputError as error:
        return f"refused: expected {error.expected}"
    except SilentError:
        return "silence"
    return answered(said) if isinstance(said, SimpleNamespace) else said


def answered(said):
    """An answer: its status, and the last word of its problem."""
    held = json.loads(said.body) if said.headers.get("content-type", "").endswith("json") else {}
    if said.status == 503:
        assert int(said.headers["retry-after"]) > 0  # whoever is to come again is told when
    if said.status >= 400:
        assert held["status"] == said.status
        return f"{said.status} {held['type'].rpartition('/')[2]}"
    return str(said.status)
