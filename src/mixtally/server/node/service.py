"""A role on its socket: its loop and its server, until a signal or a failure ends both."""

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
    """How a role is served.

    where
      overruled   names of roles that are not waited for at the start
      clocks      of the machine
      ready       told the address once the socket listens
      call        how other roles are asked
      step        told the name of every durable step
      log         tells the operator what happens
    """

    overruled: frozenset[str] = frozenset()
    clocks: Clocks | None = None
    ready: Callable[[str], None] = print
    call: Call = call
    step: Step = no_step
    log: Log = Log()


def serve_role(
    folder: Folder, service: Service, role: Callable[[Node, Peers, Stop, Clock], ServedRole]
) -> None:
    """Serve until a signal ends it; raises what must end the process.

    Raises DataError where the libraries of the extra ``[serve]`` are missing, or somebody serves
    the folder already; OldStateError where another role remembers more than this one.
    """
    with exclusive_service(folder.path):
        clock = Clock(folder.path / "clock", service.log, service.clocks)

        def begin(stop: Stop, wake: Wake) -> ServedRole:
            node = Node(folder, SecureChance(), service.step, service.log)
            node.wake = wake
            return role(node, Peers(node, service.call, service.overruled), stop, clock)

        host, port = folder.role.host, folder.role.port
        at = ListenOptions(host, port, clock.certain_time, service.ready, folder.path, service.log)
        run(at, begin)
