"""A kubeconfig that a stranger wrote, such as one in a Secret: what of it is taken.

A user who may write that Secret must not make this program start a program, read a file, send its
requests through a proxy, trust an authority, or call what only this machine reaches. So a server,
an authority, and credentials that stand in the text are taken, and everything else is refused. What
is said about a refusal never holds what the text holds, names of entries excepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from quintant.client.config import kubeconfig
from quintant.client.config.kubeconfig import ClusterEntry, EntryOrigin, Kubeconfig, UserEntry
from quintant.core.errors import ConfigError
from quintant.core.text import one_line
from quintant.core.yaml import YamlError
from quintant.http.special_addresses import special_kind
from quintant.wire.foreign import MalformedInput, decode_yaml

# Bytes: a kubeconfig has three certificates of a few kilobytes; a Secret could hold a mebibyte.
LONGEST = 256 * 1024
LONGEST_NAME = 253
_MINIFY = "kubectl config view --minify --flatten --raw, which writes one context and no files"


def parse_untrusted(data: bytes, source: str) -> Kubeconfig:
    """What a text says, before any of it is used; ConfigError if it is no kubeconfig."""
    if len(data) > LONGEST:
        raise ConfigError(
            f"cannot use the kubeconfig in {source}",
            because=f"it has {len(data)} bytes, and at most {LONGEST} are read",
            hint=_MINIFY,
        )
    try:
        decode_yaml(data, most=LONGEST, scalars_are_text=True)
        found = kubeconfig.parse_kubeconfig(data, Path(source))
    except MalformedInput as error:
        raise ConfigError(
            f"cannot use the kubeconfig in {source}", because=f"it cannot be read: {error}"
        ) from None
    except YamlError as error:  # its words quote the text
        suffix = f" in line {error.line}" if error.line else ""
        raise ConfigError(
            f"cannot use the kubeconfig in {source}", because=f"it is not YAML{suffix}"
        ) from None
    # Errors tell these names, and end in statuses and logs.
    for name in (*found.contexts, *found.clusters, *found.users):
        if len(name) > LONGEST_NAME or not name.isprintable():
            raise ConfigError(
                f"cannot use the kubeconfig in {source}",
                because=f"a name in it is longer than {LONGEST_NAME} characters, or no line",
            )
    return found


def chosen_context(config: Kubeconfig, source: str, wanted: str | None) -> str:
    """The context that is meant: the one that is asked for, or the only one there is."""
    if wanted is not None or len(config.contexts) == 1:
        return wanted if wanted is not None else next(iter(config.contexts))
    count, names = len(config.contexts), one_line(", ".join(sorted(config.contexts)))
    raise ConfigError(
        f"cannot choose a cluster from the kubeconfig in {source}",
        because=f"it has {count} contexts: {names}" if names else "it has no context",
        hint=f"name one of them, or {_MINIFY}" if names else _MINIFY,
    )


def require_harmless(
    cluster: EntryOrigin[ClusterEntry], user: EntryOrigin[UserEntry], *, insecure: bool
) -> None:
    """ConfigError names the first field that asks for more than a connection to a server."""
    for origin, field, why in (*_user_refusals(user), *_cluster_refusals(cluster, insecure)):
        raise origin.config_error(field, why, _MINIFY if "file" in why else "")


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
    if kind := special_kind(host):
        return f"its address is {kind}, which is not allowed"
    return ""
