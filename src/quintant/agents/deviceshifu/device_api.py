"""Where an EdgeDevice is followed and told of: at the API server, or in a file on a bench."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from quintant.agents.apiclient.client import ApiClient
from quintant.agents.apiclient.errors import ApiRefused
from quintant.agents.apiclient.object_path import ObjectPath
from quintant.agents.deviceshifu.config.yaml_text import load_text, mapping
from quintant.agents.deviceshifu.device import (
    API_VERSION,
    PLURAL,
    DeviceState,
    device_path,
    device_state,
)
from quintant.agents.deviceshifu.text import one_line
from quintant.agents.multiplex.program import say

MANAGER = "deviceshifu-agent"
_CONFLICT = 409

Plain = Mapping[str, Any]


class DeviceApi(Protocol):
    """What a deviceShifu needs of a cluster."""

    def states(self) -> AsyncGenerator[DeviceState | None, None]:
        """The device as it is, and again after each change; None while there is none."""

    async def look(self) -> DeviceState | None:
        """The device now; ApiRefused or ApiUnreachable if nobody can say."""

    async def report(self, status: Plain) -> str:
        """Write its status; the version that it has by then."""

    async def find(self, kind: str, plural: str, name: str) -> Plain | None:
        """Something beside the device: a TelemetryService, or a Secret that it names."""

    async def warn(self, uid: str, reason: str, note: str) -> None:
        """Tell an event of the device."""


class ClusterApi:
    """The API server, as the pod's service account."""

    def __init__(self, client: ApiClient, name: str, namespace: str) -> None:
        self._client, self._path = client, device_path(name, namespace)
        self._sub: str | None = None

    async def states(self) -> AsyncGenerator[DeviceState | None, None]:
        """Follow the device."""
        async with aclosing(aiter(self._client.watch(self._path))) as states:
            async for each in states:
                yield device_state(each) if each is not None else None

    async def look(self) -> DeviceState | None:
        """Ask once."""
        device = await self._client.get(self._path)
        return device_state(device) if device is not None else None

    async def report(self, status: Plain) -> str:
        """Apply the agent's part of the status."""
        if self._sub is None:
            # Upstream's own kind has its status in the object itself.
            listed = await self._client.resources(API_VERSION)
            self._sub = "" if PLURAL in listed and f"{PLURAL}/status" not in listed else "status"
        applied = await self._client.apply_status(
            self._path, status, manager=MANAGER, sub=self._sub
        )
        return str(applied.get("metadata", {}).get("resourceVersion", ""))

    async def find(self, kind: str, plural: str, name: str) -> Plain | None:
        """Get one object of the device's namespace."""
        version = "v1" if kind == "Secret" else API_VERSION
        path = ObjectPath(version, kind, plural, name, self._path.namespace)
        return await self._client.get(path)

    async def warn(self, uid: str, reason: str, note: str) -> None:
        """Record an event; the same one twice is one."""
        path, now = self._path, datetime.now(UTC)
        mark = hashlib.sha256(f"{uid} {reason} {note} {now:%Y%m%d%H%M}".encode()).hexdigest()[:16]
        event = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"{path.name[:200]}.{mark}", "namespace": path.namespace},
            "eventTime": f"{now:%Y-%m-%dT%H:%M:%S.%f}Z",
            "reportingController": MANAGER,
            "reportingInstance": f"{MANAGER}-{path.name}"[:128],
            "action": "Configure",
            "reason": reason,
            "type": "Warning",
            "note": one_line(note),
            "regarding": {
                "apiVersion": path.api_version, "kind": path.kind, "name": path.name,
                "namespace": path.namespace, "uid": uid,
            },
        }  # fmt: skip
        events_path = ObjectPath("events.k8s.io/v1", "Event", "events", path.name, path.namespace)
        try:
            await self._client.create(events_path, event)
        except ApiRefused as error:
            if error.status != _CONFLICT:
                raise


class FileApi:
    """An EdgeDevice in a file, for a bench without a cluster: what is told goes to the log."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def states(self) -> AsyncGenerator[DeviceState | None, None]:
        """The device, once."""
        yield await self.look()
        await asyncio.Event().wait()

    async def look(self) -> DeviceState | None:
        """Read the file."""
        return device_state(mapping(load_text(self._path.read_text()), "an EdgeDevice"))

    async def report(self, status: Plain) -> str:
        """Print the status."""
        say("status", **status)
        return ""

    async def find(self, kind: str, plural: str, name: str) -> Plain | None:
        """There is nothing beside the device."""
        return None

    async def warn(self, uid: str, reason: str, note: str) -> None:
        """Print it."""
        say("warning", reason=reason, note=one_line(note))
