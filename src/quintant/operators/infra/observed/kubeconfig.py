"""What an output `kubeconfig` is worth: there, not there yet, or not to be used.

It comes from machines that are not trusted, so `Config.from_bytes` says what of it is taken. It
may be text or an object, each of them inside one `msg`, as a debug task of Ansible leaves it. An
address that the template did not know yet reads `None`: then it is waited for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from quintant.client.config.config import Config
from quintant.core.errors import ConfigError
from quintant.core.text import one_line
from quintant.wire.foreign import MalformedInput, decode_json, decode_yaml

OUTPUT = "kubeconfig"
MISSING = "KubeconfigMissing"
INVALID = "KubeconfigInvalid"
NO_ADDRESS = "its server has no address so far"
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\.?|[0-9A-Fa-f:.]+(%\w+)?")
_ABSENT = ("none", "null", "")
"""Hosts that a template's `concat` makes of an address that is not known yet."""


class UsableKubeconfig(NamedTuple):
    """A kubeconfig that may be used, and its server."""

    text: str
    server: str

    def __repr__(self) -> str:
        return f"Kubeconfig(server={self.server!r})"


class NoKubeconfig(NamedTuple):
    """Why there is none; the reason says whether waiting may help."""

    reason: str
    message: str

    @property
    def missing(self) -> bool:
        """Whether it may still come."""
        return self.reason == MISSING


def kubeconfig_of(
    outputs: Mapping[str, Any], *, insecure: bool = False
) -> UsableKubeconfig | NoKubeconfig:
    """The kubeconfig among the outputs of an infrastructure."""
    value = _unwrapped(outputs.get(OUTPUT))
    if value is None or value in ("", {}):
        return NoKubeconfig(MISSING, f"the output {OUTPUT} is empty so far")
    if isinstance(value, dict):
        value = msgspec.json.encode(value).decode()
    if not isinstance(value, str):
        return _refused(f"the output is neither text nor an object, but {type(value).__name__}")
    return checked(value, insecure=insecure)


def checked(text: str, *, insecure: bool = False) -> UsableKubeconfig | NoKubeconfig:
    """A kubeconfig's text, if it may be used."""
    try:
        config = Config.from_bytes(text.encode(), source="it", insecure=insecure)
    except ConfigError as error:
        return _absent(text) or _refused(error.because or error.what)
    host = urlsplit(config.server).hostname or ""
    if host.lower() in _ABSENT:
        return NoKubeconfig(MISSING, NO_ADDRESS)
    if not _NAME.fullmatch(host):
        return NoKubeconfig(MISSING, "its server has no host name so far")
    return UsableKubeconfig(text, config.server)


def _unwrapped(value: Any) -> Any:
    """What is inside one `msg`, and what a text of JSON holds."""
    for _ in range(2):
        if isinstance(value, str) and value.lstrip().startswith("{"):
            try:
                value = decode_json(value)
            except MalformedInput:
                return value
        if isinstance(value, dict) and list(value) == ["msg"]:
            value = value["msg"]
        else:
            break
    return value


def _absent(text: str) -> NoKubeconfig | None:
    """Whether the text is that of a kubeconfig whose parts are only to come."""
    try:
        document = decode_yaml(text)
    except MalformedInput:
        return None
    clusters = document.get("clusters") if isinstance(document, dict) else None
    if isinstance(document, dict) and not clusters:
        return NoKubeconfig(MISSING, "it names no cluster so far")
    first = clusters[0] if isinstance(clusters, list) else None
    entry = first.get("cluster") if isinstance(first, dict) else None
    server = entry.get("server") if isinstance(entry, dict) else None
    try:
        host = urlsplit(str(server or "")).hostname or ""
    except ValueError:
        return None
    if isinstance(entry, dict) and host.lower() in _ABSENT:
        return NoKubeconfig(MISSING, NO_ADDRESS)
    return None


def _refused(why: str) -> NoKubeconfig:
    return NoKubeconfig(INVALID, f"the kubeconfig cannot be used: {one_line(why)}")
