"""A device that only one may speak to: a node is cut off, and the device is never held twice (F11).

The agents are the real ones, under virtual time; the device writes down who held it, and when.
Between each agent and the API server is a proxy that can stop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quintant.agents.apiclient.errors import ApiUnreachable
from quintant.agents.deviceshifu.device import DeviceState, device_state
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.options import parse
from quintant.agents.deviceshifu.shifu import DeviceShifu
from quintant.agents.dns.host_resolver import HostResolver
from quintant.api.core import PodTemplateSpec
from quintant.client.rest import Rest
from quintant.core.clock import monotonic
from quintant.core.errors import TransportError
from quintant.operators.shifu.options import Options
from quintant.runtime.cache.client import Client
from quintant.testing.faults.transport import FaultTransport
from quintant.wire.shifu import DeviceAddress
from testbeds.shifu import ShifuTestbed, opened

NAME = "drill"
OPTIONS = Options(settle_delay=0.5, edgemap_addr="off", write_qps=1000)
LOOK_SECONDS = 1.0


@dataclass
class Session:
    """Who held the device, from when until when."""

    node: str
    opened: float
    closed: float | None = None


class DeviceLine(asyncio.Transport):
    """The device's end of a connection."""

    def __init__(self, session: Session, reader: asyncio.StreamReader) -> None:
        super().__init__()
        self._session, self._reader = session, reader

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._reader.feed_data(bytes(data))

    def is_closing(self) -> bool:
        return self._session.closed is not None

    def close(self) -> None:
        if self._session.closed is None:
            self._session.closed = monotonic()
            self._reader.feed_eof()


