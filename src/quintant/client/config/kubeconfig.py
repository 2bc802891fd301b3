"""Kubeconfig files as they are written: reading, checking and merging, before any choice is made.

`Config` (quintant.client.config.config) picks one context out of what this module returns. Files
are merged as kubectl does it: the first file that names a cluster, a user or a context defines it
whole, and the first one with a current-context sets it. Every entry remembers its file, since
relative paths inside it are meant from there.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct, field

from quintant.client.config.tls import Pem
from quintant.core import yaml
from quintant.core.errors import ConfigError
from quintant.keys.sensitive import Sensitive

E = TypeVar("E")
N = TypeVar("N", bound="_Named")
NOTHING = Sensitive("")


class _Entry(msgspec.Struct, frozen=True, rename="kebab"):
    """A piece of a kubeconfig; its fields are spelled with hyphens unless said otherwise."""


class _Named(msgspec.Struct, frozen=True):
    name: str


class Extension(_Named, frozen=True):
    """Something a tool hung onto a cluster; exec plugins are handed theirs."""

    extension: Any = None


class ClusterEntry(_Entry, frozen=True):
    """Where a server is and how it is recognised."""

    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: Sensitive[str] = NOTHING
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    extensions: tuple[Extension, ...] = ()


class ExecVariable(_Named, frozen=True):
    """An environment variable for an exec plugin; its value may be a secret."""

    value: Sensitive[str] = NOTHING


class ExecEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A program that prints credentials."""

    command: str
    api_version: str = ""
    args: tuple[str, ...] = ()
    env: tuple[ExecVariable, ...] = ()
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class UserEntry(_Entry, frozen=True):
    """Who we are to the server."""

    client_certificate: str = ""
    client_certificate_data: Sensitive[str] = NOTHING
    client_key: str = ""
    client_key_data: Sensitive[str] = NOTHING
    token: Sensitive[str] = NOTHING
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: Sensitive[str] = NOTHING
    exec: ExecEntry | None = None
    auth_provider: Mapping[str, Any] | None = None
    impersonate: str = msgspec.field(default="", name="as")
    impersonate_uid: str = msgspec.field(default="", name="as-uid")
    impersonate_groups: tuple[str, ...] = msgspec.field(default=(), name="as-groups")
    impersonate_extra: Mapping[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict, name="as-user-extra"
    )


class ContextEntry(_Entry, frozen=True):
    """A cluster, a user and a namespace, by name."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedCluster(_Named, frozen=True):
    cluster: ClusterEntry = ClusterEntry()


class _NamedUser(_Named, frozen=True):
    user: UserEntry = UserEntry()


class _NamedContext(_Named, frozen=True):
    context: ContextEntry = ContextEntry()


class _File(_Entry, frozen=True):
    clusters: tuple[_NamedCluster, ...] = ()
    users: tuple[_NamedUser, ...] = ()
    contexts: tuple[_NamedContext, ...] = ()
    current_context: str = ""


class EntryOrigin(Struct, Generic[E], frozen=True):
    """An entry with its kind (cluster, user, context), its name, and the file it stands in."""

    kind: str
    name: str
    file: Path
    entry: E

    def resolve(self, path: str) -> Path:
        """A path of this entry, meant from the directory of its file."""
        return self.file.parent.absolute() / path

    def config_error(self, field: str, why: str, hint: str = "") -> ConfigError:
        """The error to raise about a field of this entry."""
        what = f'cannot use {field} of {self.kind} "{self.name}" in {self.file}'
        return ConfigError(what, because=why, hint=hint)

    def pem(self, field: str, path: str, data: Sensitive[str]) -> Pem | None:
        """A certificate or key that may be given as `field` or, stronger, as `field`-data."""
        if not data:
            return Pem(field, path=self.resolve(path)) if path else None
        try:
            plain = base64.b64decode("".join(data.reveal().split()), validate=True)
        except (binascii.Error, ValueError):
            raise self.config_error(f"{field}-data", "it is not base64") from None
        return Pem(f"{field}-data", Sensitive(plain))


class Kubeconfig(Struct, frozen=True):
    """One or several kubeconfig files, merged."""

    files: tuple[Path, ...] = ()
    clusters: Mapping[str, EntryOrigin[ClusterEntry]] = field(default_factory=dict)
    users: Mapping[str, EntryOrigin[UserEntry]] = field(default_factory=dict)
    contexts: Mapping[str, EntryOrigin[ContextEntry]] = field(default_factory=dict)
    current: str = ""


def read_kubeconfig(path: Path) -> Kubeconfig:
    """One file; ConfigError names the file, and the field that is wrong."""
    try:
        return parse_kubeconfig(path.read_bytes(), path)
    except OSError as error:
        raise ConfigError(f"cannot read kubeconfig {path}", because=str(error.strerror)) from None


def parse_kubeconfig(text: bytes, path: Path) -> Kubeconfig:
    """The text of one file; ConfigError names the file, and the field that is wrong."""
    plain = yaml.load(text, f"kubeconfig {path}")
    try:
        file = msgspec.convert(_without_nulls(plain or {}), _File, dec_hook=_hide)
        return Kubeconfig(
            (path,),
            {
                name: EntryOrigin("cluster", name, path, item.cluster)
                for name, item in _unique(file.clusters)
            },
            {
                name: EntryOrigin("user", name, path, item.user)
                for name, item in _unique(file.users)
            },
            {
                name: EntryOrigin("context", name, path, item.context)
                for name, item in _unique(file.contexts)
            },
            file.current_context,
        )
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"cannot use kubeconfig {path}",
            because=str(error),
            hint="kubectl config view, to see what kubectl makes of the file",
        ) from None


def merge_kubeconfigs(configs: Iterable[Kubeconfig]) -> Kubeconfig:
    """Several files as one: what an earlier one says stands."""
    merged = Kubeconfig()
    for config in configs:
        merged = msgspec.structs.replace(
            merged,
            files=merged.files + config.files,
            clusters={**config.clusters, **merged.clusters},
            users={**config.users, **merged.users},
            contexts={**config.contexts, **merged.contexts},
            current=merged.current or config.current,
        )
    return merged


def _unique(items: Iterable[N]) -> Iterator[tuple[str, N]]:
    seen: set[str] = set()
    for item in items:
        if item.name in seen:
            raise msgspec.ValidationError(f'the name "{item.name}" is given twice')
        seen.add(item.name)
        yield item.name, item


def _hide(kind: type, value: Any) -> Sensitive[str]:
    if not isinstance(value, str):
        raise TypeError(f"Expected `str`, got `{type(value).__name__}`")  # msgspec adds the path
    return Sensitive(value)


def _without_nulls(plain: Any) -> Any:
    """`clusters:` with nothing behind it means none, as Go reads it."""
    if isinstance(plain, dict):
        return {key: _without_nulls(value) for key, value in plain.items() if value is not None}
    if isinstance(plain, list):
        return [_without_nulls(item) for item in plain]
    return plain
