"""An API server of a few lines, and the mount of a pod that talks to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from aiohttp import web

from quintant.agents.apiclient.client import ApiClient, CallLimits
from quintant.agents.apiclient.object_path import ObjectPath
from quintant.agents.apiclient.pod_account import PodAccount
from unit.client.loopback_servers import AUTHORITY, Answer, Api, serving

TLS = AUTHORITY.serving("127.0.0.1")
TOKEN = "header.secret.signature"
DEVICE = ObjectPath("demo.dev/v1", "Device", "devices", "camera", "yard")
COLLECTION = "/apis/demo.dev/v1/namespaces/yard/devices"


class Soonest(Random):
    """Chance that never waits."""

    def uniform(self, a: float, b: float) -> float:
        return a


def mount(folder: Path, token: str = TOKEN) -> Path:
    """The files of a service account."""
    folder.mkdir(exist_ok=True)
    (folder / "token").write_text(token)
    (folder / "ca.crt").write_bytes(AUTHORITY.pem)
    (folder / "namespace").write_text("yard\n")
    return folder


def device(version: int, uid: str = "u", **spec: Any) -> dict[str, Any]:
    metadata = {"name": "camera", "namespace": "yard", "uid": uid, "resourceVersion": str(version)}
    return {"apiVersion": "demo.dev/v1", "kind": "Device", "metadata": metadata, "spec": spec}


def failure(code: int, reason: str = "", message: str = "", **details: Any) -> web.Response:
    """A Status, as API servers answer with."""
    status = {"kind": "Status", "code": code, "reason": reason, "message": message}
    return web.json_response({**status, "details": details}, status=code)


def absent() -> web.Response:
    return failure(404, "NotFound", 'devices.demo.dev "camera" not found', name="camera")


def event(kind: str, obj: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": kind, "object": obj}


async def stream(request: web.Request, *events: object, hold: bool = False) -> web.StreamResponse:
    """A watch that tells these events, and ends or goes on."""
    response = web.StreamResponse()
    await response.prepare(request)
    for each in events:
        text = each if isinstance(each, bytes) else web.json_response(each).body
        assert isinstance(text, bytes)
        await response.write(text + b"\n")
    if hold:
        await asyncio.Event().wait()
    return response


@asynccontextmanager
async def pod(
    folder: Path, answer: Answer, limits: CallLimits = CallLimits()
) -> AsyncIterator[tuple[ApiClient, Api]]:
    """A program in a pod, and the server that it talks to."""
    async with serving(answer, TLS) as api:
        account = PodAccount("127.0.0.1", api.port, str(mount(folder)))
        async with ApiClient(account, random=Soonest(), limits=limits) as client:
            yield client, api