class LoggedDevice(DeviceDialer):
    """A device that takes every connection and logs it, as reached from a node."""

    def __init__(self, node: str, log: list[Session]) -> None:
        super().__init__(HostResolver({}))
        self._node, self._log = node, log

    async def streams(
        self, place: DeviceAddress
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        session, reader = Session(self._node, monotonic()), asyncio.StreamReader()
        self._log.append(session)
        line, loop = DeviceLine(session, reader), asyncio.get_running_loop()
        protocol = asyncio.StreamReaderProtocol(reader)
        return reader, asyncio.StreamWriter(line, protocol, reader, loop)


@dataclass
class AgentApi:
    """The API server as an agent reaches it, through a proxy that can stop."""

    testbed: ShifuTestbed
    proxy: FaultTransport
    statuses: list[Mapping[str, Any]] = field(default_factory=list)

    async def states(self) -> AsyncGenerator[DeviceState | None, None]:
        while True:
            yield await self.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> DeviceState | None:
        try:
            raw = await Client(Rest(self.proxy)).raw("GET", self.testbed.path(NAME))
        except TransportError as error:
            raise ApiUnreachable(str(error)) from None
        return device_state(msgspec.json.decode(raw))

    async def report(self, status: Mapping[str, Any]) -> str:
        self.statuses.append(status)
        return ""

    async def find(self, kind: str, plural: str, name: str) -> Mapping[str, Any] | None:
        return None

    async def warn(self, uid: str, reason: str, note: str) -> None:
        return None


@asynccontextmanager
async def agent(
    testbed: ShifuTestbed, node: str, folder: Path, log: list[Session]
) -> AsyncIterator[FaultTransport]:
    """The device's agent on a node, and its way to the API server."""
    proxy = FaultTransport(testbed.cluster.admin)
    options = replace(parse([], await variables(testbed)), node=node, config=folder)
    device = LoggedDevice(node, log)
    shifu = DeviceShifu(options, AgentApi(testbed, proxy), device, testbed.cluster.clock.now)
    work = asyncio.ensure_future(shifu.run())
    try:
        await testbed.cluster.advance(1)
        yield proxy
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def variables(testbed: ShifuTestbed) -> dict[str, str]:
    """What the operator tells the device's agent."""
    (found,) = await testbed.deployments()
    (container,) = found.spec.template.to(PodTemplateSpec).spec.containers
    return {each.name: each.value for each in container.env}


def overlap(log: list[Session]) -> float:
    """For how long the device was held twice."""
    now = monotonic()
    spans = sorted((each.opened, each.closed or now) for each in log)
    pairs = ((one, other) for at, one in enumerate(spans) for other in spans[at + 1 :])
    return sum(max(0.0, min(one[1], other[1]) - other[0]) for one, other in pairs)


@asynccontextmanager
async def held_on_n1(
    folder: Path, log: list[Session], **settings: float
) -> AsyncIterator[tuple[ShifuTestbed, FaultTransport]]:
    """A testbed with two nodes, whose device is held by the agent on the first."""
    async with opened(msgspec.structs.replace(OPTIONS, **settings), agents=False) as testbed:
        await testbed.node("n1")
        hints = {"exclusive": "true"}
        await testbed.device(NAME, protocol="Socket", address="10.0.0.1:7000", hints=hints)
        await testbed.placed(NAME, "n1")
        async with agent(testbed, "n1", folder, log) as proxy:
            await testbed.cluster.advance(60)
            assert [(each.node, each.closed) for each in log] == [("n1", None)]
            await testbed.node("n2")
            yield testbed, proxy


@pytest.mark.parametrize("lost_after", [1.0, 5.0, 60.0, 300.0])
async def test_an_agent_is_told_to_let_go_before_its_node_counts_as_lost(lost_after: float) -> None:
    options = msgspec.structs.replace(OPTIONS, node_lost_after=lost_after)
    async with opened(options, agents=False) as testbed:
        await testbed.node("n1")
        await testbed.device(NAME, hints={"exclusive": "true"})
        await testbed.placed(NAME, "n1")
        assert parse([], await variables(testbed)).release < lost_after


@pytest.mark.parametrize("lost_after", [1.0, 5.0, 60.0, 300.0])
async def test_an_agent_that_is_cut_off_lets_go_in_time_whatever_the_timings(
    tmp_path: Path, lost_after: float
) -> None:
    log: list[Session] = []
    async with held_on_n1(tmp_path, log, node_lost_after=lost_after) as (testbed, proxy):
        proxy.stall()
        # At the same moment as the agent is cut off, its node counts as not ready.
        await testbed.fault("n1", "not-ready")
        await testbed.placed(NAME, "n2", within=lost_after + 60)
        async with agent(testbed, "n2", tmp_path, log):
            await testbed.cluster.advance(120)
            held = [each.node for each in log if each.closed is None]
            assert (held, overlap(log)) == (["n2"], 0.0)


@pytest.mark.parametrize("lost_after", [1.0, 60.0])
@pytest.mark.parametrize("cut_off", [False, True])
async def test_an_agent_whose_kubelet_died_lets_go_when_the_device_is_elsewhere(
    tmp_path: Path, lost_after: float, cut_off: bool
) -> None:
    log: list[Session] = []
    async with held_on_n1(tmp_path, log, node_lost_after=lost_after) as (testbed, proxy):
        await testbed.fault("n1", "dead")
        await testbed.placed(NAME, "n2", within=lost_after + 120)
        if cut_off:
            proxy.stall()
        async with agent(testbed, "n2", tmp_path, log):
            await testbed.cluster.advance(120)
            held = [each.node for each in log if each.closed is None]
            assert (held, overlap(log)) == (["n2"], 0.0)


async def test_f11_a_partitioned_agent_lets_go_before_another_takes_the_device(
    tmp_path: Path,
) -> None:
    log: list[Session] = []
    async with opened(OPTIONS, agents=False) as testbed:
        await testbed.node("n1")
        hints = {"exclusive": "true"}
        await testbed.device(NAME, protocol="Socket", address="10.0.0.1:7000", hints=hints)
        await testbed.placed(NAME, "n1")
        async with agent(testbed, "n1", tmp_path, log) as proxy:
            await testbed.cluster.advance(60)
            assert [(each.node, each.closed) for each in log] == [("n1", None)]
            await testbed.node("n2")

            proxy.stall()
            await testbed.fault("n1", "partitioned")
            await testbed.placed(NAME, "n2", within=180)
            async with agent(testbed, "n2", tmp_path, log):
                await testbed.cluster.advance(60)
                proxy.clear()
                await testbed.fault("n1", None)
                await testbed.cluster.advance(120)

                held = [each for each in log if each.closed is None]
                assert [each.node for each in held] == ["n2"]
        left = [each.closed for each in log if each.node == "n1"]
        taken = [each.opened for each in log if each.node == "n2"]
        assert None not in left
        assert max(each for each in left if each is not None) < min(taken)
