"""deviceShifus before real counterparts: mosquitto, an OPC UA server, a Modbus server, as pods.

One site for all tests. The operator composes the deviceShifus under what `deploy/shifu` grants.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import aiomqtt
import pytest
import pytest_asyncio

import patience
from quintant.operators.shifu.api.names import DEVICES, GROUP
from testbeds.mosquitto import find_mosquitto
from testbeds.shifu_real import ShifuSite, decoded, opened, part

pytestmark = [pytest.mark.realtime, pytest.mark.asyncio(loop_scope="module")]

BACK_SECONDS = 30.0
"""Within which a device answers again after its counterpart was restarted."""
REPEAT_SECONDS = 0.5
"""Between two publications of one message."""
NEVER = b'{"mqtt_message":"","mqtt_receive_timestamp":"0001-01-01 00:00:00 +0000 UTC"}'
SENSOR = {
    "instructions": """
instructions:
  read: {protocolPropertyList: {MQTTTopic: /sensor/in}}
  write: {protocolPropertyList: {MQTTTopic: /sensor/out}}
""",
    "telemetries": """
telemetries:
  newest:
    properties:
      {instruction: read, initialDelayMs: 0, intervalMs: 300,
       pushSettings: {pushToServer: true, telemetryCollectionService: collected}}
""",
    "controlMsgs": "start: finished\n",
}
PRESS = {
    "instructions": """
instructions:
  value: {protocolPropertyList: {OPCUANodeID: "ns=2;i=2"}}
  writable: {protocolPropertyList: {OPCUANodeID: "ns=2;i=3"}}
  product: {protocolPropertyList: {OPCUANodeID: "i=2261"}}
  nothing: {protocolPropertyList: {OPCUANodeID: "ns=2;i=999"}}
""",
    "telemetries": "telemetries: {health: {properties: {instruction: value, initialDelayMs: 0}}}",
}
BOILER = {
    "instructions": """
instructions:
  temperature: {protocolPropertyList: {ModbusAddress: 0, ModbusScale: 0.1}}
  setpoint: {protocolPropertyList: {ModbusAddress: 10}}
  valve: {protocolPropertyList: {ModbusTable: coil, ModbusAddress: 3}}
  nowhere: {protocolPropertyList: {ModbusAddress: 900}}
