"""Readings that go by HTTP to the service, and from there by MQTT to a broker."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiomqtt
import pytest

import patience
from quintant.agents.broker.broker import Broker
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.telemetry.deliver import PushFailed, Sender
from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.telemetryservice import TelemetryServer, read_mqtt
from quintant.http.request import Request
from quintant.http.response import Response
from quintant.http.server import serving
from testbeds.devices import ask

pytestmark = pytest.mark.realtime


@asynccontextmanager
async def broker_and_service(
    brokers: Callable[[int], frozenset[str] | None],
) -> AsyncIterator[tuple[int, int]]:
    """The ports of a broker, and of a service that may dial these."""
    broker = Broker()
    listening = await asyncio.start_server(broker.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    server = TelemetryServer(DeviceDialer(HostResolver({})), brokers(port))
    async with serving(server.handle, "127.0.0.1", 0) as (_, service):
        yield port, service
    listening.close()
    broker.close()


async def publish(service: int, address: str) -> tuple[int, str]:
    """Send a reading for a broker."""
    settings = {"MQTTTopic": "t", "MQTTServerAddress": address}
    body = {"rawData": base64.b64encode(b"21.5").decode(), "mqttSetting": settings}
    status, _, said = await ask("127.0.0.1", service, "/mqtt", "POST", json.dumps(body).encode())
    return status, said.decode()


async def test_a_broker_that_no_telemetryservice_names_is_not_dialled() -> None:
    async with broker_and_service(lambda port: frozenset({"other:1883"})) as (port, service):
        status, said = await publish(service, f"127.0.0.1:{port}")
        assert status == 400
        assert "no TelemetryService names the broker" in said
    async with broker_and_service(lambda port: frozenset({f"127.0.0.1:{port}"})) as (port, service):
        assert await publish(service, f"mqtt://127.0.0.1:{port}/") == (200, "")


async def test_a_special_address_is_not_dialled_even_if_it_is_listed() -> None:
    async with broker_and_service(lambda port: frozenset({f"0.0.0.0:{port}"})) as (port, service):
        status, said = await publish(service, f"0.0.0.0:{port}")
        assert status == 400
        assert "unspecified" in said


async def test_an_agent_pushes_to_no_special_address() -> None:
    async with serving(_taken, "127.0.0.1", 0) as (_, port):
        dialer = DeviceDialer(HostResolver({}))
        spec = {"telemetryServiceEndpoint": f"http://0.0.0.0:{port}"}
        with pytest.raises(PushFailed, match="unspecified"):
            await Sender("d", dialer.guarded()).send(spec, b"x")


async def _taken(_: Request) -> Response:
    return Response(200, {})


async def test_h12_a_reading_of_an_agent_arrives_at_the_broker() -> None:
    broker, dialer = Broker(), DeviceDialer(HostResolver({}))
    listening = await asyncio.start_server(broker.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with (
        serving(TelemetryServer(dialer).handle, "127.0.0.1", 0) as (_, service),
        aiomqtt.Client("127.0.0.1", port) as client,
    ):
        await client.subscribe("t", qos=1)
        mqtt = {"MQTTTopic": "t", "MQTTServerAddress": f"127.0.0.1:{port}"}
        spec = {
            "telemetryServiceEndpoint": f"http://127.0.0.1:{service}",
            "serviceSettings": {"MQTTSetting": mqtt},
        }
        await Sender("d", dialer).send(spec, b"21.5")
        async with patience.within(10):
            message = await anext(aiter(client.messages))
        assert message.payload == b"21.5"
        away = {**spec, "serviceSettings": {"MQTTSetting": {**mqtt, "MQTTServerAddress": "h:x"}}}
        with pytest.raises(PushFailed, match="answered 400"):
            await Sender("d", dialer).send(away, b"x")
    listening.close()
    broker.close()


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"rawData": "?", "mqttSetting": {}}', b"[" * 9999]
)
async def test_what_is_no_reading_is_400(body: bytes) -> None:
    handle = TelemetryServer(DeviceDialer(HostResolver({}))).handle
    async with serving(handle, "127.0.0.1", 0) as (_, port):
        status, _, said = await ask("127.0.0.1", port, "/mqtt", "POST", body)
        assert (status, said[:17]) == (400, b"expected rawData ")
        assert (await ask("127.0.0.1", port, "/sql", "POST", body))[0] == 400


def test_a_password_is_in_no_repr() -> None:
    settings = {"MQTTTopic": "t", "MQTTServerAddress": "h", "MQTTServerPassword": "hunter2"}
    body = {"rawData": base64.b64encode(b"x").decode(), "mqttSetting": settings}
    reading = read_mqtt(json.dumps(body).encode())
    assert reading.password == "hunter2"
    assert "hunter2" not in repr(reading)
