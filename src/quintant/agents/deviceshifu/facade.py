"""The HTTP that callers see: one path per instruction, in upstream's words.

/health                200, whatever the device does: it is the agent's own
/INSTRUCTION           what the device answers; 404 for what is no instruction
/_shifu/status         phase, instructions, the newest error
/_shifu/telemetry      the newest readings
/_shifu/openapi.json   the same instructions, for programs
/metrics               Prometheus
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from urllib.parse import unquote

from quintant.agents.deviceshifu.config.values import DeviceConfig, Instruction
from quintant.agents.deviceshifu.drivers.driver import Answer, DeviceError, Driver, refused
from quintant.agents.deviceshifu.health import DeviceHealth, DevicePhase
from quintant.agents.deviceshifu.telemetry.poller import Reading
from quintant.http.request import Request
from quintant.http.response import TEXT, Response
from quintant.metrics import CONTENT_TYPE, Counter, Gauge, render

HEALTHY = Response(200, TEXT, b"Device is healthy")
UNKNOWN = refused("Error: Device instruction does not exist!", 404)
SHOWN_CHARACTERS = 4096
"""Of a reading on a page; all of it goes to the TelemetryService."""


class FacadeView(Protocol):
    """What the facade shows of a deviceShifu."""

    @property
    def config(self) -> DeviceConfig: ...
    @property
    def driver(self) -> Driver: ...
    @property
    def health(self) -> DeviceHealth: ...
    @property
    def readings(self) -> Mapping[str, Reading]: ...
    @property
    def about(self) -> Mapping[str, Any]: ...


class Facade:
    """Answers callers."""

    def __init__(self, view: FacadeView) -> None:
        self._view = view
        self._calls = Counter("deviceshifu_calls_total", "Instructions called.", ["code"])
        self._up = Gauge("deviceshifu_device_up", "Whether the device answers.")
        self._own: dict[str, Callable[[], Response]] = {
            "_shifu/status": self._status,
            "_shifu/telemetry": self._telemetry,
            "_shifu/openapi.json": self._openapi,
            "metrics": self._metrics,
        }

    async def handle(self, request: Request) -> Answer:
        """Answer a request."""
        name = unquote(request.path).removeprefix("/")
        if name == "health":
            return HEALTHY
        instruction = self._view.config.instructions.get(name)
        if instruction is None:
            return self._own[name]() if name in self._own else UNKNOWN
        answer = await self._call(request, instruction)
        self._calls.labels(str(answer.status)).inc()
        return answer

    async def _call(self, request: Request, instruction: Instruction) -> Answer:
        if self._view.config.enforce_read_write and not _may(request.method, instruction):
            return refused("Method Not Allowed", 405)
        try:
            return await self._view.driver.call(request, instruction)
        except DeviceError as error:
            return error.response

    def _status(self) -> Response:
        view, health = self._view, self._view.health
        listed = [
            {"name": each.name, "readWrite": each.read_write, "description": each.description}
            for each in view.config.instructions.values()
        ]
        return _json({
            **view.about,
            "phase": health.phase.value,
            "reachable": health.phase is DevicePhase.RUNNING and not health.missed,
            "lastError": health.error,
            "busy": view.driver.busy,
            "instructions": listed,
        })  # fmt: skip

    def _telemetry(self) -> Response:
        return _json({name: _shown(each) for name, each in self._view.readings.items()})

    def _openapi(self) -> Response:
        return _json({
            "openapi": "3.0.0",
            "info": {"title": str(self._view.about.get("name", "")), "version": "v1"},
            "paths": {f"/{name}": _operations(each)
                      for name, each in self._view.config.instructions.items()},
        })  # fmt: skip

    def _metrics(self) -> Response:
        self._up.set(self._view.health.phase is DevicePhase.RUNNING)
        return Response(200, {"content-type": CONTENT_TYPE}, render((self._calls, self._up)))


def _may(method: str, instruction: Instruction) -> bool:
    writes = method in ("POST", "PUT")
    return not instruction.read_write or ("W" if writes else "R") in instruction.read_write


def _operations(each: Instruction) -> dict[str, Any]:
    operation = {"summary": each.description, "responses": {"200": {"description": "its reply"}}}
    allowed = each.read_write or "RW"
    return {
        method: operation for method, letter in (("get", "R"), ("put", "W")) if letter in allowed
    }


def _shown(each: Reading) -> dict[str, Any]:
    value = each.value[:SHOWN_CHARACTERS].decode("utf-8", "replace")
    return {
        "value": value, "timestamp": f"{each.at:%Y-%m-%dT%H:%M:%S.%f}Z",
        "ok": each.error is None, "error": each.error or "",
    }  # fmt: skip


def _json(document: object) -> Response:
    return Response(200, {"content-type": "application/json"}, json.dumps(document).encode())
