"""httpProber, tcpProber, grpcProber: probes over the network, with the standard library alone.

Answers and complaints are worded as a kubelet words them. A probe never raises: what goes wrong is
an outcome. Certificates are not verified, as a kubelet does not.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from quintant.api.container import GRPCAction, HTTPGetAction, TCPSocketAction
from quintant.cluster.kubelet.probe import grpc_health
from quintant.cluster.kubelet.process.protocols import HandlerResult
from quintant.version import KUBERNETES

AGENT = f"kube-probe/{'.'.join(KUBERNETES.removeprefix('v').split('.')[:2])}"
GOOD = range(200, 400)
REST_BYTES = 10 * 1024
REST_SECONDS = 0.1
"""How much of an answer is read, and for how long, once its status is known."""


class NetworkProber:
    """Probes over the network of this machine."""

    async def http(
        self, address: str, port: int, get: HTTPGetAction, timeout: float
    ) -> HandlerResult:
        scheme, host = (get.scheme or "HTTP").lower(), get.host or address
        path = get.path if get.path.startswith("/") else f"/{get.path}"
        url = f"{scheme}://{host}:{port}{path}"
        secure = _unverified() if scheme == "https" else None
        try:
            async with asyncio.timeout(timeout), _dialled(host, port, secure) as (reader, writer):
                writer.write(_request(f"{host}:{port}", path, get))
                status = await _status(reader)
                await _rest(reader)
        except TimeoutError:
            late = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
            return HandlerResult(False, f'Get "{url}": {late}')
        except OSError as error:
            return HandlerResult(False, f'Get "{url}": {_dial(host, port, error)}')
        except ValueError as error:
            return HandlerResult(False, f'Get "{url}": {error}')
        good = status in GOOD
        return HandlerResult(good, "" if good else f"HTTP probe failed with statuscode: {status}")

    async def tcp(
        self, address: str, port: int, connect: TCPSocketAction, timeout: float
    ) -> HandlerResult:
        host = connect.host or address
        try:
            async with asyncio.timeout(timeout), _dialled(host, port):
                return HandlerResult(True)
        except TimeoutError:
            return HandlerResult(False, f"dial tcp {host}:{port}: i/o timeout")
        except OSError as error:
            return HandlerResult(False, _dial(host, port, error))

    async def grpc(self, address: str, port: int, ask: GRPCAction, timeout: float) -> HandlerResult:
        target = f"{address}:{port}"
        try:
            async with asyncio.timeout(timeout), _dialled(address, port) as (reader, writer):
                answer = await grpc_health.check(reader, writer, target, ask.service or "")
        except (TimeoutError, OSError, EOFError):
            late = f'timeout: failed to connect service "{target}" within {timeout:g}s'
            return HandlerResult(False, f"{late}: context deadline exceeded")
        if answer == grpc_health.SERVING:
            return HandlerResult(True)
        return HandlerResult(False, f'service unhealthy (responded with "{answer}")')


@asynccontextmanager
async def _dialled(
    host: str, port: int, secure: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[StreamReader, StreamWriter]]:
    reader, writer = await asyncio.open_connection(host, port, ssl=secure)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError, asyncio.CancelledError):
            await writer.wait_closed()


def _request(authority: str, path: str, get: HTTPGetAction) -> bytes:
    headers = {"Host": authority, "User-Agent": AGENT, "Accept": "*/*", "Connection": "close"}
    headers |= {header.name: header.value for header in get.http_headers}
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _status(reader: StreamReader) -> int:
    line = (await reader.readline()).split()
    if len(line) < 2 or not line[0].startswith(b"HTTP/") or not line[1].isdigit():
        raise ValueError("EOF" if not line else "malformed HTTP response")
    return int(line[1])


async def _rest(reader: StreamReader) -> None:
    """Let the program finish its answer: many complain when nobody hears them out."""
    with suppress(TimeoutError):
        async with asyncio.timeout(REST_SECONDS):
            await reader.read(REST_BYTES)


def _dial(host: str, port: int, error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return "http: server gave HTTP response to HTTPS client"
    why = os.strerror(error.errno).lower() if error.errno else str(error).lower()
    return f"dial tcp {host}:{port}: connect: {why}"


def _unverified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
