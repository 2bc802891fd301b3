"""Devices behind a broker, through the facade."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiomqtt
import pytest

from quintant.agents.broker.broker import Broker
from quintant.agents.deviceshifu.device import DeviceSpec
from quintant.agents.deviceshifu.drivers.mqtt_login import mqtt_login
from quintant.agents.deviceshifu.options import AgentOptions
from testbeds.devices import NAME, Bench, ModelledCluster, bench, edge_device, until

pytestmark = pytest.mark.realtime
CONFIG = {
    "instructions": """
instructions:
  read: {protocolPropertyList: {MQTTTopic: /test/in}}
  write: {protocolPropertyList: {MQTTTopic: /test/out}}
""",
    "controlMsgs": "start: finished\n",
}
EMPTY = '{"mqtt_message":"","mqtt_receive_timestamp":"0001-01-01 00:00:00 +0000 UTC"}'


class RestartableBroker:
    """A broker that can go and come back at the same port."""

    def __init__(self) -> None:
        self.port = 0
        self.broker = Broker()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self.broker = Broker()
        self._server = await asyncio.start_server(self.broker.serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        self.broker.close()

    async def publish(self, topic: str, payload: str) -> None:
        async with aiomqtt.Client("127.0.0.1", self.port) as client:
            await client.publish(topic, payload, qos=1)


@asynccontextmanager
async def mqtt(folder: Path) -> AsyncIterator[tuple[Bench, RestartableBroker]]:
    broker = RestartableBroker()
    await broker.start()
    try:
        async with bench(folder, edge_device("MQTT", f"127.0.0.1:{broker.port}"), CONFIG) as made:
            await until(lambda: made.cluster.phases == ["Running"])
            yield made, broker
    finally:
        broker.stop()


async def newest(made: Bench) -> str:
    said: str = json.loads((await made.text("/read"))[1])["mqtt_message"]
    return said


async def heard(made: Bench, text: str) -> None:
    while await newest(made) != text:  # noqa: ASYNC110 - the agent tells nobody
        await asyncio.sleep(0.02)


async def test_h4_the_newest_message_is_shown(tmp_path: Path) -> None:
    async with mqtt(tmp_path) as (made, broker):
        status, headers, body = await made.ask("/read")
        assert (status, headers["content-type"], body.decode()) == (200, "application/json", EMPTY)
        await broker.publish("/test/in", "hello")
        async with asyncio.timeout(20):
            await heard(made, "hello")
        assert json.loads((await made.text("/read"))[1])["mqtt_receive_timestamp"].endswith("UTC")


async def test_a_message_is_sent(tmp_path: Path) -> None:
    async with mqtt(tmp_path) as (made, broker):
        async with aiomqtt.Client("127.0.0.1", broker.port) as client:
            await client.subscribe("/test/out", qos=1)
            assert await made.text("/write", "PUT", b"do it") == (200, "")
            async with asyncio.timeout(20):
                message = await anext(aiter(client.messages))
            assert (message.payload, message.retain) == (b"do it", False)
        assert await made.text("/write", "DELETE") == (400, "must be GET or PUT method\n")


async def test_h5_a_control_message_blocks_until_its_end_is_told(tmp_path: Path) -> None:
    async with mqtt(tmp_path) as (made, broker):
        assert await made.text("/write", "PUT", b"start") == (200, "")
        assert made.shifu.driver.busy
        status, said = await made.text("/write", "PUT", b"more")
        assert status == 409
        assert said.startswith("Device is blocked by start controlMsg now! ")
        await broker.publish("/test/in", "it is finished now")
        await until(lambda: not made.shifu.driver.busy)
        assert await made.text("/write", "PUT", b"more") == (200, "")


async def test_h4_a_broker_that_was_restarted_is_heard_again(tmp_path: Path) -> None:
    async with mqtt(tmp_path) as (made, broker):
        broker.stop()
        await until(lambda: made.cluster.phases[-1] == "Failed")
        assert (await made.text("/write", "PUT", b"x"))[0] == 503
        await broker.start()
        await until(lambda: NAME in broker.broker.clients)
        async with asyncio.timeout(30):
            while await newest(made) != "again":
                await broker.publish("/test/in", "again")
                await asyncio.sleep(0.05)
        await until(lambda: made.cluster.phases[-1] == "Running")


async def test_a_new_topic_is_heard_on_the_same_session(tmp_path: Path) -> None:
    async with mqtt(tmp_path) as (made, broker):
        text = "instructions:\n  read: {protocolPropertyList: {MQTTTopic: /other}}\n"
        (tmp_path / "instructions").write_text(text)
        await until(lambda: "write" not in made.shifu.config.instructions)
        async with asyncio.timeout(30):
            while await newest(made) != "hi":
                await broker.publish("/other", "hi")
                await asyncio.sleep(0.05)
        assert broker.broker.clients == (NAME,)


async def test_an_agent_whose_broker_is_not_there_starts_and_says_so(tmp_path: Path) -> None:
    async with bench(tmp_path, edge_device("MQTT", "127.0.0.1:1"), CONFIG) as made:
        assert (await made.text("/read"))[1] == EMPTY
        status, said = await made.text("/write", "PUT", b"x")
        assert (status, said.startswith("device not connected: ")) == (503, True)
        await until(lambda: made.cluster.phases == ["Failed"])


async def test_a_login_is_of_the_secret_that_the_device_names() -> None:
    def encoded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    meta = {"annotations": {"shifu.edgenesis.io/devices": f"devices/{NAME}@h:1883"}}
    data = {"username": encoded("robot"), "password": encoded("hunter2")}
    cluster = ModelledCluster(edge_device("MQTT", "h"), {"s": {"metadata": meta, "data": data}})
    settings = {"MQTTServerSecret": "s", "MQTTServerPassword": "old"}
    found = await mqtt_login(DeviceSpec("MQTT", "h", settings), cluster, AgentOptions(NAME))
    assert (found.username, found.password) == ("robot", "hunter2")
    assert "hunter2" not in repr(found)
    for thief in (AgentOptions("other"), AgentOptions(NAME, "elsewhere")):
        with pytest.raises(OSError, match=r"the Secret s does not name .* kubectl -n "):
            await mqtt_login(DeviceSpec("MQTT", "h", settings), cluster, thief)
    with pytest.raises(OSError, match=f"=devices/{NAME}@h:1883,devices/{NAME}@evil:1883"):
        await mqtt_login(DeviceSpec("MQTT", "evil", settings), cluster, AgentOptions(NAME))
    cluster.reachable = False
    with pytest.raises(OSError, match="cannot read the Secret s"):
        await mqtt_login(DeviceSpec("MQTT", "h", settings), cluster, AgentOptions(NAME))
