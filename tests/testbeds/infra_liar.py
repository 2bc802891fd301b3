"""Infrastructure Managers that lie by seed, behind the real client: HTTP in memory, virtual time.

    liars = LyingManagers(model)              # truth is what the model says, in IM's own JSON
    liars.lie_from(0)                         # from now on most answers are lies, of seeds 0, 1 ...
    liars.tell_the_truth()

Bytes pass through the client's own connection and parser. A lie is one of `testbeds.liars`, about
the truth or about what was twisted before: ids of somebody else, states that contradict each other.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from random import Random
from typing import Any
from urllib.parse import unquote

from quintant.client.config.config import Config
from quintant.client.http.explain import FAILURES, explain_request_error, explain_stream_error
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.http.client_connection import ClientConnection
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observed.answers import ProviderError
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.remote.connections import ANSWER_BYTES
from quintant.operators.infra.remote.gate import Gate
from quintant.operators.infra.remote.im import ImProvider
from quintant.testing.simulate.remotes.provider import ModelledProvider
from quintant.testing.simulate.remotes.provider_access import ModelledAccess
from testbeds.liars import Lie, LieKind, Manner, lie

LYING = 0.7
"""How many of the answers are lies: among truths they do more harm."""
DRIP_SECONDS, PIECES = 20.0, 8
_DENIALS = (401, 403)
"""To somebody who may: a gateway or a database that is away is told of like that."""
_WORDS = ("pending", "running", "configured", "unconfigured", "stopped", "off", "failed", "unknown")

Plain = dict[str, Any]


class LyingManagers:
    """Providers for the operator: every one is an IM in front of the same model."""

    def __init__(self, model: ModelledProvider) -> None:
        self.model, self.metrics = model, InfraMetrics()
        self._seeds: Iterator[int] | None = None
        self._turns, self._listed = Random(), False
        self.foreign: tuple[str, ...] = ()
        """Infrastructures of somebody else, whose ids lies are made of."""
        self.lies = 0
        self._gates: dict[str, Gate] = {}

    def at(self, session: ProviderSession, /) -> ImProvider:
        """The manager of a session."""
        gate = self._gates.setdefault(session.url, Gate(session.limit))
        return ImProvider(session, LyingTransport(self, session), gate, self.metrics)

    def lie_from(self, seed: int) -> None:
        """Begin to lie, with the lie of a seed and those that follow."""
        self._seeds, self._turns = count(seed), Random(seed)

    def tell_the_truth(self) -> None:
        """Lie no more."""
        self._seeds = None

    def answer(self, call: ApiRequest, truth: Lie) -> Lie:
        """What is answered: the truth, or the lie whose turn it is."""
        listing = (call.method, call.path) == ("GET", "/infrastructures")
        if self._seeds is None or self._turns.random() >= LYING or (listing and self._listed):
            self._listed = self._listed and not listing
            return truth
        # What a manager denies again and again is believed: no two lists in a row lie.
        self._listed = self._listed or listing
        self.lies, seed = self.lies + 1, next(self._seeds)
        chance = Random(seed)
        told = _twisted(call, truth, self.foreign, chance)
        # Some lies are well formed, and only false.
        return told if chance.random() < 0.3 else _lie(seed, told)


def _lie(seed: int, told: Lie) -> Lie:
    found = lie(seed, told.body)
    status = found.status if found.status != 200 else told.status
    if found.kind is LieKind.STATUS:
        status = Random(f"{seed} denied").choice((status, *_DENIALS))
    return Lie(seed, found.kind, found.body, status, found.fields, found.manner, found.head)


def _twisted(call: ApiRequest, truth: Lie, foreign: tuple[str, ...], chance: Random) -> Lie:
    """The truth, with something in it that is another's or contradicts the rest."""
    with suppress(ValueError):
        told = json.loads(truth.body)
        if isinstance(told, dict) and truth.status == 200:
            _twist(told, foreign, chance)
            return Lie(truth.seed, truth.kind, json.dumps(told).encode(), fields=truth.fields)
    return truth


def _twist(told: Plain, foreign: tuple[str, ...], chance: Random) -> None:
    uri = f"http://im.example.com:8800/infrastructures/{chance.choice(foreign)}"
    if "uri-list" in told:
        told["uri-list"] = chance.choice(([], [{"uri": uri}], told["uri-list"] * 2))
    elif "uri" in told:
        told["uri"] = uri
    elif isinstance(state := told.get("state"), dict):
        machines: Plain = state["vm_states"]
        state["state"] = chance.choice(_WORDS)
        match chance.randrange(3):
            case 0:
                state["vm_states"] = {f"{at}": chance.choice(_WORDS) for at in range(5)}
            case 1:
                state["vm_states"] = {each: chance.choice(_WORDS) for each in machines}
    elif "outputs" in told:
        told["outputs"] = chance.choice(({}, {"kubeconfig": None}, {"kubeconfig": "{{}}"}))


class LyingTransport:
    """HTTP to one manager: what the client sends, and what comes back in its manner."""

    def __init__(self, managers: LyingManagers, session: ProviderSession) -> None:
        self._managers, self._session = managers, session
        self._config = Config(session.url)

    async def request(self, call: ApiRequest) -> ApiResponse:
        connection = await self._connection(call)
        try:
            head, body = await connection.request(
                call.method, b"", most=ANSWER_BYTES, seconds=call.timeout or 30.0
            )
        except FAILURES as error:
            raise explain_request_error(error, call, self._config) from None
        finally:
            connection.close()
        return ApiResponse(head.status, body, head.headers)

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        connection = await self._connection(call)
        try:
            async with asyncio.timeout(60):
                head = await connection.open(call.method, b"")
            yield ApiStream(head.status, _chunks(connection, call), head.headers)
        except FAILURES as error:
            raise explain_request_error(error, call, self._config) from None
        finally:
            connection.close()

    async def close(self) -> None:
        """Nothing to release."""

    async def _connection(self, call: ApiRequest) -> ClientConnection:
        access = ModelledAccess(self._managers.model, self._session)
        answer = self._managers.answer(call, await _truth(access, call))
        connection = ClientConnection(lambda lost: None)
        connection.connection_made(_Wire(connection, answer))
        return connection


