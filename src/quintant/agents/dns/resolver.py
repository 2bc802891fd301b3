"""From a name of the cluster to addresses and ports, by asking the cluster's nameserver.

A name is tried as pods do: with each of the search domains, short names first. It is asked with
the port, because a port of a service may be mapped to another (an SRV record by number says so);
names without such a record have plain addresses. What is not of the cluster is not resolved here.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import count
from typing import NamedTuple

from quintant.agents.dns.message import (
    CNAME,
    SRV,
    A,
    DnsQuestion,
    DnsResponse,
    MalformedMessage,
    SrvData,
    encode_query,
    read_response,
)

SERVER_VARIABLE = "QUINTANT_DNS"
"""Where the nameserver listens: address:port, over UDP and TCP."""
SEARCH_VARIABLE = "QUINTANT_DNS_SEARCH"
"""The domains to try a name with, separated by spaces."""
DOMAIN = "cluster.local"
TIMEOUT_SECONDS = 2.0
"""For one question: the nameserver is on this machine."""
TRIES = 2
HOPS = 8
"""Names of the cluster that stand for one another, one after the other."""
DATAGRAM_BYTES = 65_535
_numbers = count(1)


class SocketAddress(NamedTuple):
    """Where to connect; the address is a name where the cluster's name only stands for another."""

    address: str
    port: int


@dataclass(frozen=True, slots=True)
class ClusterResolver:
    """The names of a cluster, as a program in one of its pods sees them."""

    server: SocketAddress
    search: tuple[str, ...] = (DOMAIN,)

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> ClusterResolver | None:
        """The cluster that the environment names, if it names one."""
        address, _, port = environ.get(SERVER_VARIABLE, "").rpartition(":")
        if not address or not port.isdigit():
            return None
        search = tuple(environ.get(SEARCH_VARIABLE, DOMAIN).split())
        return cls(SocketAddress(address, int(port)), search)

    def lookup(self, host: str, port: int) -> list[SocketAddress]:
        """Where a port of a host is; empty if the host is not of the cluster. Blocks."""
        steps = self._steps(host, port)
        answer: DnsResponse | None = None
        while True:
            try:
                answer = self._query(steps.send(answer))
            except StopIteration as end:
                return list(end.value)

    async def resolve(self, host: str, port: int) -> list[SocketAddress]:
        """`lookup`, without blocking the loop."""
        steps = self._steps(host, port)
        answer: DnsResponse | None = None
        while True:
            try:
                question = steps.send(answer)
            except StopIteration as end:
                return list(end.value)
            answer = await self._awaited(question)

    def candidates(self, host: str) -> list[str]:
        """The full names that a host may mean."""
        name = host.rstrip(".").lower()
        whole = [name] if name.endswith(f".{DOMAIN}") else []
        return (
            whole if host.endswith(".") else [*whole, *(f"{name}.{each}" for each in self.search)]
        )

    def _steps(
        self, host: str, port: int, hops: int = HOPS
    ) -> Generator[DnsQuestion, DnsResponse | None, Sequence[SocketAddress]]:
        """The questions that lead from a host to addresses, whichever way they are asked."""
        if not host or is_ip_address(host):
            return []
        for name in self.candidates(host):
            served = (yield DnsQuestion(f"_{port}._tcp.{name}", SRV)) or DnsResponse()
            if found := _endpoints(served, SRV):
                return found
            plain = (yield DnsQuestion(name, A)) or DnsResponse()
            if found := [
                SocketAddress(endpoint.address, port) for endpoint in _endpoints(plain, A)
            ]:
                return found
            if other := [str(record.data) for record in plain.records if record.kind == CNAME]:
                if hops and other[0].endswith(f".{DOMAIN}"):
                    return (yield from self._steps(f"{other[0]}.", port, hops - 1))
                return [SocketAddress(other[0], port)]
        return []

    def _query(self, question: DnsQuestion) -> DnsResponse | None:
        number = _number()
        for _ in range(TRIES):
            try:
                answer = self._over_udp(number, question)
                return self._over_tcp(number, question) if answer.truncated else answer
            except (OSError, MalformedMessage):
                continue
        return None

    def _over_udp(self, number: int, question: DnsQuestion) -> DnsResponse:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(TIMEOUT_SECONDS)
            asking.connect(self.server)
            asking.send(encode_query(number, question))
            return read_response(asking.recv(DATAGRAM_BYTES), number)

    def _over_tcp(self, number: int, question: DnsQuestion) -> DnsResponse:
        with socket.create_connection(self.server, TIMEOUT_SECONDS) as asking:
            raw = encode_query(number, question)
            asking.sendall(len(raw).to_bytes(2, "big") + raw)
            stream = asking.makefile("rb")
            return read_response(stream.read(int.from_bytes(stream.read(2), "big")), number)

    async def _awaited(self, question: DnsQuestion) -> DnsResponse | None:
        number = _number()
        for _ in range(TRIES):
            try:
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    answer = await self._udp(number, question)
                    return await self._tcp(number, question) if answer.truncated else answer
            except (OSError, MalformedMessage, TimeoutError):
                continue
        return None

    async def _udp(self, number: int, question: DnsQuestion) -> DnsResponse:
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.setblocking(False)
            asking.connect(self.server)
            await loop.sock_sendall(asking, encode_query(number, question))
            return read_response(await loop.sock_recv(asking, DATAGRAM_BYTES), number)

    async def _tcp(self, number: int, question: DnsQuestion) -> DnsResponse:
        reader, writer = await asyncio.open_connection(*self.server)
        try:
            raw = encode_query(number, question)
            writer.write(len(raw).to_bytes(2, "big") + raw)
            size = int.from_bytes(await reader.readexactly(2), "big")
            return read_response(await reader.readexactly(size), number)
        except asyncio.IncompleteReadError:
            raise MalformedMessage("an answer that breaks off") from None
        finally:
            writer.close()


def _endpoints(answer: DnsResponse, kind: int) -> list[SocketAddress]:
    """The places that an answer names: addresses, or ports at the names of addresses."""
    known: dict[str, list[str]] = {}
    for record in answer.records:
        if record.kind == A:
            known.setdefault(record.name, []).append(str(record.data))
    if kind == A:
        return [SocketAddress(address, 0) for addresses in known.values() for address in addresses]
    return [
        SocketAddress(address, record.data.port)
        for record in answer.records
        if isinstance(record.data, SrvData)
        for address in known.get(record.data.target, ())
    ]


def is_ip_address(host: str) -> bool:
    """Whether a host is an address already."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _number() -> int:
    return next(_numbers) & 0xFFFF
