"""The rounds of an arena against honest mixes that are processes on sockets of this machine.

Every hostile role listens on a socket of its own, as mixes have to reach it. All processes are
ended by their own ids. Their clocks are turned forward to the end of every round.
"""

import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mixtally.lab.attacks.network.arena import Arena
from mixtally.model.contract.job import job_of
from mixtally.primitives.chance import SecureChance
from mixtally.server.mix.jobs import take_job
from mixtally.server.node.calls import Answer, SilentError, call
from mixtally.server.node.node import Node
from scripts.leaping_clock import LeapingClock, command
from scripts.network_roles import free_ports

_SECONDS = 300


class ProcessArena(Arena):
    """An arena whose honest mixes are served by `mixtally mix serve`."""

    open_seconds = 600

    def addresses(self, count):
        """Ports that no other test has taken."""
        return [f"http://127.0.0.1:{port}" for port in free_ports(count)]

    def start(self, text):
        self.processes, self.servers = {}, []
        ahead = next(iter(self.folders.values())).path.with_name("ahead")
        self._clock = LeapingClock(ahead)
        roles = [*self.contract.hops, self.contract.collector]
        self._honest_addresses = {folder.role.address for folder in self.folders.values()}
        for role in roles:
            if role.address not in self._honest_addresses:
                self._listen(role.address)
        for hop, folder in self.folders.items():
            node = Node(folder, SecureChance())
            take_job(node, job_of(self.contract, self.fingerprint, hop), text)
            node.close()
            line = [sys.executable, "-c", command(ahead), "mix", "serve", str(folder.path)]
            with folder.path.with_suffix(".log").open("wb") as log:
                self.processes[hop] = subprocess.Popen(
                    [*line, "--processes", "0"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
        for hop in self.folders:
            self._wait_until_served(hop)

    def _wait_until_served(self, hop):
        """A mix that has just begun to listen answers 404 until it has read its job."""
        address, until = self.contract.hops[hop - 1].address, time.monotonic() + _SECONDS
        while not self.call(address, "GET", f"/contracts/{self.fingerprint}").is_success:
            assert time.monotonic() < until, f"mix {hop} does not serve its contract"
            self.wait()

    def _listen(self, address):
        adversary = self.adversary

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                answer = adversary.answer(self.command, self.path, body)
                self.send_response(answer.status)
                if answer.status != 204:
                    self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            do_POST = do_PUT = do_HEAD = do_GET  # noqa: N815  (as the library calls them)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", int(address.rpartition(":")[2])), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self.servers.append(server)

    @property
    def now(self):
        return int(self._clock.now())

    def wait(self):
        time.sleep(0.1)
        for hop, process in self.processes.items():
            log = self.folders[hop].path.with_suffix(".log")
            assert process.poll() is None, log.read_text()

    def pass_time(self, until):
        self._clock.turn_to(until)

    def call(self, address, method, path, body=b""):
        if address not in self._honest_addresses:
            return self.adversary.answer(method, path, body)
        try:
            return call(address, method, path, body)
        except SilentError:
            return Answer(503, b"")

    def end(self):
        for process in self.processes.values():
            process.terminate()
        self.codes = [process.wait(_SECONDS) for process in self.processes.values()]
        for server in self.servers:
            server.shutdown()
            server.server_close()
