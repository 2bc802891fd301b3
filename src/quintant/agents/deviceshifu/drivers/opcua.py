"""Devices that are OPC UA servers: an instruction is a node, read and written as text.

The session is opened when it is first needed, and again after it broke: every look at the device
tries. A server that refuses something is told to the caller; one that is away is 503.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from asyncua import Client, ua
from asyncua.common.node import Node

from quintant.agents.deviceshifu.config.values import Instruction
from quintant.agents.deviceshifu.drivers.address import DeviceDialer, device_address
from quintant.agents.deviceshifu.drivers.driver import (
    KEPT_BYTES,
    Answer,
    DeviceError,
    known_instruction,
    refused,
    whole_body,
)
from quintant.agents.deviceshifu.drivers.go_text import go_time, go_value
from quintant.agents.deviceshifu.drivers.session import SessionDriver
from quintant.agents.deviceshifu.said import one_line
from quintant.http.request import Request
from quintant.http.response import TEXT, Response

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


class OpcUaLogin(NamedTuple):
    """Who the agent is to a server. It holds a secret: it has no repr."""

    username: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return "OpcUaLogin(...)"


def opcua_login(settings: Mapping[str, Any], secret: Path) -> OpcUaLogin:
    """The login of an EdgeDevice; a mounted password wins."""
    if settings.get("AuthenticationMode") != "UserName":
        return OpcUaLogin()
    password = str(settings.get("Password") or "")
    with suppress(OSError, UnicodeDecodeError):
        password = (secret / "password").read_text().rstrip("\n")
    return OpcUaLogin(str(settings.get("Username") or ""), password)


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
                return Response(200, TEXT, _text(found).encode()[:KEPT_BYTES])
            case "POST" | "PUT":
                await self._write(instruction, await whole_body(request))
                return Response(200, {})
        return refused("Method Not Allowed", 405)

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """The value of a node, as text."""
        found = known_instruction(self._config, instruction)
        return _text(await self._value(found)).encode()[:KEPT_BYTES]

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
            node = await self._node(instruction)
            return await self._asked(node.read_data_value(), "Failed to read message from Server")

    async def _write(self, instruction: Instruction, body: bytes) -> None:
        wanted = _wanted(body)
        async with self._one:
            node = await self._node(instruction)
            old = await self._asked(node.read_data_value(), "Failed to read message from Server")
            value = ua.DataValue(ua.Variant(_cast(wanted, old), old.Value.VariantType))
            await self._asked(node.write_value(value), "Failed to write message to Server")

    async def _node(self, instruction: Instruction) -> Node:
        text = instruction.properties.get(NODE, "")
        try:
            wanted = ua.NodeId.from_string(text)
        except (ua.UaError, ValueError):
            said = f"Failed to parse NodeID, error: {text[:64]!r} is none"
            raise DeviceError(400, said) from None
        return (await self._connected()).get_node(wanted)

    async def _asked(self, asking: Any, what: str) -> Any:
        try:
            async with asyncio.timeout(self._seconds):
                return await asking
        except ua.UaStatusCodeError as error:
            if "Connection" in type(error).__name__ or "Session" in type(error).__name__:
                await self._close()
                raise self._unreachable(error) from None
            raise DeviceError(400, f"{what}, error: {type(error).__name__}") from None
        except _BROKEN as error:
            await self._close()
            raise self._unreachable(error) from None
        except Exception as error:  # what the library cannot encode, it says in many ways
            raise DeviceError(400, f"{what}, error: {one_line(str(error))}") from None

    async def _connected(self) -> Client:
        if self._client is not None:
            return self._client
        client = None
        try:
            async with asyncio.timeout(self._seconds):
                found = await self._dialer.find(self._place)
                url = f"opc.tcp://{found.address}:{found.port}{self._path}"
                client = Client(url, timeout=self._seconds)
                if self._login.username:
                    client.set_user(self._login.username)
                    client.set_password(self._login.password)
                await client.connect()
        except _BROKEN as error:
            if client is not None:
                with suppress(Exception):  # half a session is let go as far as it goes
                    client.disconnect_socket()
            raise self._unreachable(error) from None
        self._client = client
        return client

    async def _close(self) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        with suppress(Exception):  # whatever it says, it is let go
            async with asyncio.timeout(1.0):
                await client.disconnect()


def _text(found: ua.DataValue) -> str:
    value = found.Value
    single = value is not None and value.VariantType is ua.VariantType.Float
    return go_value(value.Value if value is not None else None, single=single)


def _as_json(found: ua.DataValue) -> Response:
    said = {
        "value": _plain(found.Value.Value),
        "type": found.Value.VariantType.name,
        "sourceTimestamp": go_time(found.SourceTimestamp) if found.SourceTimestamp else "",
        "status": found.StatusCode.name if found.StatusCode else "Good",
    }
    return Response(200, {"content-type": "application/json"}, json.dumps(said).encode())


def _plain(value: Any) -> Any:
    finite = isinstance(value, float) and value - value == 0
    return value if isinstance(value, bool | int | str) or finite else go_value(value)


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
