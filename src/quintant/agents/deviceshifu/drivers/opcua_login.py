"""Who the agent is to an OPC UA server, from the device and its Secret."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple


class OpcUaLogin(NamedTuple):
    """Who the agent is to a server. It holds a secret: it has no repr."""

    username: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return "OpcUaLogin(...)"


def opcua_login(settings: Mapping[str, Any], secret: Path | None) -> OpcUaLogin:
    """The login of an EdgeDevice; a mounted password wins, where that is meant for it."""
    if settings.get("AuthenticationMode") != "UserName":
        return OpcUaLogin()
    password = str(settings.get("Password") or "")
    with suppress(OSError, UnicodeDecodeError):
        password = password if secret is None else (secret / "password").read_text().rstrip("\n")
    return OpcUaLogin(str(settings.get("Username") or ""), password)
