"""The flags of a lightpeer, as every other lightpeer has them: with one dash or two."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quintant.agents.embedded_node import pod_path
from quintant.agents.lightpeer.chain.block import Unsound, checked_address
from quintant.wire.lightpeer import PORT

TOKEN_FILE = "KLIGHT_TOKEN_FILE"
"""The same variable tells peers and their operator."""
POD_ADDRESSES = ("POD_IP", "QUINTANT_POD_IP")
"""Set by the downward API; set on the embedded node, where it is the only address to listen on."""
PORTS = range(1, 65536)
"""0 would be any free port, which no member could know."""
_ANYWHERE = ("", "0.0.0.0", "::")
_NOWHERE = ("0.0.0.0", "[::]")
"""Where a peer can listen, and nobody reach it."""
ROUTE = "8.8.8.8:80"
"""No packet is sent there: the address from which it would be sent is ours."""


@dataclass(frozen=True, slots=True)
class LightpeerOptions:
    """How to run."""

    repo: Path
    host: str
    port: int
    advertise: str
    name: str
    merge: bool
    verbose: bool
    state: Path | None = None
    read_only: bool = False
    token_file: Path | None = None

    @property
    def listen(self) -> str:
        """Where to listen."""
        return f"{self.host or '[::]'}:{self.port}"


def parser(program: str) -> argparse.ArgumentParser:
    """The flags that all programs of lightpeers share."""
    made = argparse.ArgumentParser(prog=program, allow_abbrev=False)
    _add(made, "repo", type=pod_path, default="testdata", help="directory of the blocks")
    _add(made, "host", help="address to listen on; every one if empty")
    _add(made, "port", default=str(PORT), help="where to listen, and where others reach this peer")
    _add(made, "advertise", help="address or host:port at which other members reach this peer")
    _add(made, "name", help="a name for people")
    _add(made, "route", default=ROUTE, help="own address is the one that leads there")
    _add(
        made,
        "on-join",
        choices=("replace", "merge"),
        default="replace",
        help="whether a peer that joins another network writes its own blocks there again",
    )
    _add(
        made,
        "token-file",
        type=pod_path,
        default=os.environ.get(TOKEN_FILE) or None,
        help="who shows what it holds may have this peer leave; else only this machine may",
    )
    _add(made, "v", nargs="?", const="true", default="false", help="more log lines")
    _add(made, "otlp", help="accepted, and not used: there are no traces")
    return made


def _add(made: argparse.ArgumentParser, name: str, **settings: object) -> None:
    settings.setdefault("default", "")
    made.add_argument(f"-{name}", f"--{name}", **settings)  # type: ignore[arg-type]


def options(made: argparse.ArgumentParser, arguments: Sequence[str]) -> LightpeerOptions:
    """What the arguments and the environment say."""
    read = made.parse_args(arguments)
    host, port = listening(read.host, os.environ), checked_port("port", read.port)
    own = checked_advertise(read.advertise or _own(os.environ, host, read.route), port)
    return LightpeerOptions(
        repo=read.repo,
        host=_bracketed(host),
        port=port,
        advertise=own,
        name=read.name,
        merge=read.on_join == "merge",
        verbose=read.v.lower() in ("true", "1", "t"),
        state=getattr(read, "statePath", None),
        token_file=read.token_file,
        read_only=getattr(read, "readOnly", "false").lower() in ("true", "1", "t"),
    )


def checked_port(flag: str, text: str) -> int:
    """The port that a flag names; the process ends with an explanation if it names none."""
    if text.isascii() and text.isdecimal() and len(text) < 6 and int(text) in PORTS:
        return int(text)
    sys.exit(
        f"cannot use port {text!r} of -{flag}\n"
        f"because: a port is a number from {PORTS[0]} to {PORTS[-1]}\n"
        f"try: -port={PORT}"
    )


def checked_advertise(text: str, port: int) -> str:
    """Where others reach this peer; the process ends with an explanation if none can."""
    own = advertised(text, port)
    checked_port("advertise", own.rpartition(":")[2])
    try:
        if own.rpartition(":")[0] not in _NOWHERE:
            return checked_address(own)
    except Unsound:
        pass
    sys.exit(
        f"cannot be reached at {text!r} of -advertise\n"
        "because: it is neither the IP address of a machine nor a name\n"
        f"try: -advertise=10.0.0.1, or -advertise=peer.example.com:{PORT}"
    )


def listening(host: str, environment: Mapping[str, str]) -> str:
    """Where to listen; on the embedded node everywhere is one address, for others have theirs."""
    return environment.get("QUINTANT_POD_IP", host) if host in _ANYWHERE else host


def advertised(address: str, port: int) -> str:
    """`host:port`, from that or from a bare address."""
    if address.startswith("[") or address.count(":") == 1:
        return address if address.rpartition(":")[2].isdecimal() else f"{address}:{port}"
    return f"{_bracketed(address)}:{port}"


def _own(environment: Mapping[str, str], host: str, route: str) -> str:
    """Our own address: what the pod says, else the one that leads out, else where we listen."""
    for name in POD_ADDRESSES:
        if environment.get(name):
            return environment[name]
    if host not in _ANYWHERE:
        return host
    target, _, port = route.rpartition(":")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((target, int(port)))
            found: str = probe.getsockname()[0]
            return found
    except (OSError, ValueError):
        return host or "127.0.0.1"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
