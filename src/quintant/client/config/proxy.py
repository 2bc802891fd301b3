"""Whether a proxy stands between us and the API server: proxy-url, else the usual variables.

The rules are those of Go's HTTP client, since they are kubectl's: HTTPS_PROXY or HTTP_PROXY by the
server's scheme, in either case of letters, unless NO_PROXY names the server; a server on this
machine is never asked for through a proxy unless the kubeconfig itself says so.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from quintant.core.errors import ConfigError
from quintant.keys.sensitive import Sensitive

SCHEMES = ("http", "https")


def choose_proxy(server: str, given: str, environ: Mapping[str, str]) -> Sensitive[str] | None:
    """The proxy to use for a server; hidden, since its address may hold a password."""
    if given:
        return _checked(given, "proxy-url")
    parts = urlsplit(server)
    name = f"{parts.scheme}_proxy"
    found = environ.get(name.upper()) or environ.get(name)
    if not found or _bypassed(parts.hostname or "", parts.port, environ):
        return None
    return _checked(found if "://" in found else f"http://{found}", name.upper())


def _checked(address: str, field: str) -> Sensitive[str]:
    parts = urlsplit(address)
    if parts.scheme in SCHEMES and parts.hostname:
        return Sensitive(address)
    raise ConfigError(
        f"cannot use {field}",
        because=f'"{parts.scheme}" is not a kind of proxy we speak',
        hint="an http:// or https:// proxy that allows CONNECT; SOCKS is not supported",
    )


def _bypassed(host: str, port: int | None, environ: Mapping[str, str]) -> bool:
    address = _address(host)
    if host == "localhost" or (address and address.is_loopback):
        return True
    excepted = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    return any(_covers(item.strip().lower(), host, port) for item in excepted.split(","))


def _covers(item: str, host: str, port: int | None) -> bool:
    if item == "*":
        return True
    name, _, number = item.partition(":") if item.count(":") == 1 else (item, "", "")
    if number and number != str(port):
        return False
    try:
        network = ipaddress.ip_network(name, strict=False)
    except ValueError:
        return bool(name) and f".{host}".endswith(f".{name.removeprefix('*').lstrip('.')}")
    address = _address(host)
    return address is not None and address in network


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
