"""Whether a process lives, and what it waits for, by name; nothing of whoever asks."""

import json

import pytest

from helpers.roles_in_folders import ask
from mixtally.server.mix.web import BundleRoute, bundle_application
from mixtally.server.node.events import Condition, Log
from mixtally.server.node.web.bodies import BodyBudget
from mixtally.server.node.web.routes import application


def of_a_role(log):
    return application([], print, log=log)


def of_an_intake(log):
    return bundle_application(BundleRoute(None, None, None, BodyBudget(1)), print, log)


@pytest.mark.parametrize("made", [of_a_role, of_an_intake])
def test_what_it_waits_for_is_named(made):
    log = Log(clock=lambda: 0)
    app = made(log)
    assert ask(app, "GET", "/healthz").body == b"ok\n"
    silence = {"ready": True, "waits": [], "warnings": []}
    assert json.loads(ask(app, "GET", "/readyz").body) == silence
    log.set_condition(Condition.WAITING, True, contract="opinion", role="mix-2", what="its notes")
    answer = ask(app, "GET", "/readyz", headers=[("X-Planted", "planted-7f3a")])
    assert answer.status == 503
    assert json.loads(answer.body)["waits"] == [
        {
            "event": "waiting",
            "contract": "opinion",
            "role": "mix-2",
            "what": "its notes",
            "since": "1970-01-01T00:00:00Z",
        }
    ]
    assert ask(app, "GET", "/healthz").status == 200
    assert ask(app, "POST", "/readyz").status in (404, 405)
    log.set_condition(Condition.WAITING, False, contract="opinion", role="mix-2")
    log.set_condition(Condition.SILENT, True, role="mix-2", address="http://127.0.0.1:7002")
    answer = ask(app, "GET", "/readyz")
    assert answer.status == 200  # a dead peer makes no other role dead
    (warning,) = json.loads(answer.body)["warnings"]
    assert (warning["event"], warning["role"]) == ("peer unreachable", "mix-2")
