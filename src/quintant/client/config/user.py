"""Who we are to an API server, as a kubeconfig says it, checked and with its paths resolved.

What is made of it at run time, tokens that are read again and plugins that are run, is in
quintant.client.config.tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from quintant.client.config.kubeconfig import NOTHING, ClusterEntry, EntryOrigin, UserEntry
from quintant.client.config.tls import Pem
from quintant.keys.sensitive import Sensitive

# The two versions of the credential document; v1 wants an interactiveMode, v1beta1 has a default.
EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
INTERACTIVE = ("Never", "IfAvailable", "Always")
# The name under which a cluster's extensions hold what is meant for its plugin.
EXEC_EXTENSION = "client.authentication.k8s.io/exec"


class Impersonate(Struct, frozen=True):
    """Another user to act as; the server checks that we may."""

    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Plugin(Struct, frozen=True):
    """A program that prints credentials: how to call it, and what to tell it."""

    command: str
    version: str
    args: tuple[str, ...] = ()
    env: Mapping[str, Sensitive[str]] = field(default_factory=dict)
    interactive: str = "Never"
    hint: str = ""
    """How to install the program, shown when it is missing."""
    provide_cluster_info: bool = False
    """Whether KUBERNETES_EXEC_INFO describes the cluster."""
    extension: Any = None
    """What the cluster entry holds for the plugin."""


class AuthInfo(Struct, frozen=True):
    """Who we are: of several credentials, the first of token file, token, password and plugin
    counts; a certificate is shown beside it.
    """

    token_file: Path | None = None
    token: Sensitive[str] = NOTHING
    username: str = ""
    password: Sensitive[str] = NOTHING
    plugin: Plugin | None = None
    certificate: Pem | None = None
    key: Pem | None = None
    impersonate: Impersonate = field(default_factory=Impersonate)


def auth_info_of(user: EntryOrigin[UserEntry], cluster: EntryOrigin[ClusterEntry]) -> AuthInfo:
    """A user entry, checked; ConfigError names the field that is wrong."""
    entry = user.entry
    certificate = user.pem(
        "client-certificate", entry.client_certificate, entry.client_certificate_data
    )
    key = user.pem("client-key", entry.client_key, entry.client_key_data)
    if (certificate is None) != (key is None):
        missing = "client-key" if certificate else "client-certificate"
        raise user.config_error(
            missing, "it is missing, and certificate and key only work together"
        )
    if entry.auth_provider is not None and not entry.exec:
        raise user.config_error("auth-provider", "Kubernetes no longer has it", "an exec plugin")
    return AuthInfo(
        token_file=user.resolve(entry.token_file) if entry.token_file else None,
        token=entry.token,
        username=entry.username,
        password=entry.password,
        plugin=_plugin(user, cluster),
        certificate=certificate,
        key=key,
        impersonate=_impersonate(user),
    )


def _impersonate(user: EntryOrigin[UserEntry]) -> Impersonate:
    entry = user.entry
    others = entry.impersonate_uid or entry.impersonate_groups or entry.impersonate_extra
    if others and not entry.impersonate:
        raise user.config_error("as", "as-uid, as-groups and as-user-extra need a user to act as")
    return Impersonate(
        entry.impersonate, entry.impersonate_uid, entry.impersonate_groups, entry.impersonate_extra
    )


def _plugin(user: EntryOrigin[UserEntry], cluster: EntryOrigin[ClusterEntry]) -> Plugin | None:
    entry = user.entry.exec
    if entry is None:
        return None
    if entry.api_version not in EXEC_VERSIONS:
        raise user.config_error("exec.apiVersion", f"it must be one of {', '.join(EXEC_VERSIONS)}")
    mode = entry.interactive_mode or ("" if entry.api_version.endswith("/v1") else "IfAvailable")
    if mode not in INTERACTIVE:
        raise user.config_error(
            "exec.interactiveMode", f"it must be one of {', '.join(INTERACTIVE)}"
        )
    if not entry.command:
        raise user.config_error("exec.command", "it is empty")
    # As in a shell, a command with a slash is a path; kubectl means it from the file's directory.
    command = str(user.resolve(entry.command)) if "/" in entry.command else entry.command
    given = [item.extension for item in cluster.entry.extensions if item.name == EXEC_EXTENSION]
    return Plugin(
        command=command,
        version=entry.api_version,
        args=entry.args,
        env={item.name: item.value for item in entry.env},
        interactive=mode,
        hint=entry.install_hint,
        provide_cluster_info=entry.provide_cluster_info,
        extension=given[0] if given else None,
    )
