"""A role served on its socket, until a signal or an error ends it.

The commands ``mixtally mix serve`` and ``mixtally collector serve`` call ``serve_role`` through
``mix.serve`` and ``collector.serve``.
"""

from collections.abc import Callable
from typing import NamedTuple

from mixtally.primitives.chance import SecureChance
from mixtally.server.node.calls import Call, call
from mixtally.server.node.clock import Clock, Clocks
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.events import Log
from mixtally.server.node.folder import Folder
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.running import (
    ListenOptions,
    ServedRole,
    Stop,
    Wake,
    exclusive_service,
    run,
)


class Service(NamedTuple):
    """Options for serving a role."""

    overruled: frozenset[str] = frozenset()
    """Names of peers that are not waited for at the start."""
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
            peers = Peers(node, service.call, service.overruled, background=True)
            return role(node, peers, stop, clock)

        host, port = folder.role.host, folder.role.port
        options = ListenOptions(
            host, port, clock.certain_time, service.ready, folder.path, service.log
        )
        run(options, begin)
