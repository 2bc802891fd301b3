"""The tunnels that `portal` measures, each as the processes of its own: ours, frp, chisel.

frp and chisel are built once with Go into the cache outside the repository; without Go they are
left out, and the run says so.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.subprocesses import running
from benchmarks.tunnel_load import HOST_HEADER
from foreign import ProgramError
from foreign.catalogue import CHISEL, FRPC, FRPS
from foreign.go_program import GoProgram

PATIENCE_SECONDS = 30.0
LOOK_SECONDS = 0.05
Say = Callable[[str], None]


class Tunnelled(NamedTuple):
    """A way to the Service: where visitors connect, and who carries them."""

    port: int
    pids: tuple[int, ...] = ()
    """Of the relay and of the tunnel."""


class TunnelProgram(NamedTuple):
    """A way to a Service, which is given by its port."""

    name: str
    start: Callable[[int], AbstractContextManager[Tunnelled]]


def ways(say: Say) -> list[TunnelProgram]:
    """Whatever can be measured here: no tunnel, ours, and those of others that there are."""
    found = [TunnelProgram("no tunnel", _nothing), TunnelProgram("quintant", _ours)]
    server, client, chisel = (_provided(each, say) for each in (FRPS, FRPC, CHISEL))
    if server is not None and client is not None:
        start = _frp(server, client)
        found.append(TunnelProgram(f"frp {FRPS.version}", start))
    if chisel is not None:
        found.append(TunnelProgram(f"chisel {CHISEL.version}", _chisel(chisel)))
    return found


@contextmanager
def service() -> Iterator[int]:
    """A Service that costs little; its port."""
    port = _free()
    with running("tunnel_load", "service", str(port)):
        _reached(port)
        yield port


@contextmanager
def _nothing(service: int) -> Iterator[Tunnelled]:
    yield Tunnelled(service)


@contextmanager
def _ours(service: int) -> Iterator[Tunnelled]:
    tls, http, admin, own = (_free() for _ in range(4))
    with TemporaryDirectory() as folder, ExitStack() as stack:
        agent = [sys.executable, "-m", "quintant", "agent"]
        ports = ("--tls-port", str(tls), "--http-port", str(http), "--admin-port", str(admin))
        relay = stack.enter_context(_child([*agent, "relay", "--state", folder, *ports]))
        _reached(tls)
        line = ["tunnel", "expose", "--name", "bench", "--host", "127.0.0.1", "--port"]
        line += [str(service), "--relay", f"wss://relay.localhost:{tls}/relay"]
        env = {"PORTAL_CA_FILE": str(Path(folder) / "ca.crt")}
        place = ("--admin-addr", f"127.0.0.1:{own}")
        tunnel = stack.enter_context(_child([*agent, *line, *place], env))
        _answered(http)
        yield Tunnelled(http, (relay.pid, tunnel.pid))


def _chisel(program: Path) -> Callable[[int], AbstractContextManager[Tunnelled]]:
    @contextmanager
    def start(service: int) -> Iterator[Tunnelled]:
        control, port = _free(), _free()
        place = ["--host", "127.0.0.1", "--port", str(control), "--reverse"]
        with _child([str(program), "server", *place]) as server:
            _reached(control)
            way = f"R:127.0.0.1:{port}:127.0.0.1:{service}"
            with _child([str(program), "client", f"http://127.0.0.1:{control}", way]) as client:
                _answered(port)
                yield Tunnelled(port, (server.pid, client.pid))

    return start


_FRPS = """\
bindAddr = "127.0.0.1"
bindPort = {control}
proxyBindAddr = "127.0.0.1"
vhostHTTPPort = {port}
"""
_FRPC = """\
serverAddr = "127.0.0.1"
serverPort = {control}
[[proxies]]
name = "bench"
type = "http"
localIP = "127.0.0.1"
localPort = {service}
customDomains = ["{host}"]
"""


def _frp(server: Path, client: Path) -> Callable[[int], AbstractContextManager[Tunnelled]]:
    """Its HTTP mode, with the TLS that it has by default."""

    @contextmanager
    def start(service: int) -> Iterator[Tunnelled]:
        control, port = _free(), _free()
        values = {"control": control, "port": port, "service": service, "host": HOST_HEADER}
        with TemporaryDirectory() as folder:
            files = Path(folder, "frps.toml"), Path(folder, "frpc.toml")
            for file, text in zip(files, (_FRPS, _FRPC), strict=True):
                file.write_text(text.format(**values))
            with _child([str(server), "-c", str(files[0])]) as relay:
                _reached(control)
                with _child([str(client), "-c", str(files[1])]) as tunnel:
                    _answered(port)
                    yield Tunnelled(port, (relay.pid, tunnel.pid))

    return start


@contextmanager
def _child(line: list[str], env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(line, env={**os.environ, **(env or {})}, stdout=quiet, stderr=quiet)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _reached(port: int) -> None:
    def tried() -> bool:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True

    _until(tried)


def _answered(port: int) -> None:
    """Wait until a request gets the Service's answer."""

    def tried() -> bool:
        with socket.create_connection(("127.0.0.1", port), 1) as visitor:
            visitor.settimeout(1)
            visitor.sendall(f"GET / HTTP/1.1\r\nHost: {HOST_HEADER}\r\n\r\n".encode())
            return visitor.recv(65_536).startswith(b"HTTP/1.1 200")

    _until(tried)


def _until(tried: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            if tried():
                return
        except OSError:
            pass
        time.sleep(LOOK_SECONDS)
    raise TimeoutError("a program of the benchmark does not answer")


def _provided(program: GoProgram, say: Say) -> Path | None:
    """A program, from the cache or built into it; None, and a line that says so, without Go."""
    try:
        return program.provide(os.environ, report=lambda line: say(f"portal: {line}"))
    except ProgramError as error:
        say(f"portal: {program.name} left out: {error.why}")
        return None
