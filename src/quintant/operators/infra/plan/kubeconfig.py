"""What a provider's output `kubeconfig` is worth: there, not there yet, or not to be used. Pure.

It comes from machines that nobody vouches for, and is used with this program's own network: so it
may name a server and hold credentials, and nothing else. Nothing in it is run, no file is read, and
no server is called that only machines themselves should call. It may be text or an object, each of
them inside one `msg`, as a debug task of Ansible leaves it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from quintant.core import yaml
from quintant.core.errors import ConfigError

LARGEST = 1024 * 1024
"""Bytes; a Secret holds no more."""
OUTPUT = "kubeconfig"
MISSING = "KubeconfigMissing"
INVALID = "KubeconfigInvalid"
_FILES = ("client-certificate", "client-key", "certificate-authority", "tokenFile")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\.?")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
_ABSENT = ("none", "null", "")
"""Hosts that a template's `concat` makes of an address that is not known yet."""


class Kubeconfig(NamedTuple):
    """A kubeconfig that may be used, and its server."""

    text: str
    server: str


class NoKubeconfig(NamedTuple):
    """Why there is none; `reason` says whether waiting may help."""

    reason: str
    message: str

    @property
    def missing(self) -> bool:
        """Whether it may still come."""
        return self.reason == MISSING


def kubeconfig_of(
    outputs: Mapping[str, Any], *, insecure: bool = False
) -> Kubeconfig | NoKubeconfig:
    """The kubeconfig among the outputs of an infrastructure."""
    value = _unwrapped(outputs.get(OUTPUT))
    if value is None or value == "" or value == {}:
        return NoKubeconfig(MISSING, f"the output {OUTPUT} is empty so far")
    if isinstance(value, str):
        if len(value.encode()) > LARGEST:
            return _refused("it is larger than 1 MiB")
        return check(value, insecure=insecure)
    if isinstance(value, dict):
        text = msgspec.json.encode(value)
        return _refused("it is larger than 1 MiB") if len(text) > LARGEST else check(
            text.decode(), insecure=insecure
        )  # fmt: skip
    return _refused(f"the output is neither text nor an object, but {type(value).__name__}")


def check(text: str, *, insecure: bool = False) -> Kubeconfig | NoKubeconfig:
    """A kubeconfig's text, if it may be used."""
    document = _read(text)
    if not isinstance(document, dict):
        return _refused("it is no YAML document with clusters, users and contexts")
    parts = {name: _entries(document, name) for name in ("clusters", "users", "contexts")}
    if not any(parts.values()):
        return NoKubeconfig(MISSING, "it has no clusters, users and contexts so far")
    for name, entries in parts.items():
        if len(entries) != 1:
            return _refused(f"it has {len(entries)} {name}, and may have one")
    cluster, user = parts["clusters"][0], parts["users"][0]
    server = str(cluster.get("server") or "")
    if said := _user_fault(user) or _cluster_fault(cluster, insecure):
        return _refused(said)
    return _server(server) or Kubeconfig(text, server)


def _unwrapped(value: Any) -> Any:
    """What is inside one `msg`, and what a text of JSON holds."""
    for _ in range(2):
        if isinstance(value, str) and value.lstrip().startswith("{"):
            try:
                value = msgspec.json.decode(value)
            except msgspec.DecodeError:
                return value
        if isinstance(value, dict) and list(value) == ["msg"]:
            value = value["msg"]
        else:
            break
    return value


def _read(text: str) -> Any:
    try:
        return yaml.load(text, "the kubeconfig")
    except (ConfigError, ValueError):
        return None


def _entries(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The entries of a list of a kubeconfig, without their names."""
    found, inner = document.get(name), name.removesuffix("s")
    if not isinstance(found, list):
        return []
    held = [each.get(inner) if isinstance(each, dict) else None for each in found]
    return [each if isinstance(each, dict) else {} for each in held]


def _user_fault(user: Mapping[str, Any]) -> str:
    if user.get("exec") is not None:
        return "its user starts a program (exec), and none is started"
    if user.get("auth-provider") is not None:
        return "its user needs a program (auth-provider), and none is started"
    return _file_fault(user)


def _cluster_fault(cluster: Mapping[str, Any], insecure: bool) -> str:
    if cluster.get("proxy-url"):
        return "it names a proxy (proxy-url)"
    if cluster.get("insecure-skip-tls-verify") and not insecure:
        return (
            "it does not check the server's certificate (insecure-skip-tls-verify); if that is"
            " meant, set spec.observer.insecureSkipTLSVerify"
        )
    return _file_fault(cluster)


def _file_fault(entry: Mapping[str, Any]) -> str:
    for name in _FILES:
        if entry.get(name):
            return f"it names a file ({name}), and files of this machine are not read"
    return ""


def _server(server: str) -> NoKubeconfig | None:
    """What is wrong with an address."""
    try:
        parts = urlsplit(server)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return _refused("its server is no address")
    if host.lower() in _ABSENT:
        return NoKubeconfig(MISSING, "its server has no address so far")
    if parts.scheme != "https":
        return _refused("its server is not an https:// address")
    if parts.username is not None or parts.query or parts.fragment:
        return _refused("its server's address has more than host, port and path")
    return _host_fault(host)


def _host_fault(host: str) -> NoKubeconfig | None:
    try:
        address = ip_address(host)
    except ValueError:
        if _HOST.fullmatch(host) is None:
            return NoKubeconfig(MISSING, "its server has no host name so far")
        # Resolvers read 2852039166 and 0xa9fea9fe as addresses, too.
        disguised = _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2])
        return _refused("its server is a number in disguise") if disguised else None
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return _refused(
            "its server is a link-local, multicast or unspecified address, which is never called"
        )
    return None


def _refused(why: str) -> NoKubeconfig:
    return NoKubeconfig(INVALID, f"the kubeconfig cannot be used: {why}")