async def _chunks(connection: ClientConnection, call: ApiRequest) -> AsyncIterator[bytes]:
    try:
        while piece := await connection.read():
            yield piece
    except FAILURES as error:
        raise explain_stream_error(error, call) from None


class _Wire(asyncio.Transport):
    """What carries one answer: it comes once something was sent."""

    def __init__(self, connection: ClientConnection, answer: Lie) -> None:
        super().__init__()
        self._connection, self._answer = connection, answer
        self._timers: list[asyncio.Handle] = []
        self._over = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        message, manner = self._answer.message, self._answer.manner
        half = message[: len(message) // 2]
        match manner:
            case Manner.WHOLE:
                self._later(0.0, message, end=bool(self._answer.head))
            case Manner.SLOW:
                size = max(1, len(message) // PIECES)
                for at in range(0, len(message), size):
                    self._later(DRIP_SECONDS * (at // size), message[at : at + size])
            case Manner.HALF_CLOSED | Manner.RESET:
                self._later(0.0, half, end=True)

    def _later(self, seconds: float, data: bytes, *, end: bool = False) -> None:
        loop = asyncio.get_running_loop()
        self._timers.append(loop.call_later(seconds, self._deliver, data, end))

    def _deliver(self, data: bytes, end: bool) -> None:
        if not self._over:
            self._connection.data_received(data)
        if end:
            self.abort()

    def abort(self) -> None:
        if self._over:
            return
        self._over = True
        for each in self._timers:
            each.cancel()
        self._connection.connection_lost(None)

    close = abort

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


def _whole(status: int, body: bytes, **fields: str) -> Lie:
    return Lie(-1, LieKind.STATUS, body, status, {"content-type": "application/json", **fields})


async def _truth(access: ModelledAccess, call: ApiRequest) -> Lie:
    """What an honest IM answers."""
    try:
        return await _asked(access, call)
    except ProviderError as error:
        status = error.failure.http_status or 503
        told = {"message": error.failure.message.partition("; ")[0], "code": status}
        return _whole(status, json.dumps(told).encode())


async def _asked(access: ModelledAccess, call: ApiRequest) -> Lie:
    parts = [unquote(each) for each in call.path.split("/")[2:]]
    if call.path == "/version":
        return _told({"version": await access.version()})
    if call.path.startswith("/clouds/"):
        await access.check_cloud()
        return _told({"images": []})
    if call.method == "GET":
        return await _read(access, parts)
    return await _changed(access, call, parts)


async def _read(access: ModelledAccess, parts: list[str]) -> Lie:
    match parts:
        case []:
            await access.check()
            mine = f"{access.session.user['username'].reveal()}:"
            ids = [k for k, v in access.model.infrastructures.items() if v.owner.startswith(mine)]
            return _told({"uri-list": [{"uri": _uri(each)} for each in ids]})
        case [id, "state"]:
            state = await access.state(id)
            told = {"state": state.word.value, "vm_states": dict(state.machines)}
            return _told({"state": told})
        case [id, "outputs"]:
            return _told({"outputs": await access.outputs(id)})
        case [id, "tosca"]:
            return _told({"tosca": json.dumps(await access.template(id))})
        case [id, "radl"]:
            marks = await access.marks(id)
            return _told({"radl": [{"class": "description", "name": marks.name}]})
        case [id, "contmsg"]:
            return _whole(200, (await access.log(id)).encode())
        case [id, "vms", machine]:
            details = (await access.machines(id, [machine])).get(machine)
            system = {"class": "system", "instance_name": details.name if details else ""}
            addresses = details.addresses if details else ()
            nets = {f"net_interface.{at}.ip": each for at, each in enumerate(addresses)}
            return _told({"radl": [system | nets]})
    return _whole(404, b'{"message": "no such path", "code": 404}')


async def _changed(access: ModelledAccess, call: ApiRequest, parts: list[str]) -> Lie:
    template = json.loads(call.body) if call.body else {}
    match call.method, parts:
        case "POST", [] if "dry_run" in call.query:
            found = await access.plan(template)
            return _told({"c": {"compute": [{"cpuCores": 1}] * found.machines}})
        case "POST", []:
            id = await access.create(template)
            return _whole(200, json.dumps({"uri": _uri(id)}).encode())
        case "POST", [id]:
            await access.update(id, template, call.timeout or 30.0)
        case "PUT", [id, "reconfigure"]:
            await access.reconfigure(id)
        case "DELETE", [id, "vms", machines]:
            await access.replace(id, machines.split(","))
        case "DELETE", [id] if "async" in call.query:
            await access.delete(id, force="force" in call.query)
        case "DELETE", [id]:
            await access.delete_now(id, call.timeout or 30.0, force="force" in call.query)
    return _told({})


def _uri(id: str) -> str:
    return f"http://im.example.com:8800/infrastructures/{id}"


def _told(document: Plain) -> Lie:
    return _whole(200, json.dumps(document).encode())
