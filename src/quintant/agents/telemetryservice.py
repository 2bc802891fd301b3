"""The service behind TelemetryServices: takes readings over HTTP, and publishes them by MQTT.

    POST /mqtt    {"rawData": base64, "mqttSetting": {"MQTTTopic", "MQTTServerAddress", ...}}
    GET /health   200

It connects anew for every reading, as upstream's does: readings of many devices go to many brokers.
200 says that the broker has it, 400 with a text that it has not. A name and a password in the
settings go to that broker, and into no log.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import aiomqtt

from quintant.agents.deviceshifu.drivers.address import BadAddress, DeviceDialer, device_address
from quintant.agents.deviceshifu.said import one_line
from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.multiplex.program import run, say
from quintant.http.request import Request
from quintant.http.response import TEXT, Response, text_response
from quintant.http.server import serving

PORT = 8080
BROKER_PORT = 1883
BODY_BYTES = 1024 * 1024
SECONDS = 5.0
ADDRESS = "QUINTANT_POD_IP"
_NOT_SERVED = ("/sql", "/minio")
_FAILURES = (aiomqtt.MqttError, BadAddress, OSError, TimeoutError, ValueError)


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

    def __init__(self, dialer: DeviceDialer) -> None:
        self._dialer = dialer

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
        place = await self._dialer.find(device_address(reading.address, BROKER_PORT))
        async with aiomqtt.Client(
            place.address, place.port, username=reading.username, password=reading.password,
            timeout=SECONDS,
        ) as client:  # fmt: skip
            await client.publish(reading.topic, reading.value, qos=1)


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
    server = TelemetryServer(DeviceDialer(HostResolver({}), os.environ.get(ADDRESS, "")))
    async with serving(server.handle, listen, port) as (host, bound):
        say("serve", url=f"http://{host}:{bound}")
        await stopped.wait()


def main(arguments: Sequence[str]) -> None:
    """Run the service with these arguments."""
    parser = argparse.ArgumentParser(
        prog="quintant agent telemetryservice", description="Publishes readings by MQTT."
    )
    told = os.environ.get("SERVER_LISTEN_PORT", "").removeprefix(":")
    parser.add_argument("--listen", default=os.environ.get(ADDRESS, ""), help="an address")
    parser.add_argument("--port", type=int, default=int(told) if told.isdigit() else PORT)
    given = parser.parse_args(arguments)
    run(lambda stopped: serve(given.listen, given.port, stopped))
