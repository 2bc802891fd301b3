"""Devices that are OPC UA servers: an instruction is a node, read and written as text.

The session is opened when it is first needed, and again after it broke: every look at the device
tries. A server that refuses something is told to the caller; one that is away is 503.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from asyncua import Client, ua
from asyncua.common.node import Node
from asyncua.ua.ua_binary import variant_to_binary

from quintant.agents.deviceshifu.config.values import Instruction
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import (
    BROKEN,
    KEPT_BYTES,
    Answer,
    DeviceError,
    known_instruction,
    refused,
    whole_body,
)
from quintant.agents.deviceshifu.drivers.go_text import go_time, go_value
from quintant.agents.deviceshifu.drivers.opcua_bounds import (
    BadMessage,
    BoundedProtocol,
    bounded_client,
)
from quintant.agents.deviceshifu.drivers.opcua_login import OpcUaLogin
from quintant.agents.deviceshifu.drivers.session import SessionDriver
from quintant.http.request import Request
from quintant.http.response import TEXT, Response
from quintant.wire.shifu import device_address

PORT = 4840
NODE = "OPCUANodeID"
CONNECT_SECONDS = 3.0
_BROKEN = (ConnectionError, OSError, TimeoutError, ua.UaError)
_GO_TYPES = {
    "Boolean": "bool", "SByte": "int8", "Byte": "uint8", "Int16": "int16", "UInt16": "uint16",
    "Int32": "int32", "UInt32": "uint32", "Int64": "int64", "UInt64": "uint64",
    "Float": "float32", "Double": "float64", "String": "string",
}  # fmt: skip
# What the library says of every broken connection is told by the driver, once.
logging.getLogger("asyncua").setLevel(logging.CRITICAL)


class SessionEnded(DeviceError):
    """The server has ended the session, or the connection: another one may do."""

    def __init__(self, why: DeviceError) -> None:
        super().__init__(why.status, str(why))


class OpcUaDriver(SessionDriver):
    """A device that is an OPC UA server."""

    def __init__(
        self, dialer: DeviceDialer, address: str, settings: Mapping[str, Any], login: OpcUaLogin
    ) -> None:
        super().__init__(dialer, device_address(address, PORT))
        self._path = urlsplit(address if "://" in address else f"opc.tcp://{address}").path
        given = settings.get("ConnectionTimeoutInMilliseconds")
        self._seconds = given / 1000 if isinstance(given, int) and given > 0 else CONNECT_SECONDS
        self._login = login
        self._client: Client | None = None

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        """Read a node, or write it."""
        match request.method:
            case "GET":
                found = await self._value(instruction)
                if parse_qs(request.query).get("format") == ["json"]:
                    return _as_json(found)
                return Response(200, TEXT, _text(found))
            case "POST" | "PUT":
                await self._write(instruction, await whole_body(request))
                return Response(200, {})
        return refused("Method Not Allowed", 405)

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """The value of a node, as text."""
        found = known_instruction(self._config, instruction)
        return _text(await self._value(found))

    async def check(self, seconds: float | None) -> None:
        """Whether the server has us."""
        async with self._one:
            client = await self._connected()
            try:
                async with asyncio.timeout(self._seconds):
                    await client.check_connection()
            except _BROKEN as error:
                await self._close()
                raise self._unreachable(error) from None

    async def _value(self, instruction: Instruction) -> ua.DataValue:
        async with self._one:
            return (await self._read_node(instruction))[1]

    async def _write(self, instruction: Instruction, body: bytes) -> None:
        wanted = _wanted(body)
        async with self._one:
            node, old = await self._read_node(instruction)
            value = _encodable(wanted, old)
            await self._request(node.write_value(value), "Failed to write message to Server")

    async def _read_node(self, instruction: Instruction) -> tuple[Node, ua.DataValue]:
        """A node and what it has; in a new session if the kept one had ended, as by a reboot."""
        kept = self._client is not None
        try:
            return await self._read_once(instruction)
        except SessionEnded:
            if not kept:
                raise
        return await self._read_once(instruction)

    async def _read_once(self, instruction: Instruction) -> tuple[Node, ua.DataValue]:
        node = await self._node(instruction)
        what = "Failed to read message from Server"
        return node, await self._request(node.read_data_value(), what)

    async def _node(self, instruction: Instruction) -> Node:
        text = instruction.properties.get(NODE, "")
        try:
            wanted = ua.NodeId.from_string(text)
        except (ua.UaError, ValueError):
            message = f"Failed to parse NodeID, error: {text[:64]!r} is none"
            raise DeviceError(400, message) from None
        return (await self._connected()).get_node(wanted)

    async def _request(self, request: Any, what: str) -> Any:
        try:
            async with asyncio.timeout(self._seconds):
                return await request
        except ua.UaStatusCodeError as error:
            if "Connection" in type(error).__name__ or "Session" in type(error).__name__:
                await self._close()
                raise SessionEnded(self._unreachable(error)) from None
            raise DeviceError(400, f"{what}, error: {type(error).__name__}") from None
        except BadMessage as error:
            await self._close()
            raise DeviceError(BROKEN, f"{what}, error: {error}") from None
        except ConnectionError as error:
            await self._close()
            raise SessionEnded(self._unreachable(error)) from None
        except _BROKEN as error:
            await self._close()
            raise self._unreachable(error) from None
        except Exception as error:  # what the library cannot decode, it says in many ways
            await self._close()
            raise DeviceError(BROKEN, f"{what}, error: {type(error).__name__}") from None

    async def _connected(self) -> Client:
        if self._client is not None:
            return self._client
        client = None
        try:
            async with asyncio.timeout(self._seconds):
                url = f"opc.tcp://{self._address}{self._path}"
                client = bounded_client(url, self._seconds, self._dial)
                if self._login.username:
                    client.set_user(self._login.username)
                    client.set_password(self._login.password)
                await client.connect()
        except Exception as error:  # what is no server says so in many ways
            if client is not None:
                with suppress(Exception):  # half a session is let go as far as it goes
                    client.disconnect_socket()
            raise self._no_session(error) from None
        self._client = client
        return client

    async def _dial(self, make: Callable[[], BoundedProtocol]) -> BoundedProtocol:
        return await self._dialer.connect(make, self._address)

    def _no_session(self, error: Exception) -> DeviceError:
        if isinstance(error, _BROKEN) and not isinstance(error, BadMessage):
            return self._unreachable(error)
        why = str(error) if isinstance(error, BadMessage) else type(error).__name__
        return DeviceError(BROKEN, f"{self._address} is no OPC UA server: {why}")

    async def _close(self) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        with suppress(Exception):  # whatever it says, it is let go
            async with asyncio.timeout(1.0):
                await client.disconnect()


def _text(read: ua.DataValue) -> bytes:
    value = read.Value
    single = value is not None and value.VariantType is ua.VariantType.Float
    text = go_value(value.Value if value is not None else None, single=single)
    return text.encode("utf-8", "replace")[:KEPT_BYTES]


def _as_json(read: ua.DataValue) -> Response:
    value = read.Value or ua.Variant()
    fields = {
        "value": _plain(value.Value),
        "type": value.VariantType.name,
        "sourceTimestamp": go_time(read.SourceTimestamp) if read.SourceTimestamp else "",
        "status": read.StatusCode.name if read.StatusCode else "Good",
    }
    return Response(200, {"content-type": "application/json"}, json.dumps(fields).encode())


def _plain(value: Any) -> Any:
    finite = isinstance(value, float) and value - value == 0
    if isinstance(value, bool | int) or finite:
        return value
    return go_value(value).encode("utf-8", "replace").decode()[:KEPT_BYTES]


def _encodable(wanted: Any, old: ua.DataValue) -> ua.DataValue:
    if old.Value is None:
        raise DeviceError(BROKEN, "the device says of no type what it has")
    value = ua.Variant(_cast(wanted, old), old.Value.VariantType)
    try:
        variant_to_binary(value)
    except Exception as error:  # what the library cannot encode, it says in many ways
        raise DeviceError(400, f"Failed to write message to Server, error: {error}") from None
    return ua.DataValue(value)


def _wanted(body: bytes) -> Any:
    try:
        return json.loads(body)["value"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DeviceError(400, 'Failed to parse request, error: expected {"value": ...}') from None


def _cast(wanted: Any, old: ua.DataValue) -> Any:
    """A value of the type that the node has now."""
    name = old.Value.VariantType.name
    kind = _GO_TYPES.get(name, name)
    good = DeviceError(400, f"wrong type of value, value's type should be {kind}")
    if kind == "bool" or kind == "string":
        if not isinstance(wanted, bool if kind == "bool" else str):
            raise good
        return wanted
    if isinstance(wanted, bool) or not isinstance(wanted, int | float):
        raise good
    if kind.startswith("float"):
        return float(wanted)
    if wanted != wanted or wanted in (float("inf"), float("-inf")) or int(wanted) != wanted:
        raise good
    return int(wanted)
