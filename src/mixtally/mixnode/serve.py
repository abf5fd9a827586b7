"""A mix on its socket: the loop that drives its rounds by the clock, and the server beside it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from mixtally.ground.chance import SecureChance
from mixtally.mixnode.intake import Intake
from mixtally.mixnode.mix import Mix, Options
from mixtally.node.calls import Call, call
from mixtally.node.disk import Step, no_step
from mixtally.node.folder import Folder, serving
from mixtally.node.loop import Loop, wall_clock
from mixtally.node.node import Node
from mixtally.node.peers import Peers
from mixtally.node.web.needs import need_servers

if TYPE_CHECKING:
    from mixtally.node.web.answers import App


class Service(NamedTuple):
    """How a mix is served.

    where
      overruled   names of roles that are not waited for at the start
      processes   that open envelopes
      clock       gives seconds since 1970
      ready       told the address once the socket listens
      call        how other roles are asked
      step        told the name of every durable step
    """

    overruled: frozenset[str] = frozenset()
    processes: int = 0
    clock: Callable[[], int] = wall_clock
    ready: Callable[[str], None] = print
    call: Call = call
    step: Step = no_step


def serve(folder: Folder, service: Service) -> None:
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

        intake = Intake(folder.inner("rounds"), stop, service.step)
        peers = Peers(node, service.call, service.overruled)
        mix = Mix(node, peers, intake, Options(service.processes, background=True))
        server = Server(mix_application(mix, service.clock, stop))
        loop = Loop(mix.tick, service.clock, stop)
        node.wake = loop.wake
        loop.start()
        host, port = place.getsockname()[:2]
        service.ready(f"http://{host}:{port}")
        try:
            with as_server():
                server.run(place)
        finally:
            loop.end()
            mix.end()
        if failed:
            raise failed[0]


def mix_application(
    mix: Mix, clock: Callable[[], int], stop: Callable[[BaseException], None]
) -> "App":
    """The ASGI application of a mix."""
    from mixtally.mixnode.web import MOST_BODIES_BYTES, Bundles
    from mixtally.node.web.bodies import Room
    from mixtally.node.web.routes import Shared, application

    bundles = Bundles(mix.intake, mix.find, clock, Room(MOST_BODIES_BYTES))
    return application(Shared(mix.node, clock).routes(), stop, bundles.first)
