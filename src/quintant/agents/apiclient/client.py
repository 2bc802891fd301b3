"""Requests of a program in a pod to the API server: get, watch, and patches of a status.

    async with ApiClient(PodAccount.find()) as client:
        device = await client.get(path)
        await client.apply_status(path, {"phase": "Running"}, manager="device-agent")

What may pass (a broken connection, 429, 5xx) is tried again until the call's time is over, with
full jitter, and not before the time that a server names. All that is sent does no harm twice. The
token goes to the API server alone.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from random import Random
from types import TracebackType
from typing import Any, NamedTuple, Self

from quintant.agents.apiclient.errors import ApiRefused, ApiUnreachable, missing_object, refused
from quintant.agents.apiclient.object_path import ObjectPath
from quintant.agents.apiclient.pod_account import PodAccount
from quintant.agents.apiclient.watch import ObjectWatch
from quintant.agents.backoff import full_jitter
from quintant.http.client_connection import (
    ClientConnection,
    ConnectionBroken,
    ResponseTooLarge,
)
from quintant.http.encode_request import encode_request, header_line
from quintant.http.head import ProtocolError, ResponseHead

_DIGITS = 10
"""Of a time to wait: so many, and more, name none."""
JSON = "application/json"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
PASSING = (429, 500, 502, 503, 504)
"""Answers of a server, or of a proxy before it, that has a bad moment."""
FAILURES = (ConnectionBroken, ProtocolError, ResponseTooLarge, OSError, TimeoutError)

Plain = dict[str, Any]


class CallLimits(NamedTuple):
    """How long and how large things may be."""

    connect: float = 10.0
    """Seconds to reach the server, with TLS."""
    answer: float = 30.0
    """Seconds for the answer of one try."""
    call: float = 60.0
    """Seconds for a call, all its tries together."""
    size: int = 4 * 1024 * 1024
    """Bytes of an answer, and of one event: more than the server stores of an object."""


class _Call(NamedTuple):
    method: str
    target: str
    content: str = ""
    body: bytes | None = None


class ApiClient:
    """The API server, as the service account of this pod."""

    def __init__(
        self,
        account: PodAccount,
        *,
        random: Random | None = None,
        limits: CallLimits = CallLimits(),
    ) -> None:
        self.limits = limits
        self._account, self._random = account, random or Random()
        self._idle: ClientConnection | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the connection."""
        if self._idle is not None:
            self._idle.close()
            self._idle = None

    async def get(self, path: ObjectPath) -> Plain | None:
        """An object as it is stored; None if there is none."""
        status, body = await self._send(_Call("GET", path.target()))
        if missing_object(status, body, path.name):
            return None
        return _object(status, body)

    async def resources(self, api_version: str) -> frozenset[str]:
        """What the server has of a version: `devices`, `devices/status`; empty if it has none."""
        root = "/apis" if "/" in api_version else "/api"
        status, body = await self._send(_Call("GET", f"{root}/{api_version}"))
        if status == 404:
            return frozenset()
        listed = _object(status, body).get("resources")
        return frozenset(str(each.get("name")) for each in listed or () if isinstance(each, dict))

    async def create(self, path: ObjectPath, body: Mapping[str, Any]) -> Plain:
        """Create an object that has a name: sent twice, the second is refused as a conflict."""
        data = json.dumps(body, separators=(",", ":")).encode()
        return _object(*await self._send(_Call("POST", path.collection, JSON, data)))

    async def merge_status(
        self, path: ObjectPath, status: Mapping[str, Any], *, manager: str, sub: str = "status"
    ) -> Plain:
        """Merge fields into a status: those named are replaced, lists whole; None removes one.

        `sub=""` is for kinds whose status is no subresource.
        """
        return await self._patch(path, sub, MERGE, {"status": status}, f"fieldManager={manager}")

    async def apply_status(
        self, path: ObjectPath, status: Mapping[str, Any], *, manager: str, sub: str = "status"
    ) -> Plain:
        """Make a status agree with all that is said here, in the name of a field manager.

        What it applied before and no longer says is removed; what others say of the same status,
        such as conditions of other types, stays.
        """
        metadata = {"name": path.name} | ({"namespace": path.namespace} if path.namespace else {})
        whole = {"apiVersion": path.api_version, "kind": path.kind, "metadata": metadata}
        query = f"fieldManager={manager}&force=true"
        return await self._patch(path, sub, APPLY, {**whole, "status": status}, query)

    def watch(self, path: ObjectPath) -> ObjectWatch:
        """One object as it is, and again whenever it changed: `async for state in …`, None if gone.

        It heals by itself, and never ends; `trouble` says what is wrong meanwhile.
        """
        return ObjectWatch(self, path, self._random)

    async def open(self, target: str) -> tuple[ResponseHead, ClientConnection]:
        """A response that is read as it comes, on a connection of its own, which is to be closed.

        Tried once; ApiRefused or ApiUnreachable.
        """
        call = _Call("GET", target)
        head, connection = await self._open(call)
        if head.status == 401 and self._account.read_again(_now()):
            connection.close()
            head, connection = await self._open(call)
        if head.status == 200:
            return head, connection
        try:
            async with asyncio.timeout(self.limits.answer):
                body = await connection.read()
        except FAILURES:
            body = b""
        connection.close()
        raise refused(head.status, body, _pause(head))

    async def _open(self, call: _Call) -> tuple[ResponseHead, ClientConnection]:
        try:
            connection = await self._dial()
            async with asyncio.timeout(self.limits.answer):
                return await connection.open(call.method, self._encode(call)), connection
        except FAILURES as error:
            raise _unreachable(self._account, error) from None

    async def _patch(
        self, path: ObjectPath, sub: str, content: str, body: Mapping[str, Any], query: str
    ) -> Plain:
        data = json.dumps(body, separators=(",", ":")).encode()
        call = _Call("PATCH", f"{path.target(sub)}?{query}", content, data)
        return _object(*await self._send(call))

    async def _send(self, call: _Call) -> tuple[int, bytes]:
        """Send until there is an answer to stay with, or the call's time is over."""
        ends, failures = _now() + self.limits.call, 0
        while True:
            outcome, least = await self._try(call, min(self.limits.answer, ends - _now()))
            failures += 1
            wait = max(full_jitter(failures, self._random), least)
            if isinstance(outcome, tuple) and outcome[0] not in PASSING:
                return outcome
            if _now() + wait >= ends:
                if isinstance(outcome, ApiUnreachable):
                    raise outcome
                return outcome
            await asyncio.sleep(wait)

    async def _try(
        self, call: _Call, seconds: float
    ) -> tuple[tuple[int, bytes] | ApiUnreachable, float]:
        """What came of one try, and how long the server wants to be left alone."""
        try:
            head, body = await self._exchange(call, seconds)
            if head.status == 401 and self._account.read_again(_now()):
                head, body = await self._exchange(call, seconds)
        except ResponseTooLarge as error:
            raise _unreachable(self._account, error) from None
        except FAILURES as error:
            return _unreachable(self._account, error), 0.0
        return (head.status, body), _pause(head)

    async def _exchange(self, call: _Call, seconds: float) -> tuple[ResponseHead, bytes]:
        connection, self._idle = self._idle, None
        data, most = self._encode(call), self.limits.size
        if connection is not None and connection.usable:
            try:
                answer = await connection.request(call.method, data, most=most, seconds=seconds)
                return self._keep(connection, answer)
            except ConnectionBroken as error:
                if error.begun:  # else it died of old age before we wrote to it
                    raise
        connection = await self._dial()
        answer = await connection.request(call.method, data, most=most, seconds=seconds)
        return self._keep(connection, answer)

    def _keep(
        self, connection: ClientConnection, answer: tuple[ResponseHead, bytes]
    ) -> tuple[ResponseHead, bytes]:
        if self._idle is None and connection.usable:
            self._idle = connection
        else:
            connection.close()
        return answer

    async def _dial(self) -> ClientConnection:
        account, loop = self._account, asyncio.get_running_loop()
        async with asyncio.timeout(self.limits.connect):
            _, connection = await loop.create_connection(
                lambda: ClientConnection(_unheard),
                account.host,
                account.port,
                ssl=account.tls(),
                server_hostname=account.host,
            )
        return connection

    def _encode(self, call: _Call) -> bytes:
        account = self._account
        host = f"[{account.host}]" if ":" in account.host else account.host
        lines = (
            ("Host", f"{host}:{account.port}"),
            ("Authorization", f"Bearer {account.token(_now())}"),
            ("Accept", JSON),
            ("Accept-Encoding", "identity"),
            ("User-Agent", "quintant-agent"),
            *((("Content-Type", call.content),) if call.content else ()),
        )
        headers = "".join(header_line(name, value) for name, value in lines)
        return encode_request(call.method, call.target, headers, call.body)


