"""A kubeconfig that somebody else wrote, such as one in a Secret: what of it is taken.

Whoever may write that Secret must not make this program start a program, read a file, send its
requests through somebody, trust anybody, or call on what only this machine can reach. So a server,
an authority, and credentials that stand in the text are taken, and everything else is refused. What
is said about a refusal never holds what the text holds, names of entries excepted.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from quintant.client.config import kubeconfig
from quintant.client.config.kubeconfig import ClusterEntry, EntryOrigin, Kubeconfig, UserEntry
from quintant.core.errors import ConfigError
from quintant.core.text import one_line
from quintant.core.yaml import YamlError

# Bytes: a kubeconfig has three certificates of a few kilobytes; a Secret could hold a mebibyte.
LONGEST = 256 * 1024
LONGEST_NAME = 253
# Where NAT64 puts addresses of the old kind.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_MINIFY = "kubectl config view --minify --flatten --raw, which writes one context and no files"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def parse_untrusted(data: bytes, source: str) -> Kubeconfig:
    """What a text says, before any of it is used; ConfigError if it is no kubeconfig."""
    if len(data) > LONGEST:
        raise ConfigError(
            f"cannot use the kubeconfig in {source}",
            because=f"it has {len(data)} bytes, and at most {LONGEST} are read",
            hint=_MINIFY,
        )
    try:
        found = kubeconfig.parse_kubeconfig(data, Path(source))
    except YamlError as error:  # its words quote the text
        where = f" in line {error.line}" if error.line else ""
        raise ConfigError(
            f"cannot use the kubeconfig in {source}", because=f"it is not YAML{where}"
        ) from None
    # Errors tell these names, and end in statuses and logs.
    for name in (*found.contexts, *found.clusters, *found.users):
        if len(name) > LONGEST_NAME or not name.isprintable():
            raise ConfigError(
                f"cannot use the kubeconfig in {source}",
                because=f"a name in it is longer than {LONGEST_NAME} characters, or no line",
            )
    return found


def chosen_context(found: Kubeconfig, source: str, wanted: str | None) -> str:
    """The context that is meant: the one that is asked for, or the only one there is."""
    if wanted is not None or len(found.contexts) == 1:
        return wanted if wanted is not None else next(iter(found.contexts))
    names = one_line(", ".join(sorted(found.contexts)))
    raise ConfigError(
        f"cannot choose a cluster from the kubeconfig in {source}",
        because=f"it has {len(found.contexts)} contexts: {names}" if names else "it has no context",
        hint=f"name one of them, or {_MINIFY}" if names else _MINIFY,
    )


def require_harmless(
    cluster: EntryOrigin[ClusterEntry], user: EntryOrigin[UserEntry], *, insecure: bool
) -> None:
    """ConfigError names the first field that asks for more than a connection to a server."""
    for origin, field, why in (*_user_refusals(user), *_cluster_refusals(cluster, insecure)):
        raise origin.config_error(field, why, _MINIFY if "file" in why else "")


def is_link_local(address: str) -> bool:
    """Whether an address, in any of its spellings, is one that only this machine's link has."""
    found = _parsed(address.partition("%")[0])
    return found is not None and any(one.is_link_local for one in _meant(found))


Refusal = tuple[EntryOrigin[UserEntry] | EntryOrigin[ClusterEntry], str, str]


def _user_refusals(user: EntryOrigin[UserEntry]) -> Iterator[Refusal]:
    entry = user.entry
    if entry.exec is not None:
        yield user, "exec", "it would start a program here"
    if entry.auth_provider is not None:
        yield user, "auth-provider", "it would start a program here"
    for field, path in (
        ("client-certificate", entry.client_certificate),
        ("client-key", entry.client_key),
        ("tokenFile", entry.token_file),
    ):
        if path:
            yield user, field, "it names a file, and this program's files are not its own"


def _cluster_refusals(cluster: EntryOrigin[ClusterEntry], insecure: bool) -> Iterator[Refusal]:
    entry = cluster.entry
    if entry.certificate_authority:
        why = "it names a file, and this program's files are not its own"
        yield cluster, "certificate-authority", why
    if entry.proxy_url:
        yield cluster, "proxy-url", "it would let somebody else see the requests"
    if entry.insecure_skip_tls_verify and not insecure:
        yield cluster, "insecure-skip-tls-verify", "the server could be anybody"
    if why := _server_refusal(entry.server, insecure):
        yield cluster, "server", why


def _server_refusal(server: str, insecure: bool) -> str:
    try:
        parts = urlsplit(server)
        host = parts.hostname or ""
    except ValueError:
        return "it is not an http:// or https:// address"
    if parts.scheme != "https" and not insecure:
        return "it is not an https:// address"
    if parts.username is not None or parts.query or parts.fragment:
        return "it holds more than a host, a port and a path"
    if is_link_local(host):
        return "it is a link-local address, where clouds answer their own machines"
    return ""


def _parsed(address: str) -> Address | None:
    try:
        return ipaddress.ip_address(address)
    except ValueError:
        pass
    try:  # 0xa9fea9fe, 2852039166, 169.254.43518: what the resolver takes for an address
        return ipaddress.IPv4Address(socket.inet_aton(address)) if address else None
    except (OSError, ValueError):
        return None


def _meant(address: Address) -> Iterator[Address]:
    """An address, and the one of the old kind that is inside it."""
    yield address
    if isinstance(address, ipaddress.IPv6Address):
        inside = (address.ipv4_mapped, address.sixtofour)
        yield from (one for one in inside if one is not None)
        if address in _NAT64:
            yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
