"""What a tunnel of Portal Expose tells of itself: the document that its operator reads."""

from __future__ import annotations

from enum import StrEnum

import msgspec

VERSION = 1
ERROR_LENGTH = 256
"""Errors are cut to so many characters."""


class DialState(StrEnum):
    """How far the connection to a relay is."""

    CONNECTING = "Connecting"
    CONNECTED = "Connected"
    BACKOFF = "Backoff"


class RelayReport(msgspec.Struct, frozen=True, rename="camel"):
    """One connection. A state that a reader does not know is one that is not Connected."""

    name: str
    url: str
    state: str = DialState.CONNECTING
    since: str = ""
    last_error: str = ""
    close_code: int = 0
    """With which the relay ended the last connection; 0 if it did not."""
    attempts: int = 0
    rtt_ms: float = 0.0
    public_url: str = msgspec.field(default="", name="publicURL")


class ServiceReport(msgspec.Struct, frozen=True):
    """Whether the last connection to the Service was made."""

    reachable: bool = True
    error: str = ""


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """The whole document; a higher number is newer."""

    v: int
    seq: int
    pod: str = ""
    draining: bool = False
    admin_port: int = 0
    service: ServiceReport = ServiceReport()
    relays: tuple[RelayReport, ...] = ()
    visits: int = 0
    """Visitors that came since the program began."""
    observed_at: str = ""
