"""`nc`, `nslookup` and `dig` for pods of tests: programs of images that a machine may lack.

They know the options that the tests give, and resolve names as programs of a pod do.
"""

from __future__ import annotations

import os
import shlex
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from quintant.agents.dns import message
from quintant.agents.dns.message import DnsQuestion, DnsResponse, ResourceRecord
from quintant.agents.dns.resolver import ClusterResolver, SocketAddress

ANSWER_SECONDS = 2.0
_LAUNCHER = '#!/bin/sh\nexec {command} {name} "$@"\n'
_KINDS = {"A": message.A, "CNAME": message.CNAME, "PTR": message.PTR, "SRV": message.SRV}


def write_tools(folder: Path) -> Path:
    """Write the programs that pods find in their path, and return their folder."""
    folder.mkdir()
    command = shlex.join((sys.executable, str(Path(__file__).resolve())))
    for name in TOOLS:
        (folder / name).write_text(_LAUNCHER.format(command=command, name=name))
        (folder / name).chmod(0o755)
    return folder


def nc(words: Sequence[str]) -> int:
    """Send what comes in, and print what comes back until nothing more does for a while."""
    parser = ArgumentParser("nc")
    for flag in ("-v", "-t", "-u", "-z"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("-w", type=float, default=ANSWER_SECONDS)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    options = parser.parse_args(words)
    kind = socket.SOCK_DGRAM if options.u else socket.SOCK_STREAM
    (*_, address), *_ = socket.getaddrinfo(options.host, options.port, socket.AF_INET, kind)
    with socket.socket(socket.AF_INET, kind) as connection:
        connection.settimeout(options.w)
        connection.connect(address)
        if not options.z:
            connection.sendall(sys.stdin.buffer.read())
            sys.stdout.buffer.writelines(_received(connection))
    return 0


def _received(connection: socket.socket) -> Iterator[bytes]:
    while True:
        try:
            received = connection.recv(65_536)
        except TimeoutError:
            return
        if not received:
            return
        yield received


def nslookup(words: Sequence[str]) -> int:
    """Print the addresses of a name."""
    for address in {found[4][0] for found in socket.getaddrinfo(words[0], 0, socket.AF_INET)}:
        print(f"Name:\t{words[0]}\nAddress: {address}")
    return 0


def dig(words: Sequence[str]) -> int:
    """Print the records of a name, in full or short."""
    resolver = ClusterResolver.find(os.environ)
    assert resolver is not None, "a pod knows its nameserver"
    plain = [word for word in words if not word.startswith("+")]
    name, kind = plain[0], _KINDS[plain[1]] if plain[1:] else message.A
    for each in (*(resolver.candidates(name) if "+search" in words else ()), name):
        answer = _answer(resolver.server, DnsQuestion(each.rstrip("."), kind), "+tcp" in words)
        if answer.records:
            for record in answer.records:
                print(_value(record) if "+short" in words else _line(record))
            break
    return 0


def _answer(server: SocketAddress, question: DnsQuestion, tcp: bool) -> DnsResponse:
    number = 1
    query = message.encode_query(number, question)
    if not tcp:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            datagrams.settimeout(ANSWER_SECONDS)
            datagrams.connect(server)
            datagrams.send(query)
            return message.read_response(datagrams.recv(65_536), number)
    with socket.create_connection(server, ANSWER_SECONDS) as stream, stream.makefile("rb") as read:
        stream.sendall(len(query).to_bytes(2, "big") + query)
        return message.read_response(read.read(int.from_bytes(read.read(2), "big")), number)


def _line(record: ResourceRecord) -> str:
    kinds = {number: name for name, number in _KINDS.items()}
    return f"{record.name}.\t{record.ttl}\tIN\t{kinds[record.kind]}\t{_value(record)}"


def _value(record: ResourceRecord) -> str:
    match record.kind, record.data:
        case message.A, address:
            return str(address)
        case message.SRV, (priority, weight, port, target):
            return f"{priority} {weight} {port} {target}."
    return f"{record.data}."


TOOLS: dict[str, Callable[[Sequence[str]], int]] = {"nc": nc, "nslookup": nslookup, "dig": dig}


if __name__ == "__main__":
    try:
        sys.exit(TOOLS[sys.argv[1]](sys.argv[2:]))
    except OSError as error:
        sys.exit(f"{sys.argv[1]}: {error}")
