"""HTTP service of a collector: its rounds, its page and its routes."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from mixtally.server.collector.collector import Collector
from mixtally.server.collector.page import Page
from mixtally.server.engine.engine import Engine
from mixtally.server.node.clock import Clock
from mixtally.server.node.folder import Folder
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.running import ServedRole, Stop
from mixtally.server.node.service import Service, serve_role

if TYPE_CHECKING:
    from mixtally.server.node.web.responses import App


def serve(folder: Folder, service: Service, engine: Engine) -> None:
    """Serve a collector until a signal arrives; ``engine`` opens envelopes.

    Raises the errors of ``serve_role``.
    """

    def collector(node: Node, peers: Peers, stop: Stop, clock: Clock) -> ServedRole:
        made = Collector(node, peers, engine)
        return ServedRole(made.tick, made.end, application_of(made, clock.now, stop))

    serve_role(folder, service, collector)


def application_of(collector: Collector, clock: Callable[[], int], stop: Stop) -> "App":
    """Return the ASGI application of a collector."""
    from mixtally.server.collector.web import CollectorRoutes
    from mixtally.server.node.web.routes import SharedRoutes, application

    page = Page(collector)
    page.write()
    routes = [
        *CollectorRoutes(collector, page, clock).routes(),
        *SharedRoutes(collector.node, clock).routes(),
    ]
    return application(routes, stop, log=collector.node.log)