""",
    "telemetries": (
        "telemetries: {health: {properties: {instruction: temperature, initialDelayMs: 0}}}"
    ),
}
MOSQUITTO_CONF = "listener 1883\nallow_anonymous true\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site() -> AsyncIterator[ShifuSite]:
    """A site, and on it nothing yet."""
    async with opened() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def broker(site: ShifuSite) -> str:
    """The address of mosquitto's pod, with the configuration of upstream's sample."""
    find_mosquitto()
    await site.apply(
        part("v1", "ConfigMap", "mosquitto-conf", DEVICES, data={"mosquitto.conf": MOSQUITTO_CONF})
    )
    mount = {"name": "conf", "mountPath": "/mosquitto/config"}
    volume = {"name": "conf", "configMap": {"name": "mosquitto-conf"}}
    place = await site.run(
        "mosquitto", "eclipse-mosquitto:2.0.14", 1883, volumes=[volume], volumeMounts=[mount]
    )
    setting = {"MQTTTopic": "collected", "MQTTServerAddress": f"mosquitto.{DEVICES}:1883"}
    await site.apply(
        part(f"{GROUP}/v1alpha1", "TelemetryService", "collected", DEVICES, spec={
            "telemetryServiceEndpoint": "http://telemetryservice.shifu-service.svc.cluster.local",
            "serviceSettings": {"MQTTSetting": setting}})
    )  # fmt: skip
    await site.device("sensor", "MQTT", f"mosquitto.{DEVICES}.svc.cluster.local:1883", SENSOR)
    await site.phase("sensor", "Running")
    return place


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def press(site: ShifuSite) -> str:
    """A device behind an OPC UA server."""
    await site.run("press", "edgehub/mockdevice-opcua:v0.101.0", 4840)
    address = f"opc.tcp://press.{DEVICES}.svc.cluster.local:4840/freeopcua/server/"
    await site.device("press", "OPCUA", address, PRESS)
    await site.phase("press", "Running")
    return "press"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def boiler(site: ShifuSite) -> str:
    """A device behind a Modbus server, whose Service has the usual port: 502."""
    await site.run("boiler", "edgehub/mockdevice-modbus:v0.101.0", 5020, service_port=502)
    await site.device("boiler", "Modbus", f"boiler.{DEVICES}.svc.cluster.local", BOILER)
    await site.phase("boiler", "Running")
    return "boiler"


async def publish(broker: str, topic: str, payload: str) -> None:
    async with aiomqtt.Client(broker, 1883) as client:
        await client.publish(topic, payload, qos=1)


async def publish_repeatedly(broker: str, topic: str, payload: str) -> None:
    while True:
        await publish(broker, topic, payload)
        await asyncio.sleep(REPEAT_SECONDS)


async def heard(site: ShifuSite, text: str) -> None:
    """Wait until the newest message of the sensor is this one."""
    await site.answers("sensor", "/read", lambda _, said: json.loads(said)["mqtt_message"] == text)


async def test_h4_mosquitto_runs_for_its_image_and_before_any_message_there_is_none(
    site: ShifuSite, broker: str
) -> None:
    assert [each.name() for each in site.processes("mosquitto")] == ["mosquitto"]
    status, headers, body = await site.ask("sensor", "/read")
    assert (status, headers["content-type"], body) == (200, "application/json", NEVER)


async def test_h4_messages_come_and_go_through_mosquitto(site: ShifuSite, broker: str) -> None:
    await publish(broker, "/sensor/in", "21 °C")
    await heard(site, "21 °C")
    async with aiomqtt.Client(broker, 1883) as client:
        await client.subscribe("/sensor/out", qos=1)
        assert await site.text("sensor", "/write", "PUT", b"on") == (200, "")
        async with patience.within(20):
            message = await anext(aiter(client.messages))
        assert (message.payload, message.retain) == (b"on", False)


async def test_h5_a_control_message_blocks_until_the_device_is_done(
    site: ShifuSite, broker: str
) -> None:
    assert await site.text("sensor", "/write", "PUT", b"start") == (200, "")
    status, said = await site.text("sensor", "/write", "PUT", b"stop")
    assert status == 409
    assert said.startswith("Device is blocked by start controlMsg now!")
    await publish(broker, "/sensor/in", "it is finished")
    await heard(site, "it is finished")
    assert await site.text("sensor", "/write", "PUT", b"stop") == (200, "")


async def test_second_client_of_one_id_ends_the_first_and_the_agent_comes_back(
    site: ShifuSite, broker: str
) -> None:
    async with aiomqtt.Client(broker, 1883, identifier="sensor") as thief:
        await thief.subscribe("nothing")
        with pytest.raises(aiomqtt.MqttError):
            async with patience.within(BACK_SECONDS):
                await anext(aiter(thief.messages))
        # Its place was taken in turn: nobody is left to say goodbye to.
        with pytest.raises(aiomqtt.MqttError):
            await thief.publish("nothing", "x", qos=1)
    # The agent is back before it has subscribed again: what is published in between is lost.
    async with asyncio.TaskGroup() as group:
        publishing = group.create_task(publish_repeatedly(broker, "/sensor/in", "still here"))
        await heard(site, "still here")
        publishing.cancel()


async def test_h12_telemetry_arrives_at_mosquitto(site: ShifuSite, broker: str) -> None:
    async with aiomqtt.Client(broker, 1883) as client, patience.within(60):
        await client.subscribe("collected", qos=1)
        async with asyncio.TaskGroup() as group:
            talking = group.create_task(_keep_talking(broker, "fresh"))
            async for message in client.messages:
                if message.payload == b"fresh":
                    break
            talking.cancel()


async def _keep_talking(broker: str, text: str) -> None:
    while True:
        await publish(broker, "/sensor/in", text)
        await asyncio.sleep(0.2)


async def test_h4_mosquitto_is_killed_and_messages_come_again(site: ShifuSite, broker: str) -> None:
    await site.kill("mosquitto")
    async with patience.within(BACK_SECONDS), asyncio.TaskGroup() as group:
        talking = group.create_task(_keep_talking(broker, "again"))
        await heard(site, "again")
        talking.cancel()
    assert await site.text("sensor", "/write", "PUT", b"on") == (200, "")


async def test_h6_nodes_of_an_opc_ua_server_are_read_and_written(
    site: ShifuSite, press: str
) -> None:
    assert float((await site.text(press, "/value"))[1]) > 6
    assert (await site.text(press, "/product"))[0] == 200
    assert await site.text(press, "/writable", "PUT", b'{"value": 54188}') == (200, "")
    assert await site.text(press, "/writable") == (200, "54188")
    assert (await site.text(press, "/writable", "PUT", b'{"value": "no number"}'))[0] == 400
    assert (await site.text(press, "/nothing"))[0] == 400
    _, _, body = await site.ask(press, "/writable?format=json")
    assert decoded(body)["value"] == 54188


async def test_h9_registers_and_coils_are_read_and_written_behind_port_502(
    site: ShifuSite, boiler: str
) -> None:
    assert await site.text(boiler, "/temperature") == (200, "21.5")
    assert await site.text(boiler, "/setpoint", "PUT", b'{"value": 77}') == (200, "")
    assert await site.text(boiler, "/setpoint") == (200, "77")
    assert await site.text(boiler, "/valve", "PUT", b'{"value": true}') == (200, "")
    assert await site.text(boiler, "/valve") == (200, "true")
    status, said = await site.text(boiler, "/nowhere")
    assert (status, "IllegalDataAddress" in said) == (400, True)


async def test_h6_h9_servers_are_killed_and_their_devices_answer_again(
    site: ShifuSite, press: str, boiler: str
) -> None:
    agents = {name: _pids(site, (await site.shifu(name)).metadata.name) for name in (press, boiler)}
    await asyncio.gather(site.kill(press), site.kill(boiler))
    async with patience.within(BACK_SECONDS):
        await asyncio.gather(
            site.answers(press, "/writable", lambda status, said: (status, said) == (200, "-1")),
            site.answers(boiler, "/setpoint", lambda status, said: (status, said) == (200, "0")),
        )
    for name, pids in agents.items():
        await site.phase(name, "Running")
        assert _pids(site, (await site.shifu(name)).metadata.name) == pids


def _pids(site: ShifuSite, pod: str) -> list[int]:
    return [each.pid for each in site.processes(pod)]
