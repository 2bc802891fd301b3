"""What a relay is told.

    quintant agent relay            on this machine: relay.localhost, an authority of its own
    quintant agent relay --listen 0.0.0.0 --domain relay.example.com --tls-port 443
        --tls-cert tls.crt --tls-key tls.key --auth token --tokens tokens.json

Tunnels and visitors share the TLS port; the plain port is for visitors only.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path

from quintant.agents.embedded_node import pod_path
from quintant.agents.multiplex.connection import Keepalive
from quintant.agents.relay.tunnel.name_registry import GROUP_SESSIONS, SESSIONS
from quintant.agents.relay.visitor.exchange import ExchangeLimits
from quintant.agents.relay.visitor.upload import UploadLimits
from quintant.agents.relay.visitor.visitor_queue import WAIT_SECONDS, WAITING, QueueLimits
from quintant.wire.portal import STREAMS

DOMAIN = "relay.localhost"
TLS_PORT, HTTP_PORT, ADMIN_PORT = 8443, 8080, 9809
HTTPS = 443
DRAIN_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """Proxies before the relay whose word about visitors is believed."""

    networks: tuple[str, ...] = ()

    def __contains__(self, address: str) -> bool:
        if not self.networks:
            return False
        found = ip_address(address)
        return any(found in ip_network(each) for each in self.networks)


@dataclass(frozen=True, slots=True)
class RelayOptions:
    """Everything a relay is told."""

    domains: tuple[str, ...] = (DOMAIN,)
    listen: str = "127.0.0.1"
    tls_port: int = TLS_PORT
    http_port: int = HTTP_PORT
    """-1 for none; 0 for any, of both."""
    admin_port: int = ADMIN_PORT
    public_port: int = 0
    """What visitors connect to, where it is not the TLS port."""
    certificate: Path | None = None
    key: Path | None = None
    folder: Path = Path("portal-relay")
    """Where an authority of its own is kept, if no certificate is given."""
    tokens: Path | None = None
    """None asks for none, unless they are in a Secret."""
    tokens_secret: str = ""
    """The Secret of the pod's namespace that has them."""
    trust: TrustedProxies = TrustedProxies()
    limits: ExchangeLimits = field(default_factory=ExchangeLimits)
    queue: QueueLimits = field(default_factory=QueueLimits)
    streams: int = STREAMS
    """Of one tunnel's connection, at once."""
    sessions: int = SESSIONS
    group_sessions: int = GROUP_SESSIONS
    keepalive: Keepalive = field(default_factory=Keepalive)
    drain: float = DRAIN_SECONDS


def parse(arguments: Sequence[str], environ: Mapping[str, str] = os.environ) -> RelayOptions:
    """The options of a command line; ends the program if they are wrong."""
    parser = _parser(environ)
    given = parser.parse_args(arguments)
    if given.auth == "token" and (given.tokens is None) is not bool(given.tokens_secret):
        parser.error("--auth token needs either --tokens FILE or --tokens-secret NAME")
    if (given.tls_cert is None) is not (given.tls_key is None):
        parser.error("--tls-cert and --tls-key belong together")
    if given.auth == "none" and not _loopback(given.listen) and not given.force:
        parser.error(f"on {given.listen} anybody could take any name: use --auth token, or --force")
    try:
        for each in given.trusted_proxy:
            ip_network(each)
    except ValueError as error:
        parser.error(f"--trusted-proxy: {error}")
    return _options(given)


def _options(given: argparse.Namespace) -> RelayOptions:
    return RelayOptions(
        domains=tuple(each.lower().rstrip(".") for each in given.domain or [DOMAIN]),
        listen=given.listen,
        tls_port=given.tls_port,
        http_port=given.http_port,
        admin_port=given.admin_port,
        public_port=given.public_port,
        certificate=given.tls_cert,
        key=given.tls_key,
        folder=given.state,
        tokens=given.tokens if given.auth == "token" else None,
        tokens_secret=given.tokens_secret if given.auth == "token" else "",
        trust=TrustedProxies(tuple(given.trusted_proxy)),
        limits=ExchangeLimits(
            given.first_byte, given.idle, UploadLimits(given.max_body, given.min_rate)
        ),
        queue=QueueLimits(given.max_waiting, given.wait),
        streams=given.max_streams,
        sessions=given.max_sessions,
        group_sessions=given.max_group_sessions,
        keepalive=Keepalive(given.ping, given.dead),
        drain=given.drain,
    )


def _loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _parser(environ: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="quintant agent relay", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add, limits, keepalive = parser.add_argument, ExchangeLimits(), Keepalive()
    add("--domain", action="append", help=f"apps are below it; again for more ({DOMAIN})")
    add("--listen", default=environ.get("QUINTANT_POD_IP") or "127.0.0.1", metavar="ADDRESS")
    add("--tls-port", type=int, default=TLS_PORT)
    add("--http-port", type=int, default=HTTP_PORT, help="visitors without TLS; -1 for none")
    add("--admin-port", type=int, default=ADMIN_PORT, help="health and metrics")
    add("--public-port", type=int, default=0, help="what visitors connect to, if another")
    add("--tls-cert", type=pod_path, help="of the domain and all names below it; read on change")
    add("--tls-key", type=pod_path)
    add("--state", type=pod_path, default="portal-relay", help="folder of its own authority")
    add("--auth", choices=["none", "token"], default="none")
    add("--tokens", type=pod_path, help="JSON of token hashes; read again on change")
    add("--tokens-secret", default="", metavar="NAME", help="the same in a Secret, followed")
    add("--force", action="store_true", help="listen to the world without asking for tokens")
    add("--trusted-proxy", action="append", default=[], metavar="NETWORK")
    add("--first-byte", type=float, default=limits.first_byte, metavar="SECONDS")
    add("--idle", type=float, default=limits.idle, metavar="SECONDS")
    add("--max-body", type=int, default=limits.upload.most, metavar="BYTES", help="0 for any")
    add(
        "--min-rate", type=float, default=limits.upload.rate, metavar="BYTES",
        help="per second of a request's body; 0 for any",
    )  # fmt: skip
    add("--max-streams", type=int, default=STREAMS, help="visitors of one tunnel at once")
    add("--max-waiting", type=int, default=WAITING, help="visitors who wait for a stream")
    add(
        "--wait", type=float, default=WAIT_SECONDS, metavar="SECONDS", help="and how long; then 429"
    )
    add("--max-sessions", type=int, default=SESSIONS)
    add("--max-group-sessions", type=int, default=GROUP_SESSIONS)
    add("--ping", type=float, default=keepalive.ping, metavar="SECONDS")
    add("--dead", type=float, default=keepalive.dead, metavar="SECONDS")
    add("--drain", type=float, default=DRAIN_SECONDS, metavar="SECONDS")
    return parser
