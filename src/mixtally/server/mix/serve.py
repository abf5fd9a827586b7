"""HTTP service of a mix: its rounds, its intake and its routes."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from mixtally.server.engine.engine import Engine
from mixtally.server.mix.intake import Intake
from mixtally.server.mix.intake_watch import IntakeWatch
from mixtally.server.mix.mix import Mix, Options
from mixtally.server.node.clock import Clock
from mixtally.server.node.folder import Folder
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.running import ServedRole, Stop
from mixtally.server.node.service import Service, serve_role

if TYPE_CHECKING:
    from mixtally.server.node.web.responses import App


def serve(folder: Folder, service: Service, engine: Engine) -> None:
    """Serve a mix until a signal arrives; ``engine`` opens envelopes.

    Raises the errors of ``serve_role``.
    """

    def mix(node: Node, peers: Peers, stop: Stop, clock: Clock) -> ServedRole:
        intake = Intake(folder.subfolder("rounds"), stop, service.step, log=service.log)
        made = Mix(node, peers, intake, Options(engine, background=True))
        watch = IntakeWatch(folder.path, service.log)

        def tick(now: int) -> None:
            watch.check()
            made.tick(now)

        return ServedRole(tick, made.end, mix_application(made, clock.now, stop))

    serve_role(folder, service, mix)


def mix_application(mix: Mix, clock: Callable[[], int], stop: Stop) -> "App":
    """Return the ASGI application of a mix."""
    from mixtally.server.mix.web import MOST_BODIES_BYTES, BundleRoute
    from mixtally.server.node.web.bodies import BodyBudget
    from mixtally.server.node.web.routes import SharedRoutes, application

    bundles = BundleRoute(mix.intake, mix.find, clock, BodyBudget(MOST_BODIES_BYTES))
    return application(
        SharedRoutes(mix.node, clock).routes(), stop, bundles.match_route, mix.node.log, clock
    )
