"""A role served on its socket, until a signal or an error ends it.

The commands ``mixtally mix serve`` and ``mixtally collector serve`` call ``serve_role`` through
``mix.serve`` and ``collector.serve``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from mixtally.primitives.chance import SecureChance
from mixtally.server.node.calls import Call, call
from mixtally.server.node.clock import Clock, Clocks
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.events import Log
from mixtally.server.node.folder import Folder
from mixtally.server.node.health import Monitor
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.running import (
    ListenOptions,
    ServedRole,
    Stop,
    Vitals,
    Wake,
    exclusive_service,
    run,
)
from mixtally.server.node.skews import with_skews

if TYPE_CHECKING:
    from mixtally.server.node.web.responses import App


class Service(NamedTuple):
    """Options for serving a role."""

    overruled: frozenset[str] = frozenset()
    """Names of silent peers for which the role does not wait at its start."""
    clocks: Clocks | None = None
    """Time sources; None for those of the machine."""
    ready: Callable[[str], None] = print
    """Called with the address once the socket listens."""
    call: Call = call
    """Sends requests to peers."""
    step: Step = no_step
    """Called with the name of each durable step."""
    log: Log = Log()
    """Receives events for the operator."""
    metrics_port: int | None = None
    """Port on this machine for metrics; None for no metrics."""


def serve_role(
    folder: Folder, service: Service, role: Callable[[Node, Peers, Stop, Clock], ServedRole]
) -> None:
    """Serve a role until a signal arrives; raises the error that ended the process.

    Raises DataError if the libraries of the extra ``[serve]`` are missing, or the folder is already
    served. Raises OldStateError if a peer has a note that this role has lost.
    """
    with exclusive_service(folder.path):
        clock = Clock(folder.path / "clock", service.log, service.clocks)

        def begin(stop: Stop, wake: Wake) -> ServedRole:
            node = Node(folder, SecureChance(), service.step, service.log)
            node.wake = wake
            skews: dict[str, float] = {}
            measured = with_skews(service.call, node.list_peers_at, clock.now, skews, node.log)
            peers = Peers(node, measured, service.overruled, background=True)
            peers.skews = skews
            served, monitor = role(node, peers, stop, clock), Monitor(node, peers)

            def tick(now: int) -> None:
                try:
                    served.tick(now)
                finally:
                    # This runs even if the disk is full, because the operator must see that.
                    monitor.tick(now)

            def metrics(vitals: Callable[[], Vitals], stop: Stop) -> "App":
                from mixtally.server.node.web.metrics import metrics_application  # needs the extra

                return metrics_application(
                    lambda: monitor.measure(clock.now(), vitals()), stop, service.log
                )

            return served._replace(tick=tick, metrics=metrics)

        host, port = folder.role.host, folder.role.port
        options = ListenOptions(
            host,
            port,
            clock.certain_time,
            service.ready,
            folder.path,
            service.log,
            service.metrics_port,
        )
        run(options, begin)