def _object(status: int, body: bytes) -> Plain:
    if not 200 <= status < 300:
        raise refused(status, body)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ApiRefused(status, "NotJSON", "the answer is no object")
    return found


def _unreachable(account: PodAccount, error: BaseException) -> ApiUnreachable:
    address = f"{account.host}:{account.port}"
    match error:
        case TimeoutError():
            return ApiUnreachable(f"{address} did not answer in time")
        case ConnectionBroken():
            return ApiUnreachable(f"{address} broke off before its whole answer")
        case ResponseTooLarge():
            return ApiUnreachable(f"{address} sent more than {error.most} bytes")
        case ProtocolError():
            return ApiUnreachable(f"{address} sent something that is not HTTP")
        case OSError():
            why = getattr(error, "verify_message", "") or error.strerror or type(error).__name__
            return ApiUnreachable(f"{address} cannot be reached: {why}")
    return ApiUnreachable(f"{address} cannot be reached")


def _pause(head: ResponseHead) -> float:
    """Seconds that the server wants to be left alone."""
    text = head.headers.get("retry-after", "")
    # A superscript two is a digit to Python, and no number.
    return float(text) if text.isascii() and text.isdigit() and len(text) < _DIGITS else 0.0


def _unheard(_: ClientConnection) -> None:
    """No caller waits for the end of a connection: it shows with the next request."""


def _now() -> float:
    return asyncio.get_running_loop().time()
