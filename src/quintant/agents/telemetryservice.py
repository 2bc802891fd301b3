"""The service behind TelemetryServices: takes readings over HTTP, and publishes them by MQTT.

    POST /mqtt    {"rawData": base64, "mqttSetting": {"MQTTTopic", "MQTTServerAddress", ...}}
    GET /health   200

It connects anew for every reading, as upstream's does: readings of many devices go to many brokers.
Who may call it cannot have it call whom he likes: it dials the brokers that TELEMETRY_BROKERS lists
(where the operator runs it, those that TelemetryServices name), and never a special address.
200 says that the broker has it, 400 with a text that it has not. A name and a password in the
settings go to that broker, and into no log.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from quintant.agents.broker.packets import Publication
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.drivers.mqtt_client import MqttClient, MqttError, MqttLogin
from quintant.agents.deviceshifu.text import one_line
from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.multiplex.program import run, say
from quintant.http.request import Request
from quintant.http.response import TEXT, Response, text_response
from quintant.http.server import serving
from quintant.wire.shifu import (
    MQTT_PORT,
    TELEMETRY_BROKERS,
    BadAddress,
    broker_name,
    device_address,
    listed_brokers,
)

PORT = 8080
BODY_BYTES = 1024 * 1024
SECONDS = 5.0
ADDRESS = "QUINTANT_POD_IP"
_NOT_SERVED = ("/sql", "/minio")
_FAILURES = (MqttError, BadAddress, OSError, TimeoutError, ValueError)


class MqttReading(NamedTuple):
    """A reading, and where it goes. It may hold a password: it has no repr."""

    topic: str
    address: str
    value: bytes
    username: str | None
    password: str | None

    def __repr__(self) -> str:
        return f"MqttReading({self.topic!r})"


class TelemetryServer:
    """Answers agents."""

    def __init__(self, dialer: DeviceDialer, brokers: frozenset[str] | None = None) -> None:
        """`brokers` are those that may be dialled; None is all whose address is not special."""
        self._dialer, self._brokers = dialer.guarded(), brokers

    async def handle(self, request: Request) -> Response:
        """Take a reading."""
        if request.path == "/health":
            return Response(200, TEXT, b"ok")
        if request.path in _NOT_SERVED:
            return text_response("SQL and MinIO are not served", 400)
        if request.path != "/mqtt" or request.method != "POST":
            return text_response("404 page not found", 404)
        body = await request.body(BODY_BYTES)
        if len(body) > BODY_BYTES:
            return text_response(f"a reading has at most {BODY_BYTES} bytes", 413)
        try:
            reading = read_mqtt(body)
            async with asyncio.timeout(SECONDS):
                await self._publish(reading)
        except _FAILURES as error:
            return text_response(one_line(str(error)) or type(error).__name__, 400)
        return Response(200, {})

    async def _publish(self, reading: MqttReading) -> None:
        address = device_address(reading.address, MQTT_PORT)
        if self._brokers is not None and broker_name(reading.address) not in self._brokers:
            raise ValueError(f"no TelemetryService names the broker {address}")
        client = await self._dialer.connect(lambda: MqttClient(_unheard), address)
        try:
            login = MqttLogin(reading.username, reading.password)
            await client.open(f"shifu-{secrets.token_hex(8)}", login)
            await client.publish(reading.topic, reading.value)
        finally:
            client.close()


def _unheard(_: Publication) -> None:
    """Nothing is subscribed to."""


def read_mqtt(body: bytes) -> MqttReading:
    """What an agent sent; ValueError if it is no reading."""
    try:
        found = json.loads(body)
        settings, raw = found["mqttSetting"], found["rawData"]
        value = base64.b64decode(raw, validate=True)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("expected rawData in base64, and mqttSetting") from None
    topic, address = (_text(settings, key) for key in ("MQTTTopic", "MQTTServerAddress"))
    if not topic or not address:
        raise ValueError("mqttSetting has no MQTTTopic, or no MQTTServerAddress")
    name, password = (_text(settings, f"MQTTServer{key}") for key in ("UserName", "Password"))
    return MqttReading(topic, address, value, name or None, password or None)


def _text(settings: Any, key: str) -> str:
    found = settings.get(key) if isinstance(settings, Mapping) else None
    return found if isinstance(found, str) else ""


async def serve(listen: str, port: int, stopped: asyncio.Event) -> None:
    """Serve until the event is set."""
    listed = os.environ.get(TELEMETRY_BROKERS)
    brokers = listed_brokers(listed) if listed is not None else None
    dialer = DeviceDialer(HostResolver({}), os.environ.get(ADDRESS, ""))
    server = TelemetryServer(dialer, brokers)
    async with serving(server.handle, listen, port) as (host, bound):
        say("serve", url=f"http://{host}:{bound}")
        await stopped.wait()


def main(arguments: Sequence[str]) -> None:
    """Run the service with these arguments."""
    parser = argparse.ArgumentParser(
        prog="quintant agent telemetryservice", description="Publishes readings by MQTT."
    )
    port = os.environ.get("SERVER_LISTEN_PORT", "").removeprefix(":")
    parser.add_argument("--listen", default=os.environ.get(ADDRESS, ""), help="an address")
    parser.add_argument("--port", type=int, default=int(port) if port.isdigit() else PORT)
    given = parser.parse_args(arguments)
    run(lambda stopped: serve(given.listen, given.port, stopped))
