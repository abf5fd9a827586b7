"""HTTP service of a collector: its rounds, its page and its routes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from mixtally.errors import not_together
from mixtally.server.collector.collector import Collector
from mixtally.server.collector.notify import Notifier
from mixtally.server.collector.page import Page
from mixtally.server.collector.schedule import Schedule
from mixtally.server.engine.engine import Engine
from mixtally.server.node.clock import Clock
from mixtally.server.node.folder import Folder
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.running import ServedRole, Stop
from mixtally.server.node.service import Service, serve_role

if TYPE_CHECKING:
    from mixtally.server.node.web.responses import App


class Automation(NamedTuple):
    """The tasks that a collector performs without its operator."""

    schedule: bool = False
    """Whether it proposes the rounds of its contracts."""
    notify: str | None = None
    """Command that is run when a round has ended."""
    keep_messages: bool = False
    """Whether it keeps the opened messages and the pieces of each batch."""


def serve(
    folder: Folder, service: Service, engine: Engine, automation: Automation | None = None
) -> None:
    """Serve a collector until a signal arrives; ``engine`` opens envelopes.

    Raises the errors of ``serve_role``. Raises ParameterError if the command cannot be run, or if
    messages are to be kept and the engine is a cluster.
    """
    settings = automation or Automation()
    if settings.keep_messages and engine.cluster is not None:
        do = "leave one out: workers of a cluster keep no messages"
        raise not_together("serve", "--keep-messages", ["--engine spark"], do)
    notifier = None if settings.notify is None else Notifier(settings.notify, service.log)

    def collector(node: Node, peers: Peers, stop: Stop, clock: Clock) -> ServedRole:
        made = Collector(node, peers, engine, keep_messages=settings.keep_messages)
        schedule = Schedule(node, peers, made.contracts, service.call)
        if notifier is not None:
            made.on_end = notifier.notify

        def tick(now: int) -> None:
            made.tick(now)
            if settings.schedule:
                schedule.tick(now)

        return ServedRole(tick, made.end, application_of(made, clock.now, stop))

    try:
        serve_role(folder, service, collector)
    finally:
        if notifier is not None:
            notifier.end()


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
    return application(routes, stop, log=collector.node.log, clock=clock)
