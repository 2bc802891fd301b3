"""APIVersionDiscovery: a group at a version that another server serves, as that server tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class RemoteVersion(Struct, frozen=True):
    """What is known of a group at a version that an extension server serves."""

    group: str
    version: str
    group_priority: int
    version_priority: int
    current: bool = False
    """Whether it could be looked at; what is known is from before, if it could not."""
    resources: tuple[Mapping[str, Any], ...] = ()
    """Each as aggregated discovery has it."""
    openapi: str = ""
    """Where its OpenAPI document is, as its own index has it; empty if it has none."""
