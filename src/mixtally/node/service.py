"""A role on its socket: its loop and its server, until a signal or a failure ends both."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from mixtally.ground.chance import SecureChance
from mixtally.node.calls import Call, call
from mixtally.node.disk import Step, no_step
from mixtally.node.folder import Folder, serving
from mixtally.node.loop import Loop, wall_clock
from mixtally.node.node import Node
from mixtally.node.peers import Peers
from mixtally.node.web.needs import need_servers

if TYPE_CHECKING:
    from mixtally.node.web.answers import App

Stop = Callable[[BaseException], None]
"""Told what must end the process."""


class Service(NamedTuple):
    """How a role is served.

    where
      overruled   names of roles that are not waited for at the start
      clock       gives seconds since 1970
      ready       told the address once the socket listens
      call        how other roles are asked
      step        told the name of every durable step
    """

    overruled: frozenset[str] = frozenset()
    clock: Callable[[], int] = wall_clock
    ready: Callable[[str], None] = print
    call: Call = call
    step: Step = no_step


class Served(NamedTuple):
    """What is served.

    where
      tick   does all that is due at a time
      end    gives all files back
    """

    tick: Callable[[int], None]
    end: Callable[[], None]
    application: "App"


def serve_role(
    folder: Folder, service: Service, role: Callable[[Node, Peers, Stop], Served]
) -> None:
    """Serve until a signal ends it; raises what must end the process.

    Raises DataError where the libraries of the extra ``[serve]`` are missing, or somebody serves
    the folder already; OldStateError where another role remembers more than this one.
    """
    need_servers()
    from mixtally.node.web.run import Server, as_server, listening  # needs the extra

    with serving(folder.path):
        place = listening(folder.role.host, folder.role.port)
        node = Node(folder, SecureChance(), service.step)
        failed: list[BaseException] = []

        def stop(error: BaseException) -> None:
            failed.append(error)
            server.stop()

        served = role(node, Peers(node, service.call, service.overruled), stop)
        server = Server(served.application)
        loop = Loop(served.tick, service.clock, stop)
        node.wake = loop.wake
        loop.start()
        host, port = place.getsockname()[:2]
        service.ready(f"http://{host}:{port}")
        try:
            with as_server():
                server.run(place)
        finally:
            loop.end()
            served.end()
        if failed:
            raise failed[0]
