"""Infrastructure Manager's REST API, as far as a client on the happy path goes.

A client sees the infrastructures that were made with the same user and password, and no others.
Answers are JSON, errors `{"message": ..., "code": ...}`, as IM gives them to who asks for JSON.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs
from uuid import uuid4

from quintant.agents.imsimulator.infrastructure import FRONT, Infrastructure, Phase
from quintant.agents.imsimulator.options import SimulatorOptions
from quintant.agents.imsimulator.template import MachineSpec, TemplateError, load, wanted
from quintant.agents.multiplex.program import say
from quintant.http.request import Request
from quintant.http.response import Response, text_response
from quintant.wire.foreign import decode_json

VERSION = "2.0.0+imsimulator"
BODY_BYTES = 1024 * 1024
MOST_INFRASTRUCTURES = 10
"""Each is a cluster on this machine: 100 MB."""
_JSON = {"content-type": "application/json"}
_TRUE = ("1", "true", "yes")
Spawn = Callable[[Any], asyncio.Task[None]]


class Refused(Exception):
    """A request that cannot be met."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class SimulatedManager:
    """All infrastructures, and what is asked about them."""

    def __init__(self, options: SimulatorOptions, spawn: Spawn) -> None:
        self._options, self._spawn = options, spawn
        self._known: dict[str, Infrastructure] = {}

    async def close(self) -> None:
        """End every infrastructure."""
        await asyncio.gather(*(each.end() for each in self._known.values()))

    async def handle(self, request: Request) -> Response:
        """Answer one request."""
        try:
            return await self._answer(request)
        except TemplateError as error:
            return _refusal(400, f"Error parsing request body: {error}")
        except Refused as error:
            return _refusal(error.status, str(error))

    async def _answer(self, request: Request) -> Response:
        parts = request.path.strip("/").split("/")
        if (request.method, parts) == ("GET", ["version"]):
            return _json({"version": VERSION})
        owner, cloud = _credentials(request.field(b"authorization"))
        match request.method, parts:
            case "GET", ["infrastructures"]:
                own = [each.id for each in self._known.values() if each.owner == owner]
                return _json({"uri-list": [{"uri": _uri(request, id)} for id in own]})
            case "POST", ["infrastructures"]:
                return await self._create(request, owner, cloud)
            case "GET", ["clouds", _, "images"]:
                return _json({"images": []})
            case method, ["infrastructures", id, *rest]:
                return await self._about(request, method, self._find(id, owner), rest)
        raise Refused(404, "Not Found")

    async def _create(self, request: Request, owner: str, cloud: str) -> Response:
        text = await _body(request)
        machines = wanted(load(text))
        if _flag(request, "dry_run"):
            return _json({cloud: _estimate(machines)})
        if len(self._known) >= MOST_INFRASTRUCTURES:
            raise Refused(400, f"Quota exceeded: {MOST_INFRASTRUCTURES} infrastructures may be")
        id = str(uuid4())
        made = self._known[id] = Infrastructure.of(id, owner, text, self._options)
        say("create", id=id, machines=len(machines))
        self._spawn(made.launch(machines, self._options.launch_seconds))
        return _json({"uri": _uri(request, id)}, InfID=id)

    async def _about(
        self, request: Request, method: str, infrastructure: Infrastructure, rest: list[str]
    ) -> Response:
        match method, rest:
            case "GET", []:
                uris = [
                    _uri(request, infrastructure.id, f"vms/{number}")
                    for number in infrastructure.machines
                ]
                return _json({"uri-list": [{"uri": uri} for uri in uris]})
            case "GET", ["state"]:
                return _json({"state": _state(infrastructure)})
            case "GET", ["outputs"]:
                return _json({"outputs": _outputs(infrastructure)})
            case "GET", ["tosca"]:
                return _json({"tosca": infrastructure.text})
            case "GET", ["radl"]:
                return _json({"radl": [{"class": "description", "name": infrastructure.id}]})
            case "GET", ["contmsg"]:
                return text_response("\n".join(infrastructure.log))
            case "GET", ["vms", number]:
                return _json({"radl": [_machine(infrastructure, number, self._options.listen)]})
            case "POST", []:
                return await self._update(request, infrastructure)
            case "PUT", ["reconfigure"]:
                return Response(200, {"InfID": infrastructure.id})
            case "DELETE", []:
                return await self._delete(request, infrastructure)
        raise Refused(404, "Not Found")

    async def _update(self, request: Request, infrastructure: Infrastructure) -> Response:
        text = await _body(request)
        machines = wanted(load(text))
        if infrastructure.phase is Phase.PENDING:
            raise Refused(409, "The infrastructure is being created.")
        fresh = await infrastructure.update(machines)
        infrastructure.text = text
        say("update", id=infrastructure.id, machines=len(infrastructure.machines))
        return _json(
            {
                "uri-list": [
                    {"uri": _uri(request, infrastructure.id, f"vms/{each}")} for each in fresh
                ]
            }
        )

    async def _delete(self, request: Request, infrastructure: Infrastructure) -> Response:
        if infrastructure.phase is Phase.PENDING or (
            infrastructure.phase is Phase.RUNNING
            and FRONT in infrastructure.machines
            and infrastructure.work.locked()
        ):
            raise Refused(409, "Infrastructure is being created or updated.")
        if infrastructure.phase is not Phase.DELETING:
            ending = self._spawn(self._end(infrastructure))
            if not _flag(request, "async"):
                await asyncio.shield(ending)
        return Response(200)

    async def _end(self, infrastructure: Infrastructure) -> None:
        await infrastructure.end()
        del self._known[infrastructure.id]
        say("delete", id=infrastructure.id)

    def _find(self, id: str, owner: str) -> Infrastructure:
        if id not in self._known:
            raise Refused(404, "Invalid infrastructure ID or access not granted.")
        if self._known[id].owner != owner:
            raise Refused(403, "Access to this infrastructure not granted.")
        return self._known[id]


