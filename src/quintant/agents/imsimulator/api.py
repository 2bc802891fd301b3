"""Infrastructure Manager's REST API, as far as a client on the happy path goes.

Everybody sees the infrastructures that were made with the same user and password, and no others.
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
            return _told({"version": VERSION})
        owner, cloud = _credentials(request.field(b"authorization"))
        match request.method, parts:
            case "GET", ["infrastructures"]:
                own = [each.id for each in self._known.values() if each.owner == owner]
                return _told({"uri-list": [{"uri": _uri(request, id)} for id in own]})
            case "POST", ["infrastructures"]:
                return await self._create(request, owner, cloud)
            case "GET", ["clouds", _, "images"]:
                return _told({"images": []})
            case method, ["infrastructures", id, *rest]:
                return await self._about(request, method, self._find(id, owner), rest)
        raise Refused(404, "Not Found")

    async def _create(self, request: Request, owner: str, cloud: str) -> Response:
        text = await _body(request)
        machines = wanted(load(text))
        if _asked(request, "dry_run"):
            return _told({cloud: _estimate(machines)})
        if len(self._known) >= MOST_INFRASTRUCTURES:
            raise Refused(400, f"Quota exceeded: {MOST_INFRASTRUCTURES} infrastructures may be")
        id = str(uuid4())
        made = self._known[id] = Infrastructure.of(id, owner, text, self._options)
        say("create", id=id, machines=len(machines))
        self._spawn(made.launch(machines, self._options.launch_seconds))
        return _told({"uri": _uri(request, id)}, InfID=id)

    async def _about(
        self, request: Request, method: str, found: Infrastructure, rest: list[str]
    ) -> Response:
        match method, rest:
            case "GET", []:
                uris = [_uri(request, found.id, f"vms/{number}") for number in found.machines]
                return _told({"uri-list": [{"uri": uri} for uri in uris]})
            case "GET", ["state"]:
                return _told({"state": _state(found)})
            case "GET", ["outputs"]:
                return _told({"outputs": _outputs(found)})
            case "GET", ["tosca"]:
                return _told({"tosca": found.text})
            case "GET", ["radl"]:
                return _told({"radl": [{"class": "description", "name": found.id}]})
            case "GET", ["contmsg"]:
                return text_response("\n".join(found.log))
            case "GET", ["vms", number]:
                return _told({"radl": [_machine(found, number, self._options.listen)]})
            case "POST", []:
                return await self._update(request, found)
            case "PUT", ["reconfigure"]:
                return Response(200, {"InfID": found.id})
            case "DELETE", []:
                return await self._delete(request, found)
        raise Refused(404, "Not Found")

    async def _update(self, request: Request, found: Infrastructure) -> Response:
        text = await _body(request)
        machines = wanted(load(text))
        if found.phase is Phase.PENDING:
            raise Refused(409, "The infrastructure is being created.")
        fresh = await found.update(machines)
        found.text = text
        say("update", id=found.id, machines=len(found.machines))
        return _told(
            {"uri-list": [{"uri": _uri(request, found.id, f"vms/{each}")} for each in fresh]}
        )

    async def _delete(self, request: Request, found: Infrastructure) -> Response:
        if found.phase is Phase.PENDING or (
            found.phase is Phase.RUNNING and FRONT in found.machines and found.work.locked()
        ):
            raise Refused(409, "Infrastructure is being created or updated.")
        if found.phase is not Phase.DELETING:
            ending = self._spawn(self._end(found))
            if not _asked(request, "async"):
                await asyncio.shield(ending)
        return Response(200)

    async def _end(self, found: Infrastructure) -> None:
        await found.end()
        del self._known[found.id]
        say("delete", id=found.id)

    def _find(self, id: str, owner: str) -> Infrastructure:
        if id not in self._known:
            raise Refused(404, "Invalid infrastructure ID or access not granted.")
        if self._known[id].owner != owner:
            raise Refused(403, "Access to this infrastructure not granted.")
        return self._known[id]


def _credentials(header: str) -> tuple[str, str]:
    """Who asks, so that nobody reads his password from memory, and the name of his cloud."""
    try:
        records = json.loads(header)
        [user] = [each for each in records if each.get("type") == "InfrastructureManager"]
        told = json.dumps([user.get(key, "") for key in ("username", "password", "token")])
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Refused(401, "No InfrastructureManager credentials provided.") from None
    clouds = [str(each.get("id", "")) for each in records if each is not user]
    return hashlib.sha256(told.encode()).hexdigest(), clouds[0] if clouds else "cloud"


async def _body(request: Request) -> str:
    body = await request.body(BODY_BYTES)
    if len(body) > BODY_BYTES:
        raise Refused(413, f"a template has at most {BODY_BYTES} bytes")
    return body.decode("utf-8", "replace")


def _asked(request: Request, name: str) -> bool:
    return parse_qs(request.query).get(name, [""])[0].lower() in _TRUE


def _uri(request: Request, id: str, below: str = "") -> str:
    place = f"http://{request.field(b'host')}/infrastructures/{id}"
    return f"{place}/{below}" if below else place


def _state(found: Infrastructure) -> dict[str, object]:
    now = found.now.value
    return {"state": now, "vm_states": {str(number): now for number in found.machines}}


def _outputs(found: Infrastructure) -> dict[str, object]:
    """Every output is null but the kubeconfig, whatever the template says of its value."""
    asked = load(found.text).get("topology_template", {}).get("outputs", {})
    return {**dict.fromkeys(asked), "kubeconfig": found.kubeconfig}


def _machine(found: Infrastructure, number: str, address: str) -> dict[str, object]:
    if not number.isdecimal() or int(number) not in found.machines:
        raise Refused(404, "Invalid VM ID")
    return {
        "class": "system",
        "instance_name": found.name(int(number)),
        "state": found.now.value,
        "net_interface.0.ip": address,
    }


def _estimate(machines: tuple[MachineSpec, ...]) -> dict[str, object]:
    compute = [{"cpuCores": each.cpus, "memoryInMegabytes": each.mebibytes} for each in machines]
    return {"cloudType": "Simulator", "cloudEndpoint": "", "compute": compute, "storage": []}


def _told(document: object, **headers: str) -> Response:
    return Response(200, {**_JSON, **headers}, json.dumps(document).encode())


def _refusal(status: int, message: str) -> Response:
    return Response(status, _JSON, json.dumps({"message": message, "code": status}).encode())
