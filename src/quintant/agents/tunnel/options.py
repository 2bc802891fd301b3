"""What a tunnel is told: its command line, and the variables that the operator sets.

    quintant agent tunnel expose --name hello --host web.default.svc.cluster.local --port 80
        --relay wss://relay.example.com/relay

Relays may be given several times, or with commas between. PORTAL_RELAYS (JSON) gives them names,
PORTAL_TOKEN_<number> tokens, and a file <number>.crt in PORTAL_CA_DIR an authority to trust.
PORTAL_KEY (32 bytes in base64) is the key by which Portal's own relays know whose a name is;
without it a fresh one is made, and nobody shares the name. PORTAL_RATE_LIMITS (JSON) says how many
requests a relay of ours is to let through.
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec

from quintant.agents.embedded_node import pod_path
from quintant.agents.portalv1.seed import read_seed
from quintant.wire.foreign import MalformedInput, decode_json
from quintant.wire.portal import RequestRates

ADMIN_PORT = 9808
ADMIN_ADDRESS = "127.0.0.1"
"""Where the status is served outside of a pod: what it tells is for this machine."""
DRAIN_SECONDS = 8.0
"""To finish what is under way; the pod's grace period is 15 s."""
CONNECT_SECONDS = 5.0
"""To reach the Service."""
TLS_MODES = ("off", "insecure", "verify")
_SCHEMES = ("ws", "wss")
_BIND = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]]*)):([0-9]{1,5})")
_HIGHEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class RelayEndpoint:
    """A relay to be connected to."""

    name: str
    url: str
    token: str = field(default="", repr=False)
    authority: str = ""
    """A file of certificates to trust; empty trusts the system's."""


@dataclass(frozen=True, slots=True)
class ServiceTarget:
    """What is exposed."""

    host: str
    port: int
    tls: str = "off"
    """off; insecure, encrypted without looking at the certificate; or verify."""


@dataclass(frozen=True, slots=True)
class TunnelOptions:
    """Everything a tunnel is told."""

    app: str
    service: ServiceTarget
    relays: tuple[RelayEndpoint, ...]
    group: str = ""
    pod: str = ""
    """The pod's uid: which tunnel of the group this is."""
    key: bytes = field(default=b"", repr=False)
    """The seed of the key that relays of Portal's own protocol know it by; empty makes one."""
    admin: tuple[str, int] = (ADMIN_ADDRESS, ADMIN_PORT)
    limits: RequestRates | None = None
    """How many requests the relay is to let through."""
    drain: float = DRAIN_SECONDS
    resolve: Mapping[str, str] = field(default_factory=dict)
    """Where a host:port really is, in place of asking a nameserver."""


class _Named(msgspec.Struct, frozen=True):
    name: str
    url: str


def parse(arguments: Sequence[str], environ: Mapping[str, str] = os.environ) -> TunnelOptions:
    """The options of a command line and an environment; ends the program if they are wrong."""
    parser = _parser(environ)
    given = parser.parse_args(arguments)
    urls = [url for each in given.relay for url in each.split(",") if url]
    try:
        relays, key = _relays(urls, environ), _key(environ.get("PORTAL_KEY", ""))
        limits = _limits(environ.get("PORTAL_RATE_LIMITS", ""))
    except ValueError as error:
        parser.error(str(error))
    tls = environ.get("PORTAL_TARGET_TLS") or "off"
    if tls not in TLS_MODES:
        parser.error(f"PORTAL_TARGET_TLS is {tls!r}, not one of {', '.join(TLS_MODES)}")
    return TunnelOptions(
        app=given.name,
        service=ServiceTarget(given.host, given.port, tls),
        relays=relays,
        group=environ.get("PORTAL_GROUP") or given.name,
        pod=environ.get("POD_UID", ""),
        key=key,
        admin=given.admin_addr,
        limits=limits,
        drain=given.drain,
        resolve=_resolve(environ.get("PORTAL_RESOLVE", "")),
    )


def _relays(urls: Sequence[str], environ: Mapping[str, str]) -> tuple[RelayEndpoint, ...]:
    named = _named(environ.get("PORTAL_RELAYS", "")) or _by_host(urls)
    if not named:
        raise ValueError("no relay is given: --relay wss://relay.example.com/relay")
    for each in named:
        if urlsplit(each.url).scheme not in _SCHEMES or not urlsplit(each.url).hostname:
            raise ValueError(f"relay {each.name} has a URL that is none: wss://HOST/relay")
    return tuple(
        RelayEndpoint(
            each.name, each.url, environ.get(f"PORTAL_TOKEN_{at}", ""), _authority(at, environ)
        )
        for at, each in enumerate(named)
    )


def _key(text: str) -> bytes:
    try:
        return read_seed(text) if text else b""
    except ValueError as error:
        raise ValueError(f"PORTAL_KEY is no key: {error}") from None


def _limits(text: str) -> RequestRates | None:
    try:
        return decode_json(text, RequestRates) if text else None
    except MalformedInput as error:
        raise ValueError(f"PORTAL_RATE_LIMITS are no limits: {error}") from None


def _named(text: str) -> list[_Named]:
    try:
        return decode_json(text, list[_Named]) if text else []
    except MalformedInput as error:
        raise ValueError(f"PORTAL_RELAYS is no list of names and URLs: {error}") from None


def _authority(at: int, environ: Mapping[str, str]) -> str:
    folder, shared = environ.get("PORTAL_CA_DIR", ""), environ.get("PORTAL_CA_FILE", "")
    if folder:
        own = pod_path(f"{folder}/{at}.crt", environ)
        if own.exists():
            return str(own)
    return str(pod_path(shared, environ)) if shared else ""


def _by_host(urls: Sequence[str]) -> list[_Named]:
    """Relays that nobody named: by their hosts, with ports and paths where these are the same."""
    once = list(dict.fromkeys(urls))
    hosts = Counter(urlsplit(url).hostname for url in once)
    return [_Named(_host_name(url, hosts[urlsplit(url).hostname] == 1), url) for url in once]


def _host_name(url: str, alone: bool) -> str:
    parts = urlsplit(url)
    return (parts.hostname or url) if alone else f"{parts.netloc}{parts.path}"


def _resolve(text: str) -> dict[str, str]:
    pairs = (each.partition("=") for each in text.split(",") if "=" in each)
    return {host.lower(): address for host, _, address in pairs}


def _parser(environ: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="quintant agent tunnel", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", choices=["expose"])
    parser.add_argument("--name", required=True, help="the name visitors reach it by")
    parser.add_argument("--host", required=True, help="where the Service is")
    parser.add_argument("--port", required=True, type=int)
    parser.add_argument("--relay", action="append", default=[], metavar="URL")
    parser.add_argument("--drain", type=float, default=DRAIN_SECONDS, metavar="SECONDS")
    address = environ.get("POD_IP") or environ.get("QUINTANT_POD_IP") or ADMIN_ADDRESS
    admin = (address, ADMIN_PORT)
    parser.add_argument("--admin-addr", default=admin, type=_bind_address, metavar="HOST:PORT")
    return parser


def _bind_address(text: str) -> tuple[str, int]:
    found = _BIND.fullmatch(text)
    if found is None or int(found[3]) > _HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no address such as 127.0.0.1:{ADMIN_PORT}")
    return found[1] or found[2], int(found[3])