def _credentials(header: str) -> tuple[str, str]:
    """The user as a digest, so that no password is kept in memory, and the name of the cloud."""
    try:
        records = decode_json(header)
        [user] = [each for each in records if each.get("type") == "InfrastructureManager"]
        identity = json.dumps([user.get(key, "") for key in ("username", "password", "token")])
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Refused(401, "No InfrastructureManager credentials provided.") from None
    clouds = [str(each.get("id", "")) for each in records if each is not user]
    return hashlib.sha256(identity.encode()).hexdigest(), clouds[0] if clouds else "cloud"


async def _body(request: Request) -> str:
    body = await request.body(BODY_BYTES)
    if len(body) > BODY_BYTES:
        raise Refused(413, f"a template has at most {BODY_BYTES} bytes")
    return body.decode("utf-8", "replace")


def _flag(request: Request, name: str) -> bool:
    return parse_qs(request.query).get(name, [""])[0].lower() in _TRUE


def _uri(request: Request, id: str, below: str = "") -> str:
    address = f"http://{request.field(b'host')}/infrastructures/{id}"
    return f"{address}/{below}" if below else address


def _state(infrastructure: Infrastructure) -> dict[str, object]:
    now = infrastructure.now.value
    return {"state": now, "vm_states": {str(number): now for number in infrastructure.machines}}


def _outputs(infrastructure: Infrastructure) -> dict[str, object]:
    """Every output is null but the kubeconfig, whatever the template says of its value."""
    outputs = load(infrastructure.text).get("topology_template", {}).get("outputs", {})
    return {**dict.fromkeys(outputs), "kubeconfig": infrastructure.kubeconfig}


def _machine(infrastructure: Infrastructure, number: str, address: str) -> dict[str, object]:
    if not number.isdecimal() or int(number) not in infrastructure.machines:
        raise Refused(404, "Invalid VM ID")
    return {
        "class": "system",
        "instance_name": infrastructure.name(int(number)),
        "state": infrastructure.now.value,
        "net_interface.0.ip": address,
    }


def _estimate(machines: tuple[MachineSpec, ...]) -> dict[str, object]:
    compute = [{"cpuCores": each.cpus, "memoryInMegabytes": each.mebibytes} for each in machines]
    return {"cloudType": "Simulator", "cloudEndpoint": "", "compute": compute, "storage": []}


def _json(document: object, **headers: str) -> Response:
    return Response(200, {**_JSON, **headers}, json.dumps(document).encode())


def _refusal(status: int, message: str) -> Response:
    return Response(status, _JSON, json.dumps({"message": message, "code": status}).encode())
