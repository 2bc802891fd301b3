"""Which API server to talk to, and as whom: a kubeconfig or a pod's service account, read once.

`Config.discover()` looks where kubectl looks. The result is a frozen value without open files: the
transport (quintant.client.http.transport) reads keys and tokens from it when it connects, and again
when they change. Whatever is secret in it is `Sensitive`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from quintant.client.config import kubeconfig, proxy, untrusted
from quintant.client.config.kubeconfig import (
    ClusterEntry,
    ContextEntry,
    EntryOrigin,
    Kubeconfig,
    UserEntry,
)
from quintant.client.config.pod_environment import ISOLATED, MOUNT_VARIABLE, SERVICE_ACCOUNT
from quintant.client.config.tls import Pem, TlsConfig
from quintant.client.config.user import AuthInfo, auth_info_of
from quintant.core.errors import ConfigError
from quintant.keys.sensitive import Sensitive


class Config(Struct, frozen=True):
    """An API server, how to recognise it, and who we are to it."""

    server: str
    namespace: str = "default"
    context: str = ""
    trust: TlsConfig = field(default_factory=TlsConfig)
    user: AuthInfo = field(default_factory=AuthInfo)
    proxy: Sensitive[str] | None = None
    untrusted: bool = False
    """Whether a stranger named the server: a name of it may not lead to a special address."""

    @classmethod
    def discover(
        cls, context: str | None = None, *, environ: Mapping[str, str] = os.environ
    ) -> Config:
        """What kubectl would use: the files in $KUBECONFIG, ~/.kube/config, or, in a pod, its
        service account. `context` picks another than the current one.
        """
        listed = [Path(name) for name in environ.get("KUBECONFIG", "").split(os.pathsep) if name]
        paths = listed or [Path(environ.get("HOME", "~")).expanduser() / ".kube" / "config"]
        found = [path for path in dict.fromkeys(paths) if path.exists()]
        if found:
            return cls.load(*found, context=context, environ=environ)
        if context is None and environ.get("KUBERNETES_SERVICE_HOST"):
            return cls.in_cluster(environ=environ)
        raise ConfigError(
            "cannot find a cluster",
            because=f"no such file: {', '.join(map(str, paths))}; and this is not a pod",
            hint="KUBECONFIG=<file>, or `quintant up` for a cluster of your own",
        )

    @classmethod
    def load(
        cls,
        *paths: str | Path,
        context: str | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> Config:
        """The current (or given) context of one or several kubeconfig files, merged."""
        merged = kubeconfig.merge_kubeconfigs(
            kubeconfig.read_kubeconfig(Path(path)) for path in paths
        )
        return cls._trusted(merged, context, environ)

    @classmethod
    def _trusted(
        cls, merged: Kubeconfig, context: str | None, environ: Mapping[str, str]
    ) -> Config:
        origin, cluster, user = _entries(merged, context)
        found = cls._of(origin, cluster, user, environ)
        if found.user.plugin is not None and environ.get(ISOLATED):
            raise user.config_error("exec", "a pod of the embedded cluster starts no login program")
        return found

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        *,
        source: str = "a text",
        context: str | None = None,
        insecure: bool = False,
        trusted: bool = False,
        environ: Mapping[str, str] = os.environ,
    ) -> Config:
        """A kubeconfig that a stranger wrote, such as one in a Secret; `source` names it.

        Exec plugins, auth providers, files, proxies, link-local servers, and several contexts
        without a choice are refused; http:// and insecure-skip-tls-verify without `insecure`. Only
        one that is `trusted`, since no stranger can have written it, may have them.
        """
        found = untrusted.parse_untrusted(data, source)
        if trusted:
            return cls._trusted(found, context, environ)
        name = untrusted.chosen_context(found, source, context)
        origin, cluster, user = _entries(found, name)
        untrusted.require_harmless(cluster, user, insecure=insecure)
        return replace(cls._of(origin, cluster, user, environ), untrusted=True)

    @classmethod
    def _of(
        cls,
        origin: EntryOrigin[ContextEntry],
        cluster: EntryOrigin[ClusterEntry],
        user: EntryOrigin[UserEntry],
        environ: Mapping[str, str],
    ) -> Config:
        server = _server(cluster)
        return cls(
            server=server,
            namespace=origin.entry.namespace or "default",
            context=origin.name,
            trust=_trust(cluster),
            user=auth_info_of(user, cluster),
            proxy=proxy.choose_proxy(server, cluster.entry.proxy_url, environ),
        )

    @classmethod
    def in_cluster(
        cls, *, mount: Path | None = None, environ: Mapping[str, str] = os.environ
    ) -> Config:
        """The service account of the pod we run in; `mount` is where its files are.

        Without one it is the folder in $QUINTANT_SERVICE_ACCOUNT, or the usual place.
        """
        mount = mount or Path(environ.get(MOUNT_VARIABLE) or SERVICE_ACCOUNT)
        host, port = (environ.get(f"KUBERNETES_SERVICE_{part}", "") for part in ("HOST", "PORT"))
        if not (host and port and (mount / "token").exists()):
            raise ConfigError(
                "cannot use a pod's service account",
                because=f"KUBERNETES_SERVICE_HOST, _PORT or {mount / 'token'} is missing",
                hint="automountServiceAccountToken: true in the pod, or a kubeconfig",
            )
        server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        authority = mount / "ca.crt"
        return cls(
            server=server,
            namespace=environ.get("POD_NAMESPACE") or _text(mount / "namespace") or "default",
            context="in-cluster",
            trust=TlsConfig(Pem("ca.crt", path=authority) if authority.exists() else None),
            user=AuthInfo(token_file=mount / "token"),
            proxy=proxy.choose_proxy(server, "", environ),
        )


def _entries(
    merged: Kubeconfig, context: str | None
) -> tuple[EntryOrigin[ContextEntry], EntryOrigin[ClusterEntry], EntryOrigin[UserEntry]]:
    origin = _context(merged, context)
    cluster = _named(merged.clusters, origin, "cluster", origin.entry.cluster)
    return origin, cluster, _named(merged.users, origin, "user", origin.entry.user)


def _context(merged: Kubeconfig, wanted: str | None) -> EntryOrigin[ContextEntry]:
    name = wanted if wanted is not None else merged.current
    files = ", ".join(map(str, merged.files))
    if not name:
        raise ConfigError(
            f"cannot choose a cluster from {files}",
            because="current-context is not set",
            hint=f"kubectl config use-context {next(iter(merged.contexts), 'NAME')}",
        )
    if name not in merged.contexts:
        known = ", ".join(sorted(merged.contexts)) or "none"
        raise ConfigError(
            f'cannot use context "{name}"', because=f"{files} has no such context", hint=known
        )
    return merged.contexts[name]


def _named(
    entries: Mapping[str, EntryOrigin[kubeconfig.E]],
    context: EntryOrigin[ContextEntry],
    kind: str,
    name: str,
) -> EntryOrigin[kubeconfig.E]:
    if name not in entries:
        raise ConfigError(
            f'cannot use context "{context.name}" of {context.file}',
            because=f'its {kind} "{name}" is not defined' if name else f"it names no {kind}",
            hint=f"{kind}s that are: {', '.join(sorted(entries)) or 'none'}",
        )
    return entries[name]


def _server(cluster: EntryOrigin[ClusterEntry]) -> str:
    text = cluster.entry.server
    server = text if "://" in text or not text else f"http://{text}"
    try:
        parts = urlsplit(server)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number
        usable = None
    if not usable:
        raise cluster.config_error("server", "it is not an http:// or https:// address")
    return server.rstrip("/")


def _trust(cluster: EntryOrigin[ClusterEntry]) -> TlsConfig:
    entry = cluster.entry
    authority = cluster.pem(
        "certificate-authority", entry.certificate_authority, entry.certificate_authority_data
    )
    return TlsConfig(authority, entry.insecure_skip_tls_verify, entry.tls_server_name)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
