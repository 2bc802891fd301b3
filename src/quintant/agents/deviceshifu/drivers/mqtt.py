"""Devices behind an MQTT broker: the newest message of each topic, and messages to them.

The session is kept for ever: after a restart of the broker every topic is subscribed to again. The
client id is the device's name, so a second agent takes the place of the first. A message that is
listed under controlMsgs blocks the device until another tells that it is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from random import Random
from typing import NamedTuple

from quintant.agents.backoff import full_jitter
from quintant.agents.broker.packets import Publication
from quintant.agents.broker.topics import fits
from quintant.agents.deviceshifu.config.values import DeviceConfig, Instruction
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import (
    KEPT_BYTES,
    Answer,
    DeviceError,
    not_connected,
    refused,
    whole_body,
)
from quintant.agents.deviceshifu.drivers.go_text import go_json, go_time
from quintant.agents.deviceshifu.drivers.mqtt_client import MqttClient, MqttError, MqttLogin
from quintant.agents.deviceshifu.text import one_line
from quintant.agents.multiplex.program import say
from quintant.http.request import Request
from quintant.http.response import Response
from quintant.wire.shifu import (
    MQTT_PORT,
    DeviceAddress,
)

PORT = MQTT_PORT
TOPIC = "MQTTTopic"
CONNECT_SECONDS = 10.0
ACKNOWLEDGE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 10.0
"""Between two attempts: a broker that is back is heard again within half a minute."""
STEADY_SECONDS = 10.0
"""A session that lasted so long was a good one: the next failure is the first again."""
NEVER = "0001-01-01 00:00:00 +0000 UTC"
_FAILURES = (MqttError, OSError, TimeoutError, ValueError)


class ReceivedMessage(NamedTuple):
    """The newest message of a topic."""

    text: bytes
    at: datetime
    heard: float
    """When, by the loop's clock."""


Login = Callable[[], Awaitable[MqttLogin]]
"""Asked before every connection: passwords change."""


class MqttDriver:
    """A device behind a broker."""

    counts_readings = False

    def __init__(
        self, name: str, dialer: DeviceDialer, address: DeviceAddress, login: Login
    ) -> None:
        self._name, self._dialer, self._address, self._login = name, dialer, address, login
        self._config, self._random = DeviceConfig(), Random()
        self._client: MqttClient | None = None
        self._trouble = "not connected yet"
        self._newest: dict[str, ReceivedMessage] = {}
        self._subscribed: set[str] = set()
        self._changed = asyncio.Event()
        self._blocked_by = ""

    @property
    def busy(self) -> bool:
        """Whether a control message is under way."""
        return bool(self._blocked_by)

    def configure(self, config: DeviceConfig) -> None:
        """Subscribe to what is new, on the same session."""
        self._config = config
        self._changed.set()

    async def run(self) -> None:
        """Keep the session."""
        failures, loop = 0, asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                await self._session()
            except _FAILURES as error:
                self._trouble = one_line(str(error)) or type(error).__name__
            except BaseExceptionGroup as group:
                self._trouble = _failure_text(group)
            finally:
                self._client = None
            failures = 1 if loop.time() - began >= STEADY_SECONDS else failures + 1
            pause = 1.0 + full_jitter(failures, self._random, base=1.0, cap=LONGEST_PAUSE_SECONDS)
            await asyncio.sleep(min(pause, LONGEST_PAUSE_SECONDS))

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        """Show the newest message, or send one."""
        topic = instruction.properties.get(TOPIC, "")
        match request.method:
            case "GET":
                return self._shown(topic)
            case "POST" | "PUT":
                return await self._publish(topic, await whole_body(request))
        return refused("must be GET or PUT method", 400)

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """The newest message, if it is no older than the interval of telemetry."""
        if self._client is None:
            raise not_connected(self._trouble)
        found = self._config.instructions.get(instruction)
        newest = self._newest.get(found.properties.get(TOPIC, "") if found else "")
        now = asyncio.get_running_loop().time()
        if newest is None or now - newest.heard > self._interval(instruction):
            raise DeviceError(503, f"no message for {instruction} within its interval")
        return newest.text

    async def check(self, seconds: float | None) -> None:
        """Whether the broker has us."""
        if self._client is None:
            raise not_connected(self._trouble)

    def _interval(self, instruction: str) -> float:
        named = [each for each in self._config.telemetries if each.instruction == instruction]
        return max((each.interval for each in named), default=self._config.interval)

    async def _session(self) -> None:
        async with asyncio.timeout(CONNECT_SECONDS):
            login = await self._login()
            client = await self._dialer.connect(lambda: MqttClient(self._hear), self._address)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.open(self._name, login)
            self._subscribed.clear()
            self._changed.set()
            self._client, self._trouble = client, ""
            async with asyncio.TaskGroup() as group:
                group.create_task(self._subscribe(client))
                await client.wait()
        finally:
            client.close()

    async def _subscribe(self, client: MqttClient) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            wanted = {each.properties.get(TOPIC, "") for each in self._config.instructions.values()}
            for topic in sorted(wanted - self._subscribed - {""}):
                self._subscribed.add(topic)
                async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                    await self._subscribe_to(client, topic)

    async def _subscribe_to(self, client: MqttClient, topic: str) -> None:
        try:
            await client.subscribe(topic)
        except MqttError as error:  # of this topic: if it is of the session, that ends by itself
            say("no such topic", because=one_line(str(error)))

    def _hear(self, message: Publication) -> None:
        now = asyncio.get_running_loop().time()
        kept = ReceivedMessage(message.payload[:KEPT_BYTES], _now(), now)
        for topic in self._subscribed:
            if fits(message.topic, topic):
                self._newest[topic] = kept
        done = self._config.control.get(self._blocked_by)
        if done is not None and done.encode() in kept.text:
            self._blocked_by = ""

    def _shown(self, topic: str) -> Response:
        newest = self._newest.get(topic)
        fields = {
            "mqtt_message": newest.text.decode("utf-8", "surrogateescape") if newest else "",
            "mqtt_receive_timestamp": go_time(newest.at) if newest else NEVER,
        }
        return Response(200, {"content-type": "application/json"}, go_json(fields))

    async def _publish(self, topic: str, body: bytes) -> Response:
        if self._blocked_by:
            message = f"Device is blocked by {self._blocked_by} controlMsg now! {go_time(_now())}"
            return refused(one_line(message), 409)
        if self._client is None:
            raise not_connected(self._trouble)
        if not topic:
            raise DeviceError(400, "the instruction has no MQTTTopic")
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                await self._client.publish(topic, body)
        except TimeoutError:
            return refused("Publish timed out", 504)
        except MqttError:
            return refused("Error to publish a message to server", 400)
        text = body.decode("utf-8", "replace")
        if text in self._config.control:
            self._blocked_by = text
        return Response(200, {})


def _failure_text(group: BaseExceptionGroup[BaseException]) -> str:
    """What is wrong, where it is one of the failures of a session."""
    mine, others = group.split(_FAILURES)
    if others is not None or mine is None:
        raise group
    error = mine.exceptions[0]
    return one_line(str(error)) or type(error).__name__


def _now() -> datetime:
    return datetime.now(UTC)
