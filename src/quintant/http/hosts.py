"""Which names a server on loopback answers to: none that a web page could point at it.

A browser lets a page talk to the host it came from, and the owner of a domain decides what address
that is: tomorrow it may be 127.0.0.1 (DNS rebinding). The Host of such a request still is the
page's own. So these are answered, and nothing else:

    127.0.0.1, [::1], any address      an address is not looked up
    localhost, app.relay.localhost     never asked of a DNS server
    web                                one word: no domain that can be registered
    web.shop.svc, web.shop.svc.cluster.local, 10-0-0-1.shop.pod.cluster.local
    what the program was given

The Origin of a request obeys the same rule: a page may send a POST anywhere, but not hide whence.
A GET has none. But browsers say of every request whether another site's page made it, by a field
that no page can set (`Sec-Fetch-Site`): such a one is refused, also where a user follows a link.
Only the standard library is loaded.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence

CLUSTER_DOMAIN = "cluster.local"
FORBIDDEN = 403
READING = ("GET", "HEAD")
"""Methods by which a server that only shows may be asked from anywhere."""
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]*)(?::[0-9]*)?")
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^/?#@]*)")
_SUFFIXES = (".localhost", ".svc", f".svc.{CLUSTER_DOMAIN}", f".pod.{CLUSTER_DOMAIN}")
_MAPPED = "::ffff:"
"""Before an IPv4 address that is written as one of IPv6."""


def on_loopback(local: object) -> bool:
    """Whether a connection came in over loopback, by its `sockname`."""
    if not isinstance(local, tuple):
        return False
    address = str(local[0]).removeprefix(_MAPPED)
    return address == "::1" or (address.startswith("127.") and _is_address(address))


def allowed_host(host: str, more: Sequence[str] = ()) -> bool:
    """Whether a Host, with or without a port, is a name of this machine or of a cluster."""
    found = _AUTHORITY.fullmatch(host)
    if found is None:
        return False
    name = found.group(1).lower().removesuffix(".")
    if name.startswith("[") or _is_address(name):
        return True
    return "." not in name or name.endswith(_SUFFIXES) or name in more


def allowed_origin(origin: str, more: Sequence[str] = ()) -> bool:
    """Whether a page of this origin may ask; `null`, of pages that hide theirs, may not."""
    found = _ORIGIN.fullmatch(origin)
    return found is not None and allowed_host(found.group(1), more)


def foreign(hosts: Sequence[str], origins: Sequence[str], more: Sequence[str] = ()) -> str:
    """Why a request that came in over loopback is refused; empty if it is not."""
    if not all(allowed_host(each, more) for each in hosts):
        return "the Host is no name of this machine or of a cluster; ask by address or localhost"
    if not all(allowed_origin(each, more) for each in origins):
        return "a web page from elsewhere may not ask here"
    return ""


def from_another_site(sites: Sequence[str], method: str, shows_only: bool) -> str:
    """Why a request with these `Sec-Fetch-Site` is refused; empty if it is not.

    A server that only shows lets pages of others link to it.
    """
    if not any(each.strip().lower() == "cross-site" for each in sites):
        return ""
    if shows_only and method in READING:
        return ""
    return "a page of another site may not ask here; type the address, or ask without a browser"


def _is_address(name: str) -> bool:
    try:
        socket.inet_pton(socket.AF_INET, name)
    except (OSError, ValueError):
        return False
    return True
